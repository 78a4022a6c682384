"""Sees what Python does to this machine while a block runs, by its audit events (controller)."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_CHANGES = frozenset(
    f"os.{name}"
    for name in (
        *("chmod", "chown", "link", "mkdir", "remove", "removexattr", "rename", "rmdir"),
        *("setxattr", "symlink", "truncate", "utime"),
    )
)
_LOOKS = frozenset(
    (
        *("open", "os.listdir", "os.scandir", "socket.connect", "socket.getaddrinfo"),
        *("os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen"),
    )
)
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _Watch:
    """What is seen, in one thread at a time."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        self._thread = 0
        self._looks = False
        self._installed = False

    def begin(self, looks: bool) -> list[str]:
        if not self._installed:
            sys.addaudithook(self._note)  # for good: there is no way to take one back
            self._installed = True
        self._thread, self._looks = threading.get_ident(), looks
        self.seen = found = []
        return found

    def _note(self, event: str, arguments: Sequence[Any]) -> None:
        if self.seen is None or threading.get_ident() != self._thread:
            return
        counts = event in _CHANGES or _is_written(event, arguments)
        if counts or (self._looks and event in _LOOKS):
            self.seen.append(f"{event} {arguments!r}")


def _is_written(event: str, arguments: Sequence[Any]) -> bool:
    if event != "open":
        return False
    path, _, flags = arguments
    writes = isinstance(flags, int) and flags & _FOR_WRITING
    return bool(writes) and not str(path).startswith("/dev/") and "__pycache__" not in str(path)


_WATCH = _Watch()


@contextmanager
def watched(looks: bool = False) -> Iterator[list[str]]:
    """What the block changes of files; with ``looks`` also what it reads, runs and connects to."""
    found = _WATCH.begin(looks)
    try:
        yield found
    finally:
        _WATCH.seen = None
