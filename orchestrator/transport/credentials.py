"""Passwords and passphrases of a run: their sources, and the hosts that may try them (controller).

ccm prompts for a password once and tries it on one host before the others, so a mistyped one cannot
lock an account on a whole fleet. A host that refuses or stalls does not block the others. None of
them is ever part of a message or a repr.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from orchestrator.transport.client_config.user_command import run_shell
from orchestrator.transport.password_state import LocalState, SharedState, StateCell
from orchestrator.transport.pipe import readable
from remote_runtime.errors import UnreachableError, UsageError

SSH_PASSWORD = "CCM_SSH_PASSWORD"
BECOME_PASSWORD = "CCM_BECOME_PASSWORD"
COMMAND_SUFFIX = "_COMMAND"
COMMAND_TIMEOUT = 60
REFUSALS = 2  # hosts that must refuse it before others stop trying: a single host may lie
WAIT_TIMEOUT = 5.0  # seconds to wait for one host's answer before the next host also tries

Prompt = Callable[[str], str]


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


class Credentials:
    """All secrets that a run may need.

    ``prompt`` prompts the user; None if that is impossible. The environment variables are
    CCM_SSH_PASSWORD, CCM_BECOME_PASSWORD, and either with _COMMAND appended, which has a command
    that prints the password; a requested prompt takes precedence.
    """

    def __init__(
        self,
        ask_pass: bool = False,
        ask_become_pass: bool = False,
        prompt: Prompt | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._prompt = prompt
        self._environ = environ
        self.ssh_password = self._password(
            "the SSH password", "transport.auth", SSH_PASSWORD, ask_pass
        )
        self.become_password = self._password(
            "the sudo password", "transport.become", BECOME_PASSWORD, ask_become_pass
        )
        self._passphrases: dict[Path, str | None] = {}
        self._asking = threading.Lock()

    def prepare(self) -> None:
        """Prompt now for passwords that will be needed, before the live view and connections
        start."""
        for password in (self.ssh_password, self.become_password):
            if password is not None:
                password.read()

    def share(self) -> None:
        """Let copies of this process try passwords as one process would. OSError."""
        for password in (self.ssh_password, self.become_password):
            if password is not None:
                password.share()

    def passphrase(self, path: Path, unlock: Callable[[str], bool]) -> str | None:
        """The passphrase of a key file, requested once per file; None if the user enters none.

        ``unlock`` reports whether it opens the key. The user has three attempts.
        """
        with self._asking:
            if path not in self._passphrases:
                self._passphrases[path] = self._ask_passphrase(path, unlock)
            return self._passphrases[path]

    def _ask_passphrase(self, path: Path, unlock: Callable[[str], bool]) -> str | None:
        for attempt in range(3 if self._prompt else 0):
            assert self._prompt is not None
            again = "wrong, again: " if attempt else ""
            text = self._prompt(f"{again}passphrase of {path}: ")
            if not text:
                return None
            if unlock(text):
                return text
        return None

    def _password(self, what: str, kind: str, variable: str, ask: bool) -> Password | None:
        command = self._environ.get(variable + COMMAND_SUFFIX)
        if ask:
            return Password(what, kind, lambda: self._asked(what))
        if self._environ.get(variable):
            return Password(what, kind, lambda: self._environ[variable])
        if command:
            return Password(what, kind, lambda: _run(variable + COMMAND_SUFFIX, command))
        return None

    def _asked(self, what: str) -> str:
        if self._prompt is None:
            raise UsageError(
                f"cannot prompt for {what}: there is no terminal",
                hint=(
                    f"set {SSH_PASSWORD} or {BECOME_PASSWORD}, or the same name with "
                    f"{COMMAND_SUFFIX} to a command"
                ),
            )
        text = self._prompt(f"{what[4:]}: ")
        if not text:
            raise UsageError(f"{what} was not entered", hint="enter it, or omit the option")
        return text


def _run(variable: str, command: str) -> str:
    done = run_shell(command, COMMAND_TIMEOUT)
    if done is None:
        message = f"the command in {variable} timed out after {COMMAND_TIMEOUT} s"
        raise UsageError(message, hint="run the command manually")
    text = done.stdout.decode("utf-8", "surrogateescape").split("\n", 1)[0].rstrip("\r")
    if done.returncode or not text:
        reason = f"exit status {done.returncode}" if done.returncode else "it printed nothing"
        said = readable(done.stderr).strip().splitlines()
        reason += f": {said[-1][:200]}" if said else ""
        message = f"the command in {variable} failed: {reason}"
        raise UsageError(
            message,
            hint=("run the command manually; the first line of its output must be the password"),
        )
    return text
