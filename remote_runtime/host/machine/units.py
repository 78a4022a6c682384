"""Units of the machine (target)."""

import os
from typing import TYPE_CHECKING, Sequence, Tuple

from remote_runtime.host import ports

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.units.status import Status
    from remote_runtime.units.systemd import Systemd


class UnitReader(ports.UnitReader):
    """Reads the units of a run: those of the machine, or in a preview as they will be.

    It keeps functions of the run, and not the run: nothing else of that can be reached from here.
    """

    def __init__(self, context: "Context") -> None:
        self._one = context.one

    @property
    def _systemd(self) -> "Systemd":
        from remote_runtime.units.systemd import Systemd

        found: Systemd = self._one(Systemd)
        return found

    def _of(self, name: str) -> "Tuple[Systemd, str]":
        """The manager that has a unit, and the name of the unit there."""
        if "/" not in name:
            return self._systemd, name
        from remote_runtime.units.user_systemd import UserManagers, split

        user, own = split(name)
        return self._one(UserManagers).of(user), own

    def status(self, name: str) -> "Status":
        """See the base class."""
        systemd, own = self._of(name)
        return systemd.seen(own)

    def carries_run(self, name: str) -> bool:
        """See the base class."""
        from remote_runtime.system.process.processes import services_above

        if "/" in name:
            return False  # a run comes through no unit of a user
        stem, _, kind = self._systemd.own_name(name).rpartition(".")
        through = [one.rpartition(".")[0] for one in services_above(os.getpid())]
        if kind == "socket":  # it starts instances such as ssh@1
            through = [one.partition("@")[0] for one in through]
        return kind in ("service", "socket") and stem in through

    def require_calendar(self, expressions: Sequence[str]) -> None:
        """See the base class."""
        self._systemd.require_calendar(expressions)


class Units(UnitReader, ports.Units):
    """Runs systemctl."""

    def _act(self, verb: str, name: str) -> None:
        systemd, own = self._of(name)
        systemd.act(systemd.possible(verb, own), own)
