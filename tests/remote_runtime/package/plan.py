"""Makes package resources on a recorded host."""

import os
from typing import Any, List

from remote_runtime.cancellation import Cancelled
from remote_runtime.changes import Missing
from remote_runtime.host.host_reader import reader
from remote_runtime.packages.apt.package_lists import Lists
from remote_runtime.packages.apt.readiness import Readiness
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.resources.package.resource import Resource
from remote_runtime.system.process.commands import Result

from ..fake_commands import FakeCommands, make_context

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
INSTALLED = "%s %s all installed install\n"  # one more line of dpkg-query: name, version


def recorded(name: str) -> str:
    with open(os.path.join(RECORDED, name), encoding="utf-8") as file:
        return file.read()


def failure(name: str, code: int = 100) -> Result:
    """A recorded failure of apt-get."""
    return Result(code, recorded(name + ".out"), recorded(name + ".err"))


def recorded_commands() -> FakeCommands:
    """The command door of the recorded host, on which every transaction goes well."""
    commands = FakeCommands()
    commands.on("dpkg-query", recorded("dpkg-query.txt"))
    commands.on("apt-cache policy", recorded("apt-cache-policy.txt"))
    commands.on("apt-cache showpkg -- awk", recorded("apt-cache-showpkg.txt"))
    commands.on("apt-config dump", "")
    commands.on("apt-get", "")
    return commands


class Plan(object):
    """The packages of one plan, as (name, properties), on a host."""

    def __init__(self, commands: FakeCommands, *packages: Any, provider: str = "apt") -> None:
        self.commands = commands
        items = [
            Item(i, "package", name, given, provider=provider)
            for i, (name, given) in enumerate(packages)
        ]
        self.context = make_context(commands, items)
        self._registry = Registry(self.context)
        self.resources = [self._registry.create(item) for item in items]
        self.provider = self.resources[0].provider.manager
        if provider == "apt":
            # Not those of the machine of the tests.
            self.provider.lists = Lists("/nonexistent")
            self.provider.admin = "/nonexistent"
            self.provider.extended_states = "/nonexistent"
            self.provider.readiness = Readiness("/nonexistent", user=lambda: 0)

    def messages(self) -> List[str]:
        """What noop says of each resource, "" where nothing is to do."""
        with self.noop():
            return [r.describe(self.rehearsed(i)) for i, r in enumerate(self.resources)]

    def rehearsed(self, index: int = 0) -> List[Any]:
        """The actions of a resource in a preview; where one would fail, the error has them."""
        resource = self.resources[index]
        actions = resource.actions(resource.observe(), False)
        try:
            for action in actions:
                if action.preflight is not None:
                    action.preflight()
        except Missing as error:
            error.would = actions
            raise
        return actions

    def ahead(self) -> Any:
        """What the first would do in a transaction of another."""
        item = self.resources[0].item
        kind = Resource(item.name, item.properties)
        kind.provider = item.provider
        return None if kind.alone else kind.ahead(reader(self.context, self.context))

    def finishes(self, command: str) -> bool:
        """Carry out the first two; whether a cancel during the command lets it end and is the last.

        ``command`` is what the words of a transaction begin with.
        """
        protecting = []

        def cancel() -> None:
            if self.commands.asked[-1].startswith(command):
                self.context.cancellation.set("ctrl-c")
                protecting.append(self.context.cancellation.protecting)

        self.commands.during = cancel
        self.carry_out(0)
        try:
            self.carry_out(1)
        except Cancelled:
            return protecting == [True] and self.commands.count(command) == 1
        return False

    def noop(self) -> Any:
        """A block in which nothing may be changed."""
        return self.context.for_resource(self.resources[0].item, noop=True)

    def carry_out(self, index: int = 0) -> List[Any]:
        """Do what one resource wants; return the changes."""
        resource = self.resources[index]
        changes = []
        with self.context.for_resource(resource.item, False):
            for action in resource.actions(resource.observe(), False):
                try:
                    action.call()
                finally:
                    self.context.acted += 1
                changes += [change.record() for change in action.changes]
        return changes
