"""Lines of an authorized_keys file, parsed as in sshd (both sides).

Lines are text in which each byte that is not UTF-8 is represented by a surrogate.
"""

import base64
import binascii
import hashlib
import re
import struct
from typing import Iterator, List, NamedTuple, Optional, Tuple

_BLANKS = " \t"
_CERTIFICATE = "-cert-v01@openssh.com"
_LIMIT = 64 << 10  # bytes of a key
# The fields of the blob behind its type; the length of a fixed one, 0 for any other.
_FIELDS = {
    "ssh-rsa": (0, 0),
    "ssh-dss": (0, 0, 0, 0),
    "ssh-ed25519": (32,),
    "ssh-ed448": (57,),
    "ecdsa-sha2-nistp256": (8, 65),
    "ecdsa-sha2-nistp384": (8, 97),
    "ecdsa-sha2-nistp521": (8, 133),
    "sk-ssh-ed25519@openssh.com": (32, 0),
    "sk-ecdsa-sha2-nistp256@openssh.com": (8, 65, 0),
}
OPTIONS = (
    "agent-forwarding",
    "cert-authority",
    "no-agent-forwarding",
    "no-port-forwarding",
    "no-pty",
    "no-touch-required",
    "no-user-rc",
    "no-X11-forwarding",
    "port-forwarding",
    "pty",
    "restrict",
    "user-rc",
    "verify-required",
    "X11-forwarding",
)
WITH_VALUE = (
    "command",
    "environment",
    "expiry-time",
    "from",
    "permitlisten",
    "permitopen",
    "principals",
    "tunnel",
)


