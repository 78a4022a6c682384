"""Reboots the host (target)."""

import time
from typing import List

from remote_runtime.cancellation import Cancelled, HostRebooting
from remote_runtime.errors import ResourceError
from remote_runtime.host import kernel_ports
from remote_runtime.text import duration

_WAYS = (["systemctl", "reboot"], ["shutdown", "-r", "now"], ["reboot"])
_ASKING = 30.0  # seconds that one of them may take to say that it will
_TICK = 0.5


class Reboots(kernel_ports.Reboots):
    """Requests a reboot from the system, and waits until the reboot ends this run."""

    def reboot(self, timeout: str) -> None:
        """See the base class. ``HostRebooting`` when the reboot ends the run; ``ResourceError`` if
        the host refuses, or is still running after the time limit.
        """
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
            reason = "it timed out" if result.timed_out else "exit code %d" % result.code
            refused.append("%s: %s" % (" ".join(argv), result.tail(1) or reason))
        raise ResourceError(
            "cannot reboot the host: %s"
            % ("; ".join(refused) or "found no program to reboot the host"),
            kind="resource.reboot",
            hint="log in as root, or use become",
        )
