"""The port to what can be waited for (target): see ``ports``."""

from typing import TYPE_CHECKING, Callable, NamedTuple, Optional, Sequence

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.health.kind import Probe
    from remote_runtime.host.command import Command, CommandReader
    from remote_runtime.host.file_ports import FileReader

_PATIENCE = 10.0  # seconds for one answer over the network
_LAST = 1.0  # seconds that even a look gets that begins when the time is up


class Condition(NamedTuple):
    """What holds or not: exactly one of ``port``, ``url``, ``file`` and ``command`` is given.

    A port of ``host`` accepts connections, a URL answers with one of the ``statuses``, something is
    at a path, a command exits with 0.
    """

    host: str = ""
    port: int = 0
    url: str = ""
    statuses: Sequence[int] = ()
    allow_insecure: bool = False
    file: str = ""
    command: "Optional[Command]" = None

    def words(self, wanted: bool) -> str:
        """It in words that follow "until"; ``wanted``: that it holds."""
        if self.port:
            state = "accepts" if wanted else "accepts no"
            return "port %d of %s %s connections" % (self.port, self.host, state)
        if self.url:
            from remote_runtime.health.kinds.http import KIND

            state = "answers" if wanted else "does not return"
            return "%s %s %s" % (
                KIND.shown(self.url),
                state,
                " or ".join(map(str, self.statuses)),
            )
        if self.command is not None:
            return "%s %s" % (self.command.text, "exits 0" if wanted else "does not exit 0")
        return "%s %s" % (self.file, "exists" if wanted else "does not exist")


class ConditionResult(NamedTuple):
    """What one look found: whether a condition holds, in words, and what a command printed."""

    holds: bool
    seen: str
    output: str = ""


class ConditionReader(object):
    """Looks whether conditions hold: at a host through its other ports, and in a preview at the
    network as it is now."""

    def __init__(
        self, context: "Context", files: "FileReader", commands: "Callable[[], CommandReader]"
    ) -> None:
        self._context, self._files, self._commands = context, files, commands

    def look(self, condition: Condition, seconds: float) -> ConditionResult:
        """Look once, at most so long. ``ResourceError`` where that cannot be told at all."""
        seconds = max(_LAST, seconds)
        if condition.port:
            return self._port(condition, seconds)
        if condition.url:
            return self._url(condition, seconds)
        if condition.command is not None:
            return self._command(condition.command._replace(timeout=seconds))
        there = self._files.exists(condition.file)
        return ConditionResult(there, "the file exists" if there else "the file does not exist")

    def _probe(self, seconds: float) -> "Probe":
        """What asks the network; whether that answers may be up to anything that is planned."""
        from remote_runtime.effects import NETWORK
        from remote_runtime.health.kind import Probe

        self._context.saw("host", NETWORK)
        world = self._context.world
        if world is not None and (world.units or world.packages):
            self._context.suppose("an earlier service or package change may affect it")
        return Probe(self._context, lambda: seconds)

    def _port(self, condition: Condition, seconds: float) -> ConditionResult:
        from remote_runtime.health.kinds.addr import refusal

        probe = self._probe(seconds)
        patience = probe.bound(_PATIENCE)
        address = "tcp://%s:%d" % (condition.host, condition.port)
        try:
            why = probe.wait(patience, lambda: refusal(address, patience))
        except ResourceError as error:
            why = error.message  # the time of this look is up
        return ConditionResult(not why, why or "it accepts connections")

    def _url(self, condition: Condition, seconds: float) -> ConditionResult:
        from remote_runtime.health.kinds.http import KIND

        rule = {
            "no-follow-redirects": True,
            "allow-insecure": condition.allow_insecure,
            "timeout": _PATIENCE * 1000,
        }
        probe = self._probe(seconds)
        try:
            status = KIND.observe(condition.url, rule, probe)["status"]
        except ResourceError as error:
            return ConditionResult(False, error.message)
        return ConditionResult(status in condition.statuses, "it returned status %d" % status)

    def _command(self, command: "Command") -> ConditionResult:
        commands = self._commands()
        commands.require_start(command, "the command")
        result = commands.look(command)
        if result.timed_out:
            return ConditionResult(False, "it timed out", result.tail())
        if result.code < 0:
            return ConditionResult(
                False, "it was killed by signal %d" % -result.code, result.tail()
            )
        return ConditionResult(not result.code, "exit code %d" % result.code, result.tail())


class Conditions(ConditionReader):
    """Waits until conditions hold."""

    def wait(
        self,
        condition: Condition,
        wanted: bool,
        *,
        first: ConditionResult,
        until: float,
        interval: float,
    ) -> ConditionResult:
        """Look again every ``interval`` seconds until a condition holds, or does not if that is
        ``wanted``, or it is ``until`` by ``time.monotonic``. What the last look found; ``first`` is
        what the one before found.

        A preview does not wait, and assumes that it will come.
        """
        raise NotImplementedError
