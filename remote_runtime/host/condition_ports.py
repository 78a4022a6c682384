"""The port for conditions that a resource waits for (target): see ``ports``."""

from typing import TYPE_CHECKING, Callable, NamedTuple, Optional, Sequence

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.health.kind import Probe
    from remote_runtime.host.command_ports import Command, CommandReader
    from remote_runtime.host.file_ports import FileReader

_PATIENCE = 10.0  # seconds for one response over the network
_LAST = 1.0  # minimum seconds of a check that starts when the time is up


class Condition(NamedTuple):
    """A condition: exactly one of ``port``, ``url``, ``file`` and ``command`` is set.

    A port of ``host`` accepts connections, a URL returns one of the ``statuses``, a path exists, a
    command exits with 0.
    """

    host: str = ""
    port: int = 0
    url: str = ""
    statuses: Sequence[int] = ()
    allow_insecure: bool = False
    file: str = ""
    command: "Optional[Command]" = None

    def words(self, wanted: bool) -> str:
        """The text after "wait"; ``wanted``: the condition must be true."""
        to = "to" if wanted else "not to"
        if self.port:
            return "for port %d on %s %s accept connections" % (self.port, self.host, to)
        if self.url:
            from remote_runtime.health.kinds.http import KIND

            statuses = " or ".join(map(str, self.statuses))
            return "for %s %s respond with %s" % (KIND.shown(self.url), to, statuses)
        if self.command is not None:
            return "for %r %s exit with 0" % (self.command.text, to)
        return "for %s %s exist" % (self.file, to)


class ConditionResult(NamedTuple):
    """The result of one check: whether the condition is true, the result as text, and the output of
    a command.
    """

    holds: bool
    seen: str
    output: str = ""


class ConditionReader(object):
    """Checks conditions: on a host through its other ports, and in a preview on the network in its
    current state.
    """

    def __init__(
        self, context: "Context", files: "FileReader", commands: "Callable[[], CommandReader]"
    ) -> None:
        self._context, self._files, self._commands = context, files, commands

    def look(self, condition: Condition, seconds: float) -> ConditionResult:
        """Check once, within this time. ``ResourceError`` if the check is impossible."""
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
        """Access the network; a planned change may affect the result."""
        from remote_runtime.effects import NETWORK
        from remote_runtime.health.kind import Probe

        self._context.record_read("host", NETWORK)
        overlay = self._context.overlay
        if overlay is not None and (overlay.units or overlay.packages):
            self._context.suppose("an earlier service or package change may affect it")
        return Probe(self._context, lambda: seconds)

    def _port(self, condition: Condition, seconds: float) -> ConditionResult:
        from remote_runtime.health.kinds.addr import refusal

        probe = self._probe(seconds)
        patience = probe.bound(_PATIENCE)
        address = "tcp://%s:%d" % (condition.host, condition.port)
        try:
            reason = probe.wait(patience, lambda: refusal(address, patience))
        except ResourceError as error:
            reason = error.message  # the time of this check is up
        return ConditionResult(not reason, reason or "it accepts connections")

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
        commands.require_start(command, "command")
        result = commands.look(command)
        if result.timed_out:
            return ConditionResult(False, "it timed out", result.tail())
        if result.code < 0:
            return ConditionResult(
                False, "it was killed by signal %d" % -result.code, result.tail()
            )
        return ConditionResult(not result.code, "exit code %d" % result.code, result.tail())


class Conditions(ConditionReader):
    """Waits for conditions."""

    def wait(
        self,
        condition: Condition,
        wanted: bool,
        *,
        first: ConditionResult,
        until: float,
        interval: float,
    ) -> ConditionResult:
        """Check every ``interval`` seconds until the condition has the ``wanted`` result or
        ``time.monotonic`` reaches ``until``. Return the last result; ``first`` is the result of an
        earlier check.

        A preview does not wait, and assumes that the condition will be met.
        """
        raise NotImplementedError
