"""A testinfra backend that uses ccm's own connection to a host (controller)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from testinfra.backend.base import BaseBackend, CommandResult
from testinfra.host import Host

from orchestrator.verify.shell import Answer

if TYPE_CHECKING:
    from orchestrator.verify.verify_hosts import Fleet, Member


class PendingCommand(BaseException):
    """A command that has not been run yet; no code between here and ``observe`` may catch it."""


class CommandKilledError(RuntimeError):
    """A command that was killed before it ended by itself."""


class HostBackend(BaseBackend):  # type: ignore[misc]  # testinfra has no stubs
    """The base of all backends: provides the host's name, and text that is always UTF-8."""

    NAME = "ccm"

    def __init__(self, name: str, **_: Any) -> None:
        super().__init__(name)
        self._encoding = "utf-8"
        self.last: CommandResult | None = None

    def get_pytest_id(self) -> str:
        """The name of the host, because the inventory has its connection."""
        return str(self.hostname)

    def decode(self, data: bytes) -> str:
        """Text from a host; invalid bytes are escaped."""
        return data.decode("utf-8", "backslashreplace")

    def encode(self, data: str) -> bytes:
        """A command in the form that is sent to the host."""
        return data.encode("utf-8", "surrogateescape")

    def answered(self, command: bytes, answer: Answer) -> CommandResult:
        """An answer in the form that testinfra's modules accept; CommandKilledError."""
        if answer.killed:
            text = command.decode("utf-8", "replace")[:200]
            raise CommandKilledError(f"a command {answer.killed}: {text}")
        self.last = self.result(answer.code, command, answer.out, answer.err)
        return self.last


class LiveBackend(HostBackend):
    """Runs every command on request; for the user's own tests."""

    def __init__(self, name: str, member: Member | None = None, **given: Any) -> None:
        super().__init__(name)
        self.fleet: Fleet | None = None
        if member is None:
            from orchestrator.verify.pytest_run.hostspecs import fleet_of

            self.fleet = fleet_of(given)
            member = self.fleet.member(name)
        self.member = member

    @classmethod
    def get_hosts(cls, host: str, **given: Any) -> list[str]:
        """The names of the hosts that a pattern such as ``web:&prod`` selects."""
        from orchestrator.verify.pytest_run.hostspecs import names_of

        return names_of(given, host)

    def run(self, command: str, *args: str, **_: Any) -> CommandResult:
        """Run a command over the host's connection; CcmError if it is lost."""
        data = self.encode(self.get_command(command, *args))
        return self.answered(data, self.member.shell().run(data))


class RecordingBackend(HostBackend):
    """Answers recorded questions, and records the others and those in ``opening``."""

    def __init__(self, name: str, opening: Iterable[bytes]) -> None:
        super().__init__(name)
        self._answers: dict[bytes, Answer] = {}
        self._missing = dict.fromkeys(opening)

    def ask(self, read_all: Callable[[Sequence[bytes]], list[Answer]]) -> None:
        """Raise the missing commands."""
        commands = list(self._missing)
        self._missing.clear()
        self._answers.update(zip(commands, read_all(commands), strict=True))

    def run(self, command: str, *args: str, **_: Any) -> CommandResult:
        """The known answer; Unanswered if there is none."""
        data = self.encode(self.get_command(command, *args))
        answer = self._answers.get(data)
        if answer is None:
            self._missing[data] = None
            raise PendingCommand
        return self.answered(data, answer)


def as_host(backend: HostBackend) -> Host:
    """testinfra's ``host`` for a backend."""
    host = Host(backend)
    backend.set_host(host)
    return host
