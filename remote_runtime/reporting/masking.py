"""Hides secrets before anything leaves the runtime: events, notices, progress (target)."""

from typing import Any, Dict, Iterable, List, Optional, Sequence, Set

from remote_runtime.errors import in_one_line
from remote_runtime.stdlib_light import json_text

MASKED = "[masked]"
SHORTEST = 4  # shorter values would mask half of every text
MANY = 200  # spellings, from which on a text is not searched for each
_SCHEMES = ("apikey", "basic", "bearer", "digest", "negotiate", "token")
_PIECE = 8
SHORTEST_CHANGED, LONGEST_CHANGED = 8, 4096  # of a secret that is found with other letters
SHORTEST_LINE = 16  # of base64 that continues in the next line
SHORTEST_TOKEN = 8  # of a URL's query, beyond the URL: it may as well be a word

# ``re`` is imported and compiles them when first needed: most runs need none of them.
# They begin with letters that are there, or a text could be made that takes for ever to search.
_URL = r"(://[^/\s:@'\"]*):([^/\s@'\"]+)@"
_URL_TOKEN = r"(\bhttps?://)[^/\s:@'\"]+@"
_AUTHORIZATION = r"(?im)((?:proxy-)?authorization[\"']?\s*[:=]\s*)([^\r\n]+)"
_QUERY = (
    r"(?i)([?&;](?:[\w.~-]{0,40}(?:token|secret|passw|credential|signature|api[_-]?key)"
    r"[\w.~-]{0,40}|auth|key|pass|pwd|sig)=)([^&;#\s'\"<>]+)"
)
_HASH = r"\b[0-9a-f]{16,}\b"
_UNQUOTED = "%+,-./:=@_"  # with letters and digits: the characters that a shell need not quote
_MARKS: List[Dict[int, str]] = [
    {},
    {34: "&quot;", 39: "&#x27;"},
    {34: "&quot;", 39: "&#39;"},
    {34: "&#34;", 39: "&#39;"},
    {34: "&quot;", 39: "&apos;"},
]
"""The forms of double and single quotation marks in HTML and XML."""
_BESIDE = "[A-Za-z0-9+/_-]{0,3}"  # base64 letters that hold some bits of a secret, and of others
_WRAP = r"(?:(?:\r?\n|(?:\\r)?\\n)[-+ \t]{0,20})?"  # between two letters, also in JSON or a diff
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_SHIFTS = range(35, -1, -5)  # of the 8 letters that stand for 5 bytes


