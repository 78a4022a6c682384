"""The state of a password: accepted, refused, or being tried by a host (controller).

The processes of a run may share it, so that a wrong password is tried on as few hosts as one
process would try it on. The password itself is not part of it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Protocol

TICK = 0.1  # seconds after which another process's word is looked for


class PasswordState:
    """The state of a password. ``proving`` is the process that tries it, "" for none. Others wait
    for it until ``until``, a time of ``time.monotonic()``, which all processes share."""

    def __init__(self, values: dict[str, object] | None = None) -> None:
        self.proved = False
        self.refused: list[str] = []
        self.proving = ""
        self.until = 0.0
        vars(self).update(values or {})


class StateCell(Protocol):
    """Keeps a state; used by one thread of a process at a time."""

    @property
    def tick(self) -> float | None:
        """The seconds after which another process may have changed it; None if none can."""
        ...

    def locked(self) -> contextlib.AbstractContextManager[PasswordState]:
        """The state, which nobody else can change within this context."""
        ...


class LocalState:
    """The state of one process."""

    tick = None

    def __init__(self) -> None:
        self._state = PasswordState()

    @contextlib.contextmanager
    def locked(self) -> Iterator[PasswordState]:
        """The state, which nobody else can change within this context."""
        yield self._state


class SharedState:
    """The state of a process and its copies, in shared memory; Linux only. OSError."""

    tick = TICK

    def __init__(self) -> None:
        self._file = os.memfd_create("ccm")

    @contextlib.contextmanager
    def locked(self) -> Iterator[PasswordState]:
        """The state, which nobody else can change within this context; a process that dies releases
        it.
        """
        import fcntl

        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            text = os.pread(self._file, os.fstat(self._file).st_size, 0)
            state = PasswordState(json.loads(text) if text else None)
            yield state
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, json.dumps(vars(state)).encode("ascii"), 0)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
