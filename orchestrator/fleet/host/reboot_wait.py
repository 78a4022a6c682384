"""Waits for a host that reboots in the middle of its run (controller)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.host.host_task import InterruptedRunError
from orchestrator.fleet.outcome import TIMED_OUT
from remote_runtime.errors import ProtocolError, UnreachableError

RETRY_PAUSE = 2.0  # seconds between two attempts to log in
_ANOTHER_HOST = tuple(f"transport.host_key.{how}" for how in ("unknown", "changed", "revoked"))


class Reboot(NamedTuple):
    """A reboot of a host, which must be back within this number of seconds.

    ``earlier`` is the state of its run, which only the host itself reads.
    """

    timeout: float
    earlier: dict[str, Any]


def read_reboot(message: dict[str, Any], resources: int, longest: float) -> Reboot:
    """The message of a host before its reboot; ProtocolError.

    The controller waits no longer than the plan allows.
    """
    index, timeout, earlier = (message.get(key) for key in ("index", "timeout", "earlier"))
    if type(index) is not int or not 0 <= index < resources:
        raise ProtocolError("a reboot for a resource that is not in the plan")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise ProtocolError("a reboot without a time limit")
    if not isinstance(earlier, dict):
        raise ProtocolError("a reboot without the changes that were made")
    return Reboot(float(max(0.0, min(timeout, longest))), earlier)  # not every int fits a float


class RebootWait:
    """The wait for one host; ``boot`` is its boot ID before the reboot.

    ``call`` opens a link and greets, ``pause`` waits for a number of seconds or raises
    InterruptedRunError; ``until`` is the time at which the host times out, None for never.
    """

    def __init__(
        self,
        boot: str,
        *,
        call: Callable[[], tuple[FramedLink, HostFacts]],
        pause: Callable[[float], None],
        until: float | None,
    ) -> None:
        self._boot = boot
        self._call = call
        self._pause = pause
        self._until = until

    def wait(self, seconds: float) -> FramedLink:
        """The link to the host after its restart.

        UnreachableError if it is not back in time, or has a different host key.
        """
        end = time.monotonic() + seconds
        reason = ""
        while True:
            self._check(end, seconds, reason)
            self._pause(RETRY_PAUSE)
            try:
                link, gathered = self._call()
            except InterruptedRunError:
                raise
            except (UnreachableError, ProtocolError) as error:
                if error.kind in _ANOTHER_HOST:  # waiting does not help
                    raise
                reason = error.message
                continue
            if gathered.hello["boot"] not in ("", self._boot):
                return link
            reason = "the host responds but has not rebooted"
            link.send({"t": "bye"})
            link.close()

    def _check(self, end: float, seconds: float, reason: str) -> None:
        now = time.monotonic()
        if self._until is not None and now >= self._until:
            raise UnreachableError(
                "timed out during the reboot",
                kind=TIMED_OUT,
                hint="raise --timeout, then push again: completed resources are not repeated",
            )
        if now >= end:
            span = f"{seconds:.3g} s" if seconds < 60 else f"{seconds / 60:.3g} min"
            raise UnreachableError(
                f"not back within {span} of the reboot{reason and f': {reason}'}",
                kind="host.rebooted",
                hint="check its console, then push again: completed resources are not repeated",
            )
