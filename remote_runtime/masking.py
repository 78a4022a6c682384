"""Hides secrets before anything leaves the runtime: events, notices, progress (target)."""

from typing import Any, Dict, Iterable, List, Optional, Sequence, Set

from remote_runtime.lean import jsontext

MASKED = "[masked]"
SHORTEST = 4  # shorter values would mask half of every text

# ``re`` is imported and compiles them when first needed: most runs need none of them.
# They begin with letters that are there, or a text could be made that takes for ever to search.
_URL = r"(://[^/\s:@'\"]*):([^/\s@'\"]+)@"
_URL_TOKEN = r"(\bhttps?://)[^/\s:@'\"]+@"
_AUTHORIZATION = r"(?im)((?:proxy-)?authorization[\"']?\s*[:=]\s*)([^\r\n]+)"


_HASH = r"\b[0-9a-f]{16,}\b"


class Mask(object):
    """Replaces secret values, URL credentials and Authorization headers in text and in values.

    ``hashes``: hashes too, because a short secret can be guessed by the hash of what holds it.
    """

    def __init__(
        self, secrets: Iterable[str] = (), hashes: bool = False, base: "Optional[Mask]" = None
    ) -> None:
        self._hashes = hashes
        self._base = base  # whose secrets are hidden as well
        self._spellings: Set[str] = set()
        self._pattern: Any = None
        self._secrets: Set[str] = set()
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these values too; a text of several lines is hidden line by line as well."""
        for secret in secrets:
            self._secrets.add(secret)
            for part in [secret] + secret.splitlines():
                self._spellings.update(s for s in _spellings(part.strip()) if len(s) >= SHORTEST)
        self._pattern = None

    def extended(self, secrets: Sequence[str], hashes: bool = False) -> "Mask":
        """A mask that hides these values as well, for one resource; cheap."""
        if self._base is not None:
            both = sorted(self._secrets) + list(secrets)
            return Mask(both, hashes or self._hashes, self._base)
        more = [secret for secret in secrets if secret not in self._secrets]
        if not more and hashes == self._hashes:
            return self
        return Mask(more, hashes or self._hashes, self)

    def text(self, text: str) -> str:
        """Return the text with every secret replaced."""
        known = self._base._spellings if self._base else self._spellings
        needed = known or self._spellings or self._hashes
        if not (needed or "://" in text or "uthorization" in text.lower()):
            return text
        import re

        pattern = self._searched_for(text)
        if pattern is not None:
            text = pattern.sub(MASKED, text)
        if "://" in text:
            text = re.sub(_URL, r"\1:%s@" % MASKED, text)
            text = re.sub(_URL_TOKEN, r"\1%s@" % MASKED, text)
        if "uthorization" in text.lower():
            text = re.sub(_AUTHORIZATION, r"\1" + MASKED, text)
        if self._hashes:
            text = re.sub(_HASH, MASKED, text)
        return text

    def _searched_for(self, text: str) -> Any:
        """The pattern of all secrets that may stand in the text; None where there is none."""
        if self._base is None:
            if self._pattern is None and self._spellings:
                self._pattern = _pattern_of(self._spellings)
            return self._pattern
        more = [s for s in self._spellings if s in text]
        if not more:
            return self._base._searched_for(text)
        # One pattern for all, because secrets may overlap.
        return _pattern_of(more + [s for s in self._base._spellings if s in text])

    def value(self, value: Any) -> Any:
        """Return a JSON value with every text in it masked, Authorization values wholly."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                self.text(str(k)): MASKED if _is_header(k) else self.value(v)
                for k, v in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.value(v) for v in value]
        return value


def _pattern_of(spellings: Iterable[str]) -> Any:
    import re

    # The longest first, so that no secret is left over behind one that it begins with.
    return re.compile(_branches(sorted(spellings, key=len, reverse=True), 0))


def _branches(words: List[str], depth: int) -> str:
    """The alternatives behind their first ``depth`` characters, which all of them share.

    A tree of the first few, because each alternative is tried at each place of a text.
    """
    import re

    if depth == SHORTEST or len(words) == 1:
        return "|".join([re.escape(word[depth:]) for word in words])
    groups: Dict[str, List[str]] = {}
    for word in words:
        groups.setdefault(word[depth], []).append(word)
    return "|".join(
        ["%s(?:%s)" % (re.escape(c), _branches(group, depth + 1)) for c, group in groups.items()]
    )


def _is_header(key: Any) -> bool:
    return str(key).lower() in ("authorization", "proxy-authorization")


def _spellings(secret: str) -> List[str]:
    """How a secret may stand in a message: plain, as Python quotes it, as JSON does."""
    return [secret, repr(secret)[1:-1], jsontext.dumps(secret)[1:-1]]


def strings_of(value: Any) -> List[str]:
    """Every text in a JSON value, keys left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for v in value.values() for s in strings_of(v)]
    if isinstance(value, (list, tuple)):
        return [s for v in value for s in strings_of(v)]
    return [] if value is None or isinstance(value, bool) else [str(value)]
