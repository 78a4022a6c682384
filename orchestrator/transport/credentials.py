"""Passwords and passphrases of a run: where they come from, and who may try them (controller).

A password is asked for once and proved on one host before the others try it, so a mistyped one
cannot lock an account on a whole fleet. None of them is ever part of a message or a repr.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from orchestrator.transport.user_command import run_shell
from remote_runtime.errors import UnreachableError, UsageError

SSH_PASSWORD = "CCM_SSH_PASSWORD"
BECOME_PASSWORD = "CCM_BECOME_PASSWORD"
COMMAND_SUFFIX = "_COMMAND"
COMMAND_TIMEOUT = 60
PROOF_TIMEOUT = 120.0
REFUSALS = 1  # hosts that may refuse it before the others leave it alone

Prompt = Callable[[str], str]


class Password:
    """One password, read from its source when it is needed first."""

    def __init__(self, what: str, kind: str, source: Callable[[], str]) -> None:
        self.what = what
        self.kind = kind
        self._source = source
        self._text: str | None = None
        self._reading = threading.Lock()
        self._proving = threading.Lock()
        self._proved = False
        self._refused: list[str] = []

    def read(self) -> str:
        """The password; UsageError when its source gives none."""
        with self._reading:
            if self._text is None:
                self._text = self._source()
            return self._text

    def trial(self, host: str) -> Trial:
        """Permission to try it on a host; waits while another host proves it.

        UnreachableError when it was refused elsewhere and nowhere accepted.
        """
        text = self.read()
        if self._proved:
            return Trial(self, host, text, False)
        if not self._proving.acquire(timeout=PROOF_TIMEOUT):
            raise UnreachableError(f"{self.what} was not proved in time", self.kind, "try again")
        if self._proved:
            self._proving.release()
            return Trial(self, host, text, False)
        if len(self._refused) >= REFUSALS:
            self._proving.release()
            raise UnreachableError(
                f"{self.what} was refused on {', '.join(self._refused)} and is not tried here",
                self.kind,
                "check the password; it is tried on one host at a time until one accepts it",
            )
        return Trial(self, host, text, True)

    def settle(self, host: str, accepted: bool | None, proving: bool) -> None:
        """Take the outcome of a trial; None when the host never said."""
        if accepted:
            self._proved = True
        elif accepted is False and host not in self._refused:
            self._refused.append(host)
        if proving:
            self._proving.release()

    def __repr__(self) -> str:
        return f"<Password {self.what}>"


class Trial:
    """The use of a password on one host; leaving the block without an outcome tells nothing."""

    def __init__(self, password: Password, host: str, text: str, proving: bool) -> None:
        self._password = password
        self._host = host
        self._proving = proving
        self._text = text
        self._open = True

    def text(self) -> str:
        """The password itself."""
        return self._text

    def end(self, accepted: bool | None = None) -> None:
        """Say how it went; only the first call counts."""
        if self._open:
            self._open = False
            self._password.settle(self._host, accepted, self._proving)

    def __repr__(self) -> str:
        return f"<Trial of {self._password.what} on {self._host}>"


class Credentials:
    """Everything secret that a run may need.

    ``prompt`` asks a person; None where nobody can be asked. The environment is read for
    CCM_SSH_PASSWORD, CCM_BECOME_PASSWORD and either with _COMMAND appended, a command that prints
    it; a prompt that was asked for goes before them.
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
        """Ask now for what is known to be needed, before anything is drawn or connected."""
        for password in (self.ssh_password, self.become_password):
            if password is not None:
                password.read()

    def passphrase(self, path: Path, try_it: Callable[[str], bool]) -> str | None:
        """The passphrase of a key file, asked for once per file; None when nobody gives it.

        ``try_it`` says whether it opens the key; a wrong one is asked for again, thrice in all.
        """
        with self._asking:
            if path not in self._passphrases:
                self._passphrases[path] = self._ask_passphrase(path, try_it)
            return self._passphrases[path]

    def _ask_passphrase(self, path: Path, try_it: Callable[[str], bool]) -> str | None:
        for attempt in range(3 if self._prompt else 0):
            assert self._prompt is not None
            again = "wrong, again: " if attempt else ""
            text = self._prompt(f"{again}passphrase of {path}: ")
            if not text:
                return None
            if try_it(text):
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
                f"{what} was to be asked for, but there is no terminal",
                hint=f"set {SSH_PASSWORD} or {BECOME_PASSWORD}, or a command with {COMMAND_SUFFIX}",
            )
        return self._prompt(f"{what[4:]}: ")


def _run(variable: str, command: str) -> str:
    done = run_shell(command, COMMAND_TIMEOUT)
    if done is None:
        message = f"the command in {variable} gave no password within {COMMAND_TIMEOUT} s"
        raise UsageError(message, hint="run it by hand")
    text = done.stdout.decode("utf-8", "surrogateescape").split("\n", 1)[0].rstrip("\r")
    if done.returncode or not text:
        why = f"exit status {done.returncode}" if done.returncode else "nothing was printed"
        message = f"the command in {variable} gave no password: {why}"
        raise UsageError(message, hint="run it by hand; the first line it prints is the password")
    return text
