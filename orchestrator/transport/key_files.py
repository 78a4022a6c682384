"""Properties of a private key file that need no passphrase (controller)."""

from __future__ import annotations

import base64
import contextlib
import functools
import os
import shlex
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

_PUBLIC = ("ssh-", "ecdsa-", "sk-")


@functools.lru_cache(maxsize=256)
def public_blob(path: Path) -> bytes | None:
    """The public half of a key file, from the ``.pub`` next to it or from the file itself.

    If the file is a public key, an agent must have the private one.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = Path(f"{path}.pub").read_text("utf-8", "replace").split()
        return base64.b64decode(words[1])
    parts = _openssh_parts(path)
    if parts:
        return parts[1]
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = path.read_text("utf-8", "replace").split()
        return base64.b64decode(words[1]) if words[0].startswith(_PUBLIC) else None
    return None


@functools.lru_cache(maxsize=256)
def is_encrypted(path: Path) -> bool:
    """Whether a key file needs a passphrase."""
    parts = _openssh_parts(path)
    if parts:
        return parts[0] != b"none"
    with contextlib.suppress(OSError):
        return b"ENCRYPTED" in path.read_bytes()
    return False


def permission_problem(path: Path) -> str:
    """The reason why a private key that others can read is not used, as in OpenSSH; "" for a safe
    one.
    """
    with contextlib.suppress(OSError):
        status = path.stat()
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid == os.getuid() and mode & 0o077:
            fix = f"chmod 600 {shlex.quote(str(path))}"
            path_text = display_path(path)
            return f"{path_text} is readable by others (mode {mode:04o}) and is not used: run {fix}"
    return ""


def unreadable(path: Path, error: Exception) -> str:
    """The reason why a file could not be read as a key."""
    reason = error.strerror if isinstance(error, OSError) else None
    with contextlib.suppress(OSError):
        head = path.read_bytes()[:64]
        if head.startswith(b"PuTTY-"):
            reason = "it is in PuTTY's format; convert it with puttygen -O private-openssh"
        elif head.decode("ascii", "replace").startswith(_PUBLIC):
            reason = (
                "it is a public key; specify the private key, or add the private key to the agent"
            )
        elif not head.startswith(b"-----BEGIN"):
            reason = "it is not a private key in OpenSSH's format or PEM"
    reason = reason or "it is damaged or has an unknown format"
    return f"{display_path(path)} cannot be read as a key: {reason}"


def display_path(path: Path) -> str:
    """A path in the form that a person would write."""
    with contextlib.suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)


def _openssh_parts(path: Path) -> tuple[bytes, bytes] | None:
    """Return cipher name and public key of a file in OpenSSH's format; both are unencrypted."""
    try:
        text = path.read_bytes().split(b"-----")
        if len(text) < 3 or text[1] != b"BEGIN OPENSSH PRIVATE KEY":
            return None
        data = base64.b64decode(text[2])
        fields = _fields(data[len(b"openssh-key-v1\0") :])
        cipher, _, _ = next(fields), next(fields), next(fields)
        return cipher, next(fields)
    except (OSError, ValueError, StopIteration, struct.error):
        return None


def _fields(data: bytes) -> Iterator[bytes]:
    for number in range(4):
        if number == 3:
            data = data[4:]  # how many keys there are: one
        (size,) = struct.unpack(">I", data[:4])
        yield data[4 : 4 + size]
        data = data[4 + size :]
