"""Takes the host down (target)."""

import time
from typing import TYPE_CHECKING, List, Optional

from remote_runtime.base import Properties, Provider
from remote_runtime.cancellation import Cancelled, HostRebooting
from remote_runtime.errors import ResourceError
from remote_runtime.system.process.processes import boot

if TYPE_CHECKING:
    from remote_runtime.item import Item

_WAYS = (["systemctl", "reboot"], ["shutdown", "-r", "now"], ["reboot"])
_ASKING = 30.0  # seconds that one of them may take to say that it will
_TICK = 0.5


class Going(Provider):
    """Asks the system to reboot, and waits for that to end this run."""

    foreseen: "Optional[Item]" = None  # in a preview, what would have rebooted

    def unsupported_reason(self, properties: Properties) -> str:
        return super().unsupported_reason(properties) or (
            "" if boot() else "this system does not report its boot ID"
        )

    def reboot(self, seconds: float, span: str) -> None:
        """Does not return: ``HostRebooting`` once the run is ended by it.

        ``ResourceError`` where the host will not go, or is still there after ``seconds``; ``span``
        is how the user wrote those.
        """
        try:
            self._ask()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                self.context.sleep(_TICK)
        except Cancelled as cancelled:
            raise HostRebooting(str(cancelled)) from cancelled
        raise ResourceError(
            "the host did not shut down within %s" % span,
            kind="resource.reboot",
            hint="check what delays the shutdown with systemctl list-jobs, or raise timeout",
        )

    def _ask(self) -> None:
        refused: List[str] = []
        for argv in _WAYS:
            if not self.context.commands.find(argv[0]):
                continue
            result = self.context.commands.run(argv, timeout=_ASKING)
            if not result.code:
                return
            why = "it timed out" if result.timed_out else "exit code %d" % result.code
            refused.append("%s: %s" % (" ".join(argv), result.tail(1) or why))
        raise ResourceError(
            "cannot reboot the host: %s" % ("; ".join(refused) or "no program for a reboot found"),
            kind="resource.reboot",
            hint="log in as root, or use become",
        )
