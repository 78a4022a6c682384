"""A password of a run, and the hosts that may try it (controller).

ccm prompts for a password once and tries it on one host before the others, so a mistyped one cannot
lock an account on a whole fleet. A host that refuses or stalls does not block the others. A
password is never part of a message or a repr. The processes of a run may share its state (accepted,
refused, or being tried by a host), so that they try a wrong one on as few hosts as one process
would.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from remote_runtime.errors import UnreachableError

REFUSALS = 2  # hosts that must refuse it before others stop trying: a single host may lie
WAIT_TIMEOUT = 5.0  # seconds to wait for one host's answer before the next host also tries
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

    def locked(self) -> contextlib.AbstractContextManager[PasswordState]:
        """The state, which nobody else can change within this context."""


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


class Password:
    """One password, read from its source on first use.

    ``patience`` is how long others wait for the first host, in seconds, so that an unresponsive
    host blocks no others. A wrong password is therefore tried on few hosts, and no single host can
    make a correct one look wrong.
    """

    def __init__(
        self, what: str, kind: str, source: Callable[[], str], patience: float = WAIT_TIMEOUT
    ) -> None:
        self.what = what
        self.kind = kind
        self._source = source
        self._patience = patience
        self._text: str | None = None
        self._reading = threading.Lock()
        self._changed = threading.Condition()
        self._proof: StateCell = LocalState()

    def read(self) -> str:
        """Return the password; UsageError if its source has none."""
        with self._reading:
            if self._text is None:
                self._text = self._source()
            return self._text

    def attempt(self, host: str, until: float | None = None) -> PasswordAttempt:
        """Permission to try it on a host; waits briefly while another host tries it.

        UnreachableError if others refused it and none accepted it, or if others are still trying it
        when the host's time is up (``until``).
        """
        attempt = PasswordAttempt(self, host, self.read())
        with self._changed:
            while left := self._left(attempt):
                if until is not None:
                    left = min(left, until - time.monotonic())
                    if left <= 0:
                        message = f"timed out while {self.what} was being tried on other hosts"
                        raise UnreachableError(message, self.kind)
                tick = self._proof.tick
                self._changed.wait(left if tick is None else min(left, tick))
        return attempt

    def _left(self, attempt: PasswordAttempt) -> float:
        """The seconds that a trial must wait for another one; 0 if it may start."""
        with self._proof.locked() as state:
            if state.proved:
                return 0.0
            if len(state.refused) >= REFUSALS:
                raise UnreachableError(
                    f"{self.what} was rejected by {', '.join(state.refused)}, so it is not tried "
                    "here",
                    self.kind,
                    hint="check the password; ccm tries it on one host at a time until a "
                    "host accepts it",
                )
            now = time.monotonic()
            if state.proving and state.until > now:
                return state.until - now
            state.proving, state.until = attempt.token, now + self._patience
            return 0.0

    def record(self, attempt: PasswordAttempt, accepted: bool | None) -> None:
        """Record the outcome of a trial; None if the host did not respond."""
        with self._changed:
            with self._proof.locked() as state:
                if accepted:
                    state.proved = True
                elif accepted is False and attempt.host not in state.refused:
                    state.refused.append(attempt.host)
                if state.proving == attempt.token:
                    state.proving = ""
            self._changed.notify_all()

    def share(self) -> None:
        """Share outcomes with forks of this process. OSError."""
        self._proof = SharedState()

    def __repr__(self) -> str:
        return f"<Password {self.what}>"


class PasswordAttempt:
    """The use of a password on one host; leaving the block without an outcome reports nothing."""

    def __init__(self, password: Password, host: str, text: str) -> None:
        self.host = host
        self.token = f"{os.getpid()} {id(self)}"  # no other trial's, in no process
        self._password = password
        self._text = text
        self._open = True

    def text(self) -> str:
        """The password itself."""
        return self._text

    def end(self, accepted: bool | None = None) -> None:
        """Report the outcome; only the first call has an effect."""
        if self._open:
            self._open = False
            self._password.record(self, accepted)

    def __repr__(self) -> str:
        return f"<PasswordAttempt of {self._password.what} on {self.host}>"
