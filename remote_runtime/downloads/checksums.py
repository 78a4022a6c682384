"""Checksums of files, in the form of manifests and of checksum files (both sides)."""

from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.stdlib_light.sha256_digest import sha256

_LENGTHS = {64: "sha256", 128: "sha512"}  # hexadecimal digits
_HEXADECIMAL = "0123456789abcdef"
_EXPECTED = "expected SHA-256 (64 hexadecimal digits) or SHA-512 (128)"
_SHOWN = 5  # names in an error
_MAX_LENGTH = 80  # characters of one of them


def parse_checksum(text: str) -> str:
    """Return the canonical form, such as ``sha256:9f86…``. The algorithm may be omitted, because it
    follows from the number of digits. ``ValueError`` says what is wrong.
    """
    digest, mark, digits = text.strip().lower().rpartition(":")
    if "://" in text:
        raise ValueError("it is a URL; use checksum_url for a checksum file")
    algorithm = _algorithm(digits)
    named = digest.replace("-", "")
    if mark and named not in _LENGTHS.values():
        raise ValueError(
            "%s is not supported: %s" % (digest[:20] or "an empty algorithm", _EXPECTED)
        )
    if not algorithm or (mark and named != algorithm):
        raise ValueError("%s; this value has %d characters" % (_EXPECTED, len(digits)))
    return "%s:%s" % (algorithm, digits)


def _algorithm(digits: str) -> str:
    """Return the algorithm of a hash; "" for a text that is not a hash."""
    return "" if digits.strip(_HEXADECIMAL) else _LENGTHS.get(len(digits), "")


def algorithm_of(checksum: str) -> str:
    """Return the algorithm of a checksum in its canonical form."""
    return checksum.partition(":")[0]


def hasher(algorithm: str, size: int = 0) -> Any:
    """Return a new hash object, as in ``hashlib``; ``size`` is roughly the number of bytes that
    will be added.
    """
    if algorithm == "sha256":
        return sha256(size=size)
    import hashlib

    return hashlib.new(algorithm)


class _Entry(NamedTuple):
    """One line of a checksum file; ``path`` is "" if it does not name a file."""

    checksum: str
    path: str


def checksum_in(data: bytes, path: str, source: str) -> str:
    """Return the checksum, in its canonical form, of the file ``path`` in a checksum file.

    It supports lines of ``sha256sum`` (text and binary, with directories), of BSD and of OpenSSL,
    and a file that contains only one hash; signatures, comments and other algorithms are ignored.
    SHA-512 is preferred. ``source`` names the checksum file in errors. ``ResourceError`` if it does
    not contain the file, or has two different checksums for it.
    """
    entries = list(_entries(data.decode("utf-8", "replace")))
    if len(entries) == 1 and not entries[0].path:
        return entries[0].checksum
    named = [entry for entry in entries if _base(entry.path) == _base(path)]
    near = [e for e in named if ("/" + path.lstrip("/")).endswith("/" + _clean(e.path))]
    for algorithm in ("sha512", "sha256"):
        for some in (near, named):
            checksums = {e.checksum for e in some if algorithm_of(e.checksum) == algorithm}
            if len(checksums) == 1:
                return checksums.pop()
            if checksums:
                raise _refused("%s has %d checksums for %s" % (source, len(checksums), _base(path)))
    if not entries:
        raise _refused("%s contains no SHA-256 or SHA-512 checksum" % source)
    others = sorted({_base(e.path)[:_MAX_LENGTH] for e in entries if e.path})
    more = " and %d more" % (len(others) - _SHOWN) if others[_SHOWN:] else ""
    listed = ": it names %s%s" % (", ".join(others[:_SHOWN]), more) if others else ""
    raise _refused("%s has no checksum for %s%s" % (source, _base(path), listed))


def _refused(message: str) -> ResourceError:
    return ResourceError(
        message,
        kind="resource.download.checksum",
        hint="check url and checksum_url, or set checksum",
    )


def _entries(text: str) -> Iterator[_Entry]:
    for line in text.splitlines():
        entry = _of_coreutils(line.rstrip()) or _of_bsd(line.strip())
        if entry is not None:
            yield entry


def _of_coreutils(line: str) -> Optional[_Entry]:
    """Parse ``HASH name``, ``HASH *name`` or ``HASH``; after a backslash, the name contains
    escapes.
    """
    escaped = line.startswith("\\")
    digits, _, rest = line.lstrip("\\ \ufeff").replace("\t", " ", 1).partition(" ")
    algorithm = _algorithm(digits.lower())
    if not algorithm:
        return None
    name = rest[1:] if rest[:1] in (" ", "*") else rest
    name = name.strip()
    if escaped:
        name = name.replace("\\n", "\n").replace("\\\\", "\\")
    return _Entry("%s:%s" % (algorithm, digits.lower()), name)


def _of_bsd(line: str) -> Optional[_Entry]:
    """Parse ``SHA256 (name) = HASH``, or ``SHA256(name)= HASH`` of OpenSSL."""
    head, _, digits = line.rpartition("=")
    before, opened, name = head.strip().partition("(")
    digits = digits.strip().lower()
    algorithm = _algorithm(digits)
    named = before.strip().lower().replace("sha2-", "sha").replace("-", "")
    if not (algorithm and opened and name.endswith(")") and named == algorithm):
        return None
    return _Entry("%s:%s" % (algorithm, digits), name[:-1])


def _clean(path: str) -> str:
    parts: List[str] = [part for part in path.split("/") if part not in ("", ".")]
    return "/".join(parts)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def checksum_problem(text: Any) -> List[Tuple[str, str]]:
    """Return the problems of a ``checksum``, as (property, message)."""
    try:
        if isinstance(text, str):
            parse_checksum(text)
    except ValueError as error:
        return [("checksum", str(error))]
    return []
