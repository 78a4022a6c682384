"""The host keys that ``RevokedHostKeys`` of the SSH configuration revokes (controller).

As with ssh, an unreadable file refuses every host to which it applies, because the revoked keys are
unknown.
"""

from __future__ import annotations

import base64
import binascii
import functools
import itertools
from collections.abc import Iterable
from pathlib import Path

from orchestrator.transport.host_keys.known_hosts import Line
from remote_runtime.errors import UnreachableError

KRL = b"SSHKRL\n"
"""The beginning of a binary revocation list of ssh-keygen."""
_MARKER = "@revoked"


def revoked_lines(label: str, files: Iterable[Path]) -> list[Line]:
    """Return the keys of these files: one public key per line, after optional names as in
    known_hosts. UnreachableError for the host ``label`` if a file cannot be used.
    """
    lines: list[Line] = []
    for path in files:
        try:
            status = path.stat()
            lines += _parsed(path, status.st_mtime_ns, status.st_size)
        except OSError as error:
            raise _refused(
                label,
                f"{path} cannot be read: {error.strerror or error}",
                "make the file readable, or set 'RevokedHostKeys none' for this host",
            ) from error
        except _UnusableError as error:
            raise _refused(label, str(error), error.hint) from error
    return lines


class _UnusableError(Exception):
    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _refused(label: str, reason: str, hint: str) -> UnreachableError:
    message = f"{label}: RevokedHostKeys of the SSH configuration: {reason}"
    return UnreachableError(message, "transport.config", hint=hint)


@functools.lru_cache(maxsize=64)
def _parsed(path: Path, mtime_ns: int, size: int) -> tuple[Line, ...]:
    data = path.read_bytes()
    if data.startswith(KRL):
        raise _UnusableError(
            f"{path} is a binary revocation list (KRL), which ccm does not support",
            "for this host, set a text file with one public key per line, above that line",
        )
    text = data.decode("utf-8-sig", "surrogateescape")
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        key = _key_of(words)
        if key is None:
            raise _UnusableError(
                f"{path}:{number} is not a public key, such as 'ssh-ed25519 AAAA...'",
                "correct the line, or comment it out with #",
            )
        lines.append(Line(_MARKER, (), key_type=key[0], blob=key[1], path=str(path), number=number))
    return tuple(lines)


def _key_of(words: list[str]) -> tuple[str, bytes] | None:
    """The type and the key of a line, after any options."""
    for key_type, text in itertools.pairwise(words):
        try:
            blob = base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            continue
        name = key_type.encode("utf-8", "surrogateescape")
        if blob.startswith(len(name).to_bytes(4, "big") + name):
            return key_type, blob
    return None