class Mask(object):
    """Replaces secret values, URL credentials and Authorization headers in text and in values.

    It finds a secret literally, quoted for Python, JSON, a URL (even twice), a shell or HTML, and
    in hex, base32 and base64, even across several lines. A secret of 8 to 4096 characters is also
    found in uppercase, in lowercase, reversed, in hex with separators, in base64 of base64, and as
    UTF-16 in hex and base64. ``hashes``: also hides hashes, because a short secret can be guessed
    from the hash of content that contains it. Threads may share a mask once nothing more is added
    to it.
    """

    def __init__(
        self, secrets: Iterable[str] = (), hashes: bool = False, base: "Optional[Mask]" = None
    ) -> None:
        self._hashes = hashes
        self._base = base  # whose secrets are hidden as well
        self._secrets: Set[str] = set()
        self._spellings: Dict[str, bool] = {}  # each with whether it is a part of base64 or base32
        self._by_piece: Dict[int, Dict[str, List[str]]] = {}
        self._escaped: Optional[Mask] = None  # has the spellings as JSON text has them
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these values, too. The lines of a multi-line text are also hidden separately, and so
        is the part of a header after its authorization scheme.
        """
        for secret in secrets:
            self._secrets.add(secret)
            for part in [secret] + secret.splitlines() + _credentials_of(secret):
                if len(part.strip()) >= SHORTEST:
                    self._spellings.update(_spellings(part.strip()))
        self._by_piece = {}
        self._escaped = None

    def extended(self, secrets: Sequence[str], hashes: bool = False) -> "Mask":
        """A mask that also hides these values, for one resource; cheap."""
        if self._base is not None:
            both = sorted(self._secrets) + list(secrets)
            return Mask(both, hashes or self._hashes, self._base)
        more = [secret for secret in secrets if secret not in self._secrets]
        if not more and hashes == self._hashes:
            return self
        return Mask(more, hashes or self._hashes, self)

    def text(self, text: str) -> str:
        """Return the text with every secret replaced."""
        found = self._found(text) if self._spellings or self._base else {}
        url = "://" in text
        header = "uthorization" in text.lower()
        query = "=" in text and "?" in text
        if not (found or url or header or query or self._hashes):
            return text
        import re

        if found:
            # The longest first, so that no secret is left over behind one that it begins with. One
            # pattern for all, because secrets may overlap.
            ordered = sorted(found, key=len, reverse=True)
            beside = (("", ""), (_BESIDE, _BESIDE + "={0,6}"))
            around = [(_pattern(s, s in text), beside[found[s]]) for s in ordered]
            text = re.sub("|".join([a + s + z for s, (a, z) in around]), MASKED, text)
        if url:
            text = re.sub(_URL, r"\1:%s@" % MASKED, text)
            text = re.sub(_URL_TOKEN, r"\1%s@" % MASKED, text)
        if query:
            text = re.sub(_QUERY, r"\1" + MASKED, text)
        if header:
            text = re.sub(_AUTHORIZATION, r"\1" + MASKED, text)
        if self._hashes:
            text = re.sub(_HASH, MASKED, text)
        return text

    @property
    def is_empty(self) -> bool:
        """Whether it has no secrets, so that it hides only likely credentials."""
        return not (self._spellings or self._base or self._hashes)

    def passes(self, text: str) -> bool:
        """Return whether no text in a JSON value is masked, by its JSON ``text``; False if that is
        not obvious."""
        if not self.is_empty and (self._hashes or self._may_stand_in(text)):
            return False
        # JSON in ASCII escapes nothing of these; a letter beyond ASCII becomes none of them.
        return not (
            "://" in text or "uthorization" in text.lower() or ("=" in text and "?" in text)
        )

    def _may_stand_in(self, text: str) -> bool:
        """Return whether a JSON value may contain a secret, based on its JSON ``text``, in which
        each character of the secret is escaped separately.
        """
        if self._base and self._base._may_stand_in(text):
            return True
        escaped = self._escaped
        if escaped is None:
            escaped = Mask()
            for spelling in self._spellings:
                spelt = (spelling, json_text.dumps(spelling)[1:-1])
                escaped._spellings.update(dict.fromkeys(spelt, self._spellings[spelling]))
            self._escaped = escaped  # complete: on the controller, threads share a mask
        return bool(escaped._found(text))

    def _found(self, text: str) -> Dict[str, bool]:
        """Return the forms that occur in a text."""
        found = self._base._found(text) if self._base else {}
        if not self._spellings:
            return found
        found.update(self._standing_in(text))
        for joined in _without_wraps(text):
            encoded = self._standing_in(joined)
            found.update({spelling: True for spelling in encoded if encoded[spelling]})
        return found

    def _standing_in(self, text: str) -> Dict[str, bool]:
        known = self._spellings
        likely = known if len(known) < MANY else self._likely(text)
        return {spelling: known[spelling] for spelling in likely if spelling in text}

    def _likely(self, text: str) -> Set[str]:
        """Return the forms that may occur in a text, based on their parts, in one pass over it.

        A long one is found by any of its pieces, one of which is at an even offset.
        """
        by_piece = self._by_piece
        if not by_piece:
            by_piece = {}
            for spelling in self._spellings:
                long = len(spelling) >= 2 * _PIECE - 1
                length = _PIECE if long else SHORTEST
                pieces = by_piece.setdefault(length, {})
                for at in range(_PIECE if long else 1):
                    pieces.setdefault(spelling[at : at + length], []).append(spelling)
            self._by_piece = by_piece  # complete, as above
        likely: Set[str] = set()
        for length, pieces in by_piece.items():
            step = _PIECE if length == _PIECE else 1
            # Not an intersection, which iterates over all pieces of all secrets.
            for piece in {text[at : at + length] for at in range(0, len(text), step)}:
                if piece in pieces:
                    likely.update(pieces[piece])
        return likely

    def value(self, value: Any) -> Any:
        """Return a JSON value with every text in it masked, and Authorization values completely."""
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


def _credentials_of(header: str) -> List[str]:
    """Return the secret in ``Bearer TOKEN`` or ``Basic LOGIN``, which servers and tools print
    alone."""
    scheme, _, rest = header.partition(" ")
    if not rest or scheme.lower() not in _SCHEMES:
        return []
    if scheme.lower() != "basic":
        return [rest]
    import binascii

    try:
        login = binascii.a2b_base64(rest).decode("utf-8", "replace")
    except ValueError:
        return [rest]
    return [rest, login, login.partition(":")[2]]


def _without_wraps(text: str) -> List[str]:
    """A multi-line text joined into one line, for encodings that are wrapped; the second one does
    not have the signs of a diff. None for a text that contains no line of base64.
    """
    if "\n" not in text and "\\n" not in text:
        return []
    lines = text.replace("\\r", "").replace("\\n", "\n").split("\n")
    lines = [line.strip(" \t\r\\") for line in lines]
    if not any(len(line) - line.rfind(" ") > SHORTEST_LINE for line in lines[:-1]):
        return []
    return ["".join(lines), "".join([line[1:] if line[:1] in "+-" else line for line in lines])]


def _pattern(spelling: str, is_whole: bool) -> str:
    """Return a regular expression for a form, in one piece or split across lines."""
    import re

    return re.escape(spelling) if is_whole else _WRAP.join(map(re.escape, spelling))


def _spellings(secret: str) -> Dict[str, bool]:
    """The forms of a secret in messages, each with whether it is part of base64 or base32."""
    data = _bytes_of(secret)
    plain = [
        secret,
        in_one_line(secret),
        repr(secret)[1:-1],
        secret.replace("'", "'\\''"),
        secret.replace("'", "'\"'\"'"),
        "".join([c if c.isalnum() or c in _UNQUOTED else "\\" + c for c in secret]),
        data.hex(),
        data.hex().upper(),
    ]
    cores = _base64_cores(data) + _base32_cores(data)
    if SHORTEST_CHANGED <= len(secret) <= LONGEST_CHANGED:
        wide = secret.encode("utf-16-le", "surrogatepass")
        cores += _base64_cores(wide) + _base64_cores(_base64_cores(data)[0].encode("ascii"))
        plain += [secret.upper(), secret.lower(), secret[::-1], wide.hex(), *_hex_pairs(data)]
    escaped = secret.replace("\\", "\\\\").replace('"', '\\"')
    plain_json = escaped.replace("\n", "\\n").replace("\t", "\\t")  # with other letters than ASCII
    for text in (json_text.dumps(secret)[1:-1], plain_json):
        plain += [text, text.replace("/", "\\/")]
        plain.append(text.translate({38: "\\u0026", 60: "\\u003c", 62: "\\u003e"}))  # in HTML
    for marks in _MARKS:
        plain.append(secret.translate({38: "&amp;", 60: "&lt;", 62: "&gt;", **marks}))
    for kept in ("", "/", "/:@", "~", "~/", "~/:@"):  # such as Java and Python 3.6 quote a tilde
        quoted = _quoted(data, kept)
        plain += [quoted, quoted.lower(), quoted.replace("%20", "+"), quoted.replace("%", "%25")]
    found = dict.fromkeys(cores, True)
    found.update(dict.fromkeys(plain, False))
    return found


def _hex_pairs(data: bytes) -> List[str]:
    """Bytes in hex with the separators of dumps, and escaped for URLs and C."""
    result = []
    for digits in (data.hex(), data.hex().upper()):
        pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
        result += [" ".join(pairs), ":".join(pairs), "%" + "%".join(pairs)]
        result.append("\\x" + "\\x".join(pairs))
    return result


def _bytes_of(secret: str) -> bytes:
    """The bytes of a secret in files and commands; incomplete characters are included."""
    try:
        return secret.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return secret.encode("utf-8", "surrogatepass")


def _quoted(data: bytes, safe: str) -> str:
    """Bytes in a URL's encoding, without urllib."""
    unreserved = "_.-" + safe
    texts = [chr(b) if b < 128 else "" for b in data]
    return "".join(
        [c if c and (c.isalnum() or c in unreserved) else "%%%02X" % b for c, b in zip(texts, data)]
    )


