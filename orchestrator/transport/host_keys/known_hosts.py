"""The known host keys: the known_hosts format (controller).

Names are matched as in OpenSSH: plain, hashed, with ``*`` and ``?``, negated, ``[host]:port``.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import functools
import hashlib
import hmac
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

STANDARD_PORT = 22
_HASHED = "|1|"


class Line(NamedTuple):
    """One key in a file: ``marker`` is "", "@revoked" or "@cert-authority"."""

    marker: str
    names: tuple[str, ...]
    key_type: str
    blob: bytes
    path: str
    number: int

    @property
    def where(self) -> str:
        """``FILE:LINE``."""
        return f"{self.path}:{self.number}"


class KnownHosts:
    """The lines of several files."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = [_read(path) for path in files]

    def lookup(self, name: str, port: int = STANDARD_PORT) -> list[Line]:
        """Return the lines for a host. Lines without its port are included if none has the port."""
        lines = self._exactly(entry_name(name, port))
        if not [line for line in lines if not line.marker] and port != STANDARD_PORT:
            lines += self._exactly(name)
        return lines

    def _exactly(self, name: str) -> list[Line]:
        return [line for file in self._files for line in file.lookup(name)]


class _File:
    """The lines of one file, which may be long. Plain names are in a table. Hashed names have their
    salt and hash, because each of them must be tried."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._plain: dict[str, list[Line]] = {}
        self._hashed: list[tuple[bytes, bytes, Line]] = []
        self._others: list[Line] = []
        for line in lines:
            parts = _hash_parts(line.names[0]) if len(line.names) == 1 else None
            if parts is not None:
                self._hashed.append((*parts, line))
            elif any(char in name for name in line.names for char in "*?!|"):
                self._others.append(line)
            else:
                for name in line.names:
                    self._plain.setdefault(name.lower(), []).append(line)

    def lookup(self, name: str) -> list[Line]:
        """Look up plain names first, then hashed names, then patterns; case is ignored."""
        lower = name.lower()
        text, digest = lower.encode(), hmac.digest
        hashed = [one for salt, made, one in self._hashed if digest(salt, text, "sha1") == made]
        others = [line for line in self._others if matches(name, line.names)]
        return [*self._plain.get(lower, []), *hashed, *others]


def entry_name(name: str, port: int) -> str:
    """The form of a host in known_hosts."""
    return name if port == STANDARD_PORT else f"[{name}]:{port}"


def name_matches(name: str, pattern: str) -> bool:
    """Whether a name from known_hosts, hashed or with wildcards, is this host."""
    if pattern.startswith(_HASHED):
        return _hash_matches(name, pattern)
    if "*" not in pattern and "?" not in pattern:
        return name.lower() == pattern.lower()
    escaped = pattern.lower().replace("[", "[[]")
    return fnmatch.fnmatchcase(name.lower(), escaped)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether one pattern matches and no negated one does."""
    hit = False
    for pattern in patterns:
        if name_matches(name, pattern.lstrip("!")):
            if pattern.startswith("!"):
                return False
            hit = True
    return hit


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name matches one of OpenSSH's patterns."""
    return any(name_matches(name, pattern) for pattern in patterns)


def _hash_matches(name: str, pattern: str) -> bool:
    parts = _hash_parts(pattern)
    return parts is not None and hmac.digest(parts[0], name.lower().encode(), "sha1") == parts[1]


def _hash_parts(pattern: str) -> tuple[bytes, bytes] | None:
    """Salt and hash of a hashed name; None for any other."""
    if not pattern.startswith(_HASHED):
        return None
    try:
        salt, made = (base64.b64decode(part) for part in pattern[len(_HASHED) :].split("|"))
    except (ValueError, binascii.Error):
        return None
    return salt, made


def hashed(name: str) -> str:
    """A name in the form that ``HashKnownHosts yes`` writes."""
    salt = os.urandom(20)
    digest = hmac.digest(salt, name.lower().encode(), "sha1")
    return f"{_HASHED}{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def fingerprint(blob: bytes) -> str:
    """The SHA-256 fingerprint of a public key, as ssh shows it."""
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def parse_line(text: str, path: str = "", number: int = 0) -> Line | None:
    """One line of a file; None for a comment or a line without a key."""
    words = text.split()
    marker = words.pop(0) if words and words[0].startswith("@") else ""
    if len(words) < 3 or words[0].startswith("#"):
        return None
    try:
        blob = base64.b64decode(words[2], validate=True)
    except (ValueError, binascii.Error):
        return None
    return Line(
        marker, tuple(words[0].split(",")), key_type=words[1], blob=blob, path=path, number=number
    )


_lock = threading.Lock()


def _read(path: Path) -> _File:
    try:
        status = path.stat()
    except OSError:
        return _File(())
    with _lock:
        return _parsed(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=64)
def _parsed(path: Path, mtime_ns: int, size: int) -> _File:
    return _File(_lines(path))


def _lines(path: Path) -> Iterator[Line]:
    try:
        # some editors of Windows begin a file with their own mark
        text = path.read_text("utf-8-sig", "surrogateescape")
    except OSError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        parsed = parse_line(line, str(path), number)
        if parsed is not None:
            yield parsed
