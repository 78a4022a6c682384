"""Makes service resources on a recorded host."""

import os
from typing import Any, Dict, List

from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.system.process.commands import Result
from remote_runtime.units.systemd import Systemd

from ..fake_commands import FakeCommands, make_context

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
SHOW = "systemctl show --system --no-pager --property=Id,"


def recorded(name: str) -> str:
    with open(os.path.join(RECORDED, name), encoding="utf-8") as file:
        return file.read()


UNITS: Dict[str, str] = dict(
    zip(recorded("show.units").split(), recorded("show.txt").split("\n\n"))
)


def shown(unit: str, **properties: str) -> str:
    """The recorded properties of a unit, some of them replaced."""
    lines = dict(line.split("=", 1) for line in UNITS[unit].strip().splitlines())
    lines.update(properties)
    return "".join("%s=%s\n" % pair for pair in lines.items())


class RecordedHost(FakeCommands):
    """Answers show for any units from the recording; every other systemctl goes well."""

    def __init__(self) -> None:
        super().__init__()
        self.units = dict(UNITS)
        self.on("systemctl", "")
        self.on("systemctl status", Result(3, recorded("status-failed.txt"), ""))

    def now(self, unit: str, **properties: str) -> None:
        """From now on the unit has these properties."""
        self.units[unit] = shown(unit, **properties)

    def run(self, argv: Any, **options: Any) -> Result:
        result = super().run(argv, **options)
        if argv[1] != "show":
            return result
        names = argv[list(argv).index("--") + 1 :]
        return Result(0, "\n\n".join(self.units[name].strip() for name in names) + "\n", "")


class Plan(object):
    """The services of one plan, as (name, properties), on a host that systemd has booted;
    ``configured`` is a directory with links to units, without one none is looked at."""

    def __init__(self, commands: FakeCommands, *services: Any, configured: str = "") -> None:
        self.commands = commands
        items = [Item(i, "service", name, given) for i, (name, given) in enumerate(services)]
        self.context = make_context(commands, items)
        registry = Registry(self.context)
        self.systemd = self.context.one(Systemd)
        self.systemd.__dict__.update(booted=RECORDED, configured=configured)
        self.resources = [registry.create(item) for item in items]

    def messages(self, refresh: bool = False) -> List[str]:
        """What noop says of each resource, "" where nothing is to do."""
        with self.noop():
            return [r.describe(r.actions(r.observe(), refresh)) for r in self.resources]

    def noop(self) -> Any:
        """A block in which nothing may be changed."""
        return self.context.for_resource(self.resources[0].item, noop=True)

    def carry_out(self, index: int = 0, refresh: bool = False) -> List[str]:
        """Do what one resource wants; return the systemctl calls that changed something."""
        resource = self.resources[index]
        before = len(self.commands.asked)
        for action in resource.actions(resource.observe(), refresh):
            try:
                action.call()
            finally:
                self.context.acted += 1
        return [
            line for line in self.commands.asked[before:] if not line.startswith("systemctl show")
        ]
