"""Takes the host down (target)."""

import time
from typing import TYPE_CHECKING, List, Optional

from remote_runtime.cancellation import Cancelled, HostRebooting
from remote_runtime.errors import ResourceError
from remote_runtime.host import kernel_ports
from remote_runtime.system.process.processes import boot
from remote_runtime.text import duration

if TYPE_CHECKING:
    from remote_runtime.context import Context

_WAYS = (["systemctl", "reboot"], ["shutdown", "-r", "now"], ["reboot"])
_ASKING = 30.0  # seconds that one of them may take to say that it will
_TICK = 0.5


class PlannedReboot(object):
    """In a preview: the resource that would reboot the host first, by its index and ID."""

    def __init__(self, context: "Context") -> None:
        self.index: Optional[int] = None
        self.by = ""


class RebootReader(kernel_ports.RebootReader):
    """Knows what of the run came before its reboot."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def unsupported(self) -> str:
        """See the base class."""
        return "" if boot() else "this system does not report its boot ID"

    def is_done(self) -> bool:
        """See the base class."""
        done = self._context.boot
        return done is not None and done.cause == self._context.position

    def is_served(self, fired: bool) -> bool:
        """See the base class."""
        context = self._context
        done, planned = context.boot, context.one(PlannedReboot)
        if self.is_done():
            return False
        if done is not None:
            if fired and done.knows(context.fired):
                return True
        elif planned.index is None:
            return False
        else:
            context.suppose("%s would have rebooted the host first" % planned.by)
            if not self._has_fired_behind(planned.index):
                return True
        raise ResourceError(
            "the host was already rebooted in this run, and this reboot was triggered later",
            kind="resource.reboot",
            hint="push again",
        )

    def _has_fired_behind(self, index: int) -> bool:
        """Whether something that fires it has its turn behind that of another."""
        return any(
            peer.index >= index and reference in (peer.id, "%s#%s" % (peer.type, peer.alias))
            for reference in self._context.fired
            for peer in self._context.peers(reference.partition("#")[0])
        )


class Reboots(RebootReader, kernel_ports.Reboots):
    """Asks the system to reboot, and waits for that to end this run."""

    def reboot(self, timeout: str) -> None:
        """See the base class. ``HostRebooting`` once the run is ended by it; ``ResourceError``
        where the host will not go, or is still there after the time."""
        if self.is_done():
            return
        seconds = duration.parse(timeout)
        self._context.progress("rebooting")
        self._context.depart(seconds)
        try:
            self._ask()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self._context.sleep(_TICK)
        except Cancelled as cancelled:
            raise HostRebooting(str(cancelled)) from cancelled
        raise ResourceError(
            "the host did not shut down within %s" % timeout,
            kind="resource.reboot",
            hint="check what delays the shutdown with systemctl list-jobs, or raise timeout",
        )

    def _ask(self) -> None:
        refused: List[str] = []
        for argv in _WAYS:
            if not self._context.commands.find(argv[0]):
                continue
            result = self._context.commands.run(argv, timeout=_ASKING)
            if not result.code:
                return
            why = "it timed out" if result.timed_out else "exit code %d" % result.code
            refused.append("%s: %s" % (" ".join(argv), result.tail(1) or why))
        raise ResourceError(
            "cannot reboot the host: %s" % ("; ".join(refused) or "no program for a reboot found"),
            kind="resource.reboot",
            hint="log in as root, or use become",
        )