class Key(NamedTuple):
    """One key: ``kind`` and ``blob`` identify it; the line adds the rest.

    ``options`` is None if a line of a manifest does not manage them.
    """

    options: Optional[str]
    kind: str
    blob: str  # base64
    comment: str

    @property
    def identity(self) -> Tuple[str, bytes]:
        """The parts that two lines of the same key have in common."""
        return self.kind, _decoded(self.blob)

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 fingerprint, as ``ssh-keygen -l`` shows it."""
        digest = hashlib.sha256(_decoded(self.blob)).digest()
        return "SHA256:" + base64.b64encode(digest).decode("ascii").rstrip("=")

    @property
    def line(self) -> str:
        """Return the line without its newline."""
        parts = (self.options or "", self.kind, self.blob, self.comment)
        return " ".join([part for part in parts if part])

    @property
    def shown(self) -> str:
        """Return the line for people, with the fingerprint instead of the blob."""
        parts = (self.options or "", self.kind, self.fingerprint, self.comment)
        return " ".join([part for part in parts if part])


def parse(line: str) -> Key:
    """Return the key of a line. ``ValueError`` says what is wrong, without any part of the key."""
    text = line.strip(_BLANKS + "\r\n")
    key, problem = _key(text)
    if key is not None:
        return key
    end = _end_of_options(text)
    if end < 0:
        raise ValueError("a quote in the options is not closed")
    rest = text[end:].lstrip(_BLANKS)
    if not rest or _is_kind(_words(text)[0]):
        raise ValueError(problem)
    key, second = _key(rest)
    if key is None:
        raise ValueError(second if _is_kind(_words(rest)[0]) else problem)
    return key._replace(options=text[:end])


def is_ignored(line: str) -> bool:
    """Return whether sshd ignores a line: it is blank or a comment."""
    text = line.strip(_BLANKS + "\r\n")
    return not text or text.startswith("#")


def key_of(line: str) -> Optional[Key]:
    """Return the key in a line of a file; None if sshd finds no key in it."""
    try:
        return None if is_ignored(line) else parse(line)
    except ValueError:
        return None


def split_options(text: str) -> List[str]:
    """Return the options of a line, each as written. ``ValueError`` for an invalid text."""
    options, start, quoted, at = [], 0, False, 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] == '"':
            at += 1
        elif char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            options.append(text[start:at])
            start = at + 1
        elif char in _BLANKS and not quoted:
            raise ValueError("whitespace outside of quotes ends the options")
        elif char in "\r\n\0":
            raise ValueError("the options must be one line")
        at += 1
    if quoted:
        raise ValueError("a quote in the options is not closed")
    return [*options, text[start:]]


def problem_of_option(option: str) -> str:
    """Return why sshd would refuse an option that it knows; "" for any other option."""
    name, equal, value = option.partition("=")
    known = {one.lower(): one for one in WITH_VALUE}
    plain = {one.lower() for one in OPTIONS}
    if not option:
        return "there is an empty option"
    if name.lower() in known and not equal:
        return '%s requires a value: %s="..."' % (name, name)
    if name.lower() in plain and equal:
        return "%s has no value" % name
    if equal and not (len(value) > 1 and value[0] == value[-1] == '"'):
        return 'the value of %s must be in double quotes: %s="..."' % (name, name)
    return ""


def is_certificate(key: Key) -> bool:
    """Return whether it is a signed key, which sshd never accepts in an authorized_keys file."""
    return key.kind.endswith(_CERTIFICATE)


def _key(text: str) -> Tuple[Optional[Key], str]:
    words = _words(text)
    if len(words) < 2:
        return None, "expected TYPE BASE64 [COMMENT], such as the content of a .pub file"
    kind, blob = words[:2]
    if not _is_kind(kind):
        return None, "it does not begin with the type of a key, such as ssh-ed25519"
    if blob.startswith("#") or len(blob) > _LIMIT:
        return None, "the key after the type is missing or too long"
    try:
        data = _decoded(blob)
    except ValueError:
        return None, "the key after %s is not valid base64; is it cut off?" % kind
    fields = list(_strings(data))
    if not fields or not _is_kind(fields[0].decode("latin-1")):
        return None, "the key after %s is not an SSH key; is it cut off?" % kind
    own = fields[0].decode("latin-1")
    if own != kind:
        return None, "the line says %s, but the key itself is of the type %s" % (kind, own[:60])
    wrong = sum(4 + len(field) for field in fields) != len(data)
    sizes = _FIELDS.get(kind)
    if sizes is not None:
        wrong = wrong or len(fields) != len(sizes) + 1
        wrong = wrong or any(s and s != len(f) for s, f in zip(sizes, fields[1:]))
        wrong = wrong or not all(fields[1:])
    elif kind.endswith(_CERTIFICATE):
        wrong = False  # it holds numbers, too, which are no fields of this form
    if wrong:
        return None, "the key after %s is damaged; is it cut off?" % kind
    at = text.index(blob, len(kind)) + len(blob)
    return Key(None, kind, blob, text[at:].strip(_BLANKS)), ""


def _is_kind(word: str) -> bool:
    return word.startswith(("ssh-", "ecdsa-", "sk-")) and "," not in word


def _words(text: str) -> List[str]:
    return re.split("[ \t]+", text, maxsplit=2)


def _end_of_options(text: str) -> int:
    """Return the position where the options of a line end; -1 if a quote is not closed."""
    quoted, at = False, 0
    while at < len(text) and (quoted or text[at] not in _BLANKS):
        if text[at] == "\\" and text[at + 1 : at + 2] == '"':
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        at += 1
    return -1 if quoted else at


def _decoded(blob: str) -> bytes:
    try:
        return base64.b64decode(blob.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("not base64") from error


def _strings(data: bytes) -> Iterator[bytes]:
    """Yield the complete fields of a key; each is preceded by its length."""
    at = 0
    while at + 4 <= len(data):
        (size,) = struct.unpack_from(">I", data, at)
        if at + 4 + size > len(data):
            return
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def may_exclude(key: Key) -> bool:
    """Return whether the options may deny the key a shell or a login."""
    options = split_options(key.options) if key.options else ()
    words = {option.partition("=")[0].lower() for option in options}
    return bool(words & {"command", "from", "expiry-time", "principals", "cert-authority"})
