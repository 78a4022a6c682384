"""What can be waited for, each with a look at it (target)."""

import os
from typing import TYPE_CHECKING, List, NamedTuple

from remote_runtime.effects import NETWORK, Effect, PathEffect
from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.base import Provider
    from remote_runtime.context import Context
    from remote_runtime.health.kind import Probe
    from remote_runtime.item import Properties

_PATIENCE = 10.0  # seconds for one answer over the network


class Sight(NamedTuple):
    """What one look found: whether it is so, in words, and what a command printed."""

    holds: bool
    seen: str
    output: str = ""


class Condition(object):
    """Something that is so or not; a subclass for each property that names one."""

    def __init__(self, properties: "Properties", provider: "Provider") -> None:
        self.properties = properties
        self.provider = provider

    @property
    def context(self) -> "Context":
        """That of the run."""
        return self.provider.context

    def words(self, wanted: bool) -> str:
        """What is waited for, in words that follow "until"; ``wanted``: that it is so."""
        raise NotImplementedError

    def look(self, seconds: float) -> Sight:
        """Look once, at most so long. ``ResourceError`` where that cannot be told at all."""
        raise NotImplementedError

    def effects(self, wanted: bool) -> List[Effect]:
        """What is known of the target once it has been waited for."""
        return []


class _Remote(Condition):
    """What answers over the network; whether it does may be up to anything that is planned."""

    def _probe(self, seconds: float) -> "Probe":
        from remote_runtime.health.kind import Probe

        self.context.saw("host", NETWORK)
        world = self.context.world
        if world is not None and (world.units or world.packages):
            self.context.suppose("an earlier service or package change may affect it")
        return Probe(self.context, lambda: seconds)


class _Port(_Remote):
    def words(self, wanted: bool) -> str:
        state = "accepts" if wanted else "accepts no"
        return "port %d of %s %s connections" % (self.properties["port"], self._host, state)

    @property
    def _host(self) -> str:
        return str(self.properties.get("host", "127.0.0.1"))

    def look(self, seconds: float) -> Sight:
        from remote_runtime.health.kinds.addr import refusal

        probe = self._probe(seconds)
        patience = probe.bound(_PATIENCE)
        address = "tcp://%s:%d" % (self._host, self.properties["port"])
        try:
            why = probe.wait(patience, lambda: refusal(address, patience))
        except ResourceError as error:
            why = error.message  # the time of this look is up
        return Sight(not why, why or "it accepts connections")


class _Url(_Remote):
    def words(self, wanted: bool) -> str:
        from remote_runtime.health.kinds.http import KIND

        statuses = " or ".join(map(str, self._statuses))
        state = "answers" if wanted else "does not return"
        return "%s %s %s" % (KIND.shown(self.properties["url"]), state, statuses)

    @property
    def _statuses(self) -> List[int]:
        return list(self.properties.get("status") or [200])

    def look(self, seconds: float) -> Sight:
        from remote_runtime.health.kinds.http import KIND

        rule = {
            "no-follow-redirects": True,
            "allow-insecure": self.properties.get("allow_insecure", False),
            "timeout": _PATIENCE * 1000,
        }
        probe = self._probe(seconds)
        try:
            status = KIND.observe(self.properties["url"], rule, probe)["status"]
        except ResourceError as error:
            return Sight(False, error.message)
        return Sight(status in self._statuses, "it returned status %d" % status)


class _File(Condition):
    def words(self, wanted: bool) -> str:
        return "%s %s" % (self.properties["file"], "exists" if wanted else "does not exist")

    def look(self, seconds: float) -> Sight:
        there = self.context.files.exists(self.properties["file"])
        return Sight(there, "the file exists" if there else "the file does not exist")

    def effects(self, wanted: bool) -> List[Effect]:
        path = os.path.normpath(self.properties["file"])
        return [PathEffect(path, "something" if wanted else "absent")]


class _Command(Condition):
    def words(self, wanted: bool) -> str:
        state = "exits 0" if wanted else "does not exit 0"
        return "%s %s" % (self.properties["command"], state)

    def look(self, seconds: float) -> Sight:
        from remote_runtime.host.command import of_command
        from remote_runtime.host.machine.commands import reader_of

        command = of_command("", self.properties, self.provider.name)._replace(timeout=seconds)
        commands = reader_of(self.context)
        commands.require_start(command, "the command")
        result = commands.look(command)
        if result.timed_out:
            return Sight(False, "it timed out", result.tail())
        if result.code < 0:
            return Sight(False, "it was killed by signal %d" % -result.code, result.tail())
        return Sight(not result.code, "exit code %d" % result.code, result.tail())


_CONDITIONS = {"port": _Port, "url": _Url, "file": _File, "command": _Command}


def condition_of(properties: "Properties", provider: "Provider") -> Condition:
    """What these properties wait for. ``ResourceError`` where they name nothing."""
    for key, kind in _CONDITIONS.items():
        if properties.get(key) is not None:
            return kind(properties, provider)
    raise ResourceError("a wait has no state to inspect, only a condition")
