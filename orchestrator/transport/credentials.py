"""The sources of the passwords and passphrases of a run (controller)."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.transport.command_pipe import readable
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.transport.password import Password

SSH_PASSWORD = "CCM_SSH_PASSWORD"
BECOME_PASSWORD = "CCM_BECOME_PASSWORD"
COMMAND_SUFFIX = "_COMMAND"
COMMAND_TIMEOUT = 60

Prompt = Callable[[str], str]


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
            source = functools.partial(self._asked, what, variable)
        elif self._environ.get(variable):
            source = functools.partial(self._environ.__getitem__, variable)
        elif command:
            source = functools.partial(_run, variable + COMMAND_SUFFIX, command)
        else:
            return None
        from orchestrator.transport.password import Password

        return Password(what, kind, source)

    def _asked(self, what: str, variable: str) -> str:
        if self._prompt is None:
            raise UsageError(
                f"cannot prompt for {what}: there is no terminal",
                hint=(
                    f"set {variable}, or set {variable}{COMMAND_SUFFIX} to a command that prints it"
                ),
            )
        text = self._prompt(f"{what[4:]}: ")
        if not text:
            raise UsageError(f"{what} was not entered", hint="enter it, or omit the option")
        return text


def _run(variable: str, command: str) -> str:
    from orchestrator.transport.client_config.user_command import MAX_OUTPUT, run_shell

    done = run_shell(command, COMMAND_TIMEOUT)
    if done is None:
        message = (
            f"the command in {variable} did not finish within {COMMAND_TIMEOUT} s, "
            f"or printed more than {MAX_OUTPUT >> 20} MiB"
        )
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
