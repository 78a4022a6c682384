"""Units of the machine (target)."""

from typing import TYPE_CHECKING, Sequence

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

    def status(self, name: str) -> "Status":
        """See the base class."""
        return self._systemd.seen(name)

    def require_calendar(self, expressions: Sequence[str]) -> None:
        """See the base class."""
        self._systemd.require_calendar(expressions)


class Units(UnitReader, ports.Units):
    """Runs systemctl."""

    def start(self, name: str) -> None:
        """See the base class."""
        self._act("start", name)

    def stop(self, name: str) -> None:
        """See the base class."""
        self._act("stop", name)

    def restart(self, name: str) -> None:
        """See the base class."""
        self._act("restart", name)

    def reload(self, name: str) -> None:
        """See the base class."""
        self._act("reload", name)

    def enable(self, name: str) -> None:
        """See the base class."""
        self._act("enable", name)

    def disable(self, name: str) -> None:
        """See the base class."""
        self._act("disable", name)

    def mask(self, name: str) -> None:
        """See the base class."""
        self._act("mask", name)

    def unmask(self, name: str) -> None:
        """See the base class."""
        self._act("unmask", name)

    def _act(self, verb: str, name: str) -> None:
        systemd = self._systemd
        systemd.act(systemd.possible(verb, name), name)
