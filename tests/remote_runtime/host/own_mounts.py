"""Mounts and flags of files, in a mount namespace of this process only (Linux, as root)."""

from __future__ import annotations

import ctypes
import fcntl
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_NAMESPACE = 0x20000  # CLONE_NEWNS
READ_ONLY, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 32, 4096, 16384, 1 << 18
_DETACH = 2
_SET_FLAGS = 0x40086602  # FS_IOC_SETFLAGS


def own_namespace() -> bool:
    """Have the mounts of this process be its own; False where that is not permitted."""
    if _LIBC.unshare(_NEW_NAMESPACE) != 0:
        return False
    try:
        mount("none", "/", "", RECURSIVE | PRIVATE)
    except OSError:
        return False
    return True


def mount(source: str, at: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """See mount(2). ``OSError``"""
    words = [word.encode() for word in (source, at, kind, options)]
    if _LIBC.mount(words[0], words[1], words[2], flags, words[3]) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), at)


def unmount(at: str) -> None:
    """Take a mount away, whatever uses it. ``OSError``"""
    if _LIBC.umount2(at.encode(), _DETACH) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), at)


def set_flags(path: str, flags: int) -> bool:
    """Set immutable and append-only; False where the file system has no such flags."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.ioctl(descriptor, _SET_FLAGS, flags.to_bytes(8, "little"))
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
