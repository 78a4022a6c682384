"""Sees what Python does to this machine while a block runs, by its audit events (controller)."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

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
_PRIVATE = re.compile(r"ccm-[0-9a-f]{16}-[0-9a-f]{12}")


class _Seen(NamedTuple):
    """An event, and the path that it changed; "" where that cannot be told."""

    event: str
    arguments: str
    path: str


class _Watch:
    """What is seen, in one thread at a time."""

    def __init__(self) -> None:
        self.seen: list[_Seen] | None = None
        self._thread = 0
        self._looks = False
        self._installed = False

    def begin(self, looks: bool) -> list[_Seen]:
        if not self._installed:
            sys.addaudithook(self._note)  # for good: there is no way to take one back
            self._installed = True
        self._thread, self._looks = threading.get_ident(), looks
        seen: list[_Seen] = []
        self.seen = seen
        return seen

    def _note(self, event: str, arguments: Sequence[Any]) -> None:
        if self.seen is None or threading.get_ident() != self._thread:
            return
        counts = event in _CHANGES or _is_written(event, arguments)
        if counts or (self._looks and event in _LOOKS):
            self.seen.append(_Seen(event, repr(arguments), _path(event, arguments)))


def _is_written(event: str, arguments: Sequence[Any]) -> bool:
    if event != "open":
        return False
    path, _, flags = arguments
    writes = isinstance(flags, int) and flags & _FOR_WRITING
    return bool(writes) and not str(path).startswith("/dev/") and "__pycache__" not in str(path)


def _path(event: str, arguments: Sequence[Any]) -> str:
    if event == "open":
        return str(arguments[0])
    at = 1 if event == "os.symlink" else 0
    if event in ("os.link", "os.rename") or not isinstance(arguments[at], str):
        return ""
    above = arguments[-1] if event in _CHANGES and len(arguments) > at + 1 else -1
    directory = (
        os.readlink(f"/proc/self/fd/{above}") if isinstance(above, int) and above >= 0 else ""
    )
    return os.path.join(directory, arguments[at])


def _gone(seen: Sequence[_Seen]) -> set[str]:
    """The private directories that were made and are not there any more."""
    parent = os.path.realpath(tempfile.gettempdir())
    made = {one.path for one in seen if one.event == "os.mkdir" and ", 448, " in one.arguments}
    ours = {path for path in made if _PRIVATE.fullmatch(os.path.relpath(path, parent))}
    return {path for path in ours if not os.path.lexists(path)}


_WATCH = _Watch()


@contextmanager
def watched(looks: bool = False) -> Iterator[list[str]]:
    """What the block changed of files; with ``looks`` also what it read, ran and connected to.

    It is there after the block. A directory for work of the run's own is none, nor what is done in
    it, once it is gone as a whole.
    """
    found: list[str] = []
    compiles, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python's own writing
    seen = _WATCH.begin(looks)
    try:
        yield found
    finally:
        _WATCH.seen = None
        sys.dont_write_bytecode = compiles
    gone = _gone(seen)
    for one in seen:
        if not any(f"{one.path}/".startswith(f"{directory}/") for directory in gone):
            found.append(f"{one.event} {one.arguments}")
