"""Looks for conditions, and waits for them (target)."""

import time
from typing import TYPE_CHECKING

from remote_runtime.effects import NETWORK
from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import Probe
from remote_runtime.host import conditions
from remote_runtime.host.command import Command
from remote_runtime.host.conditions import Condition, ConditionResult

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.ports import HostReader

_PATIENCE = 10.0  # seconds for one answer over the network
_LAST = 1.0  # seconds that even a look gets that begins when the time is up


class ConditionReader(conditions.ConditionReader):
    """Looks at a host through its other ports, and at the network from the machine."""

    def __init__(self, context: "Context", host: "HostReader") -> None:
        self._context, self._host = context, host

    def look(self, condition: Condition, seconds: float) -> ConditionResult:
        """See the base class."""
        seconds = max(_LAST, seconds)
        if condition.port:
            return self._port(condition, seconds)
        if condition.url:
            return self._url(condition, seconds)
        if condition.command is not None:
            return self._command(condition.command._replace(timeout=seconds))
        there = self._host.files.exists(condition.file)
        return ConditionResult(there, "the file exists" if there else "the file does not exist")

    def _probe(self, seconds: float) -> Probe:
        """What asks the network; whether that answers may be up to anything that is planned."""
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

    def _command(self, command: Command) -> ConditionResult:
        commands = self._host.commands
        commands.require_start(command, "the command")
        result = commands.look(command)
        if result.timed_out:
            return ConditionResult(False, "it timed out", result.tail())
        if result.code < 0:
            return ConditionResult(
                False, "it was killed by signal %d" % -result.code, result.tail()
            )
        return ConditionResult(not result.code, "exit code %d" % result.code, result.tail())


class Conditions(ConditionReader, conditions.Conditions):
    """Looks until the time is up."""

    def wait(
        self,
        condition: Condition,
        wanted: bool,
        *,
        first: ConditionResult,
        until: float,
        interval: float,
    ) -> ConditionResult:
        """See the base class."""
        found = first
        while found.holds != wanted:
            left = until - time.monotonic()
            if left <= 0:
                break
            self._context.progress("%d s left, %s" % (left + 0.999, found.seen))
            self._context.sleep(min(interval, left))
            found = self.look(condition, until - time.monotonic())
        return found
