"""Hides secrets before anything leaves the runtime: events, notices, progress (target)."""

from typing import Any, Iterable, List, Sequence, Set

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

    def __init__(self, secrets: Iterable[str] = (), hashes: bool = False) -> None:
        self._hashes = hashes
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
        """A mask that hides these values as well, for one resource."""
        if not secrets and hashes == self._hashes:
            return self
        return Mask(list(self._secrets) + list(secrets), hashes or self._hashes)

    def text(self, text: str) -> str:
        """Return the text with every secret replaced."""
        needed = self._spellings or self._hashes
        if not (needed or "://" in text or "uthorization" in text.lower()):
            return text
        import re

        if self._spellings:
            if self._pattern is None:
                # The longest first, so that no secret is left over behind one that it begins with.
                ordered = sorted(self._spellings, key=len, reverse=True)
                self._pattern = re.compile("|".join(re.escape(s) for s in ordered))
            text = self._pattern.sub(MASKED, text)
        if "://" in text:
            text = re.sub(_URL, r"\1:%s@" % MASKED, text)
            text = re.sub(_URL_TOKEN, r"\1%s@" % MASKED, text)
        if "uthorization" in text.lower():
            text = re.sub(_AUTHORIZATION, r"\1" + MASKED, text)
        if self._hashes:
            text = re.sub(_HASH, MASKED, text)
        return text

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