def _base64_cores(data: bytes) -> List[str]:
    """The base64 text of bytes at any offset in the encoded data."""
    import binascii

    result = []
    for before in range(3):
        letters = binascii.b2a_base64(b"\0" * before + data)
        core = letters[(8 * before + 5) // 6 : 8 * (before + len(data)) // 6].decode("ascii")
        result += [core, core.replace("+", "-").replace("/", "_"), core.replace("/", "\\/")]
        result.append(core.replace("+", "%2B").replace("/", "%2F"))  # in a URL
    return [core for core in result if len(core) >= SHORTEST]


def _base32_cores(data: bytes) -> List[str]:
    """The base32 text of bytes at any offset in the encoded data."""
    result = []
    for before in range(5):
        padded = b"\0" * before + data + b"\0" * 4  # the last group may have fewer than 5 bytes
        ends = range(5, len(padded) + 1, 5)
        groups = [int.from_bytes(padded[end - 5 : end], "big") for end in ends]
        letters = "".join([_BASE32[g >> shift & 31] for g in groups for shift in _SHIFTS])
        result.append(letters[(8 * before + 4) // 5 : 8 * (before + len(data)) // 5])
    return [core for core in result if len(core) >= SHORTEST]


def credentials_in(value: Any) -> List[str]:
    """The logins and tokens in the URLs of a JSON value, which may be reported in another form."""
    result: List[str] = []
    for text in _urls_of(value):
        import re

        for user, password in re.findall(_URL, text):
            result += [_unquoted(password), _unquoted(user[3:] + ":" + password)]
        tokens = [_unquoted(token) for _, token in re.findall(_QUERY, text)]
        result += [token for token in tokens if len(token) >= SHORTEST_TOKEN]
    return result


def _urls_of(value: Any) -> List[str]:
    """All strings in a JSON value that may contain a URL, without keys; fast if there are none."""
    if isinstance(value, str):
        return [value] if "://" in value else []
    # The written form of a value contains all its texts and is fast to create.
    if not isinstance(value, (dict, list, tuple)) or "://" not in repr(value):
        return []
    return [
        url for v in (value.values() if isinstance(value, dict) else value) for url in _urls_of(v)
    ]


def _unquoted(text: str) -> str:
    """Return the decoded text of a part of a URL."""
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def strings_of(value: Any) -> List[str]:
    """All strings in a JSON value, without keys."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for v in value.values() for s in strings_of(v)]
    if isinstance(value, (list, tuple)):
        return [s for v in value for s in strings_of(v)]
    return [] if value is None or isinstance(value, bool) else [str(value)]
