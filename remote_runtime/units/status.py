"""The current state of a unit, and its possible actions (target)."""

from typing import NamedTuple, Optional

START, STOP, RESTART, RELOAD = "start", "stop", "restart", "reload"
ENABLE, DISABLE, MASK, UNMASK = "enable", "disable", "mask", "unmask"
ENDS = "it has type oneshot without RemainAfterExit=yes, so it does not stay active"


class Status(NamedTuple):
    """One service as the init system sees it now.

    ``found`` is false where there is neither a definition nor a process. ``running`` is that of the
    document's table; ``stoppable`` also holds for a service on its way up or down. ``enabled`` is
    None if the service cannot be switched, ``either`` where both values are as good; with
    ``until_reboot`` what is enabled or masked now is not at the next boot. ``failure`` says why the
    definition cannot be used, ``ends_by_itself`` that running is not a state that it can be in for
    long, ``reloads`` that it can read its configuration again while it runs.
    """

    found: bool
    running: bool = False
    stoppable: bool = False
    enabled: Optional[bool] = None
    either: bool = False
    until_reboot: bool = False
    masked: bool = False
    failure: str = ""
    ends_by_itself: bool = False
    reloads: bool = False
    words: str = ""  # the init system's own, for people

    def enable_satisfied(self, wanted: bool) -> bool:
        """Return whether the boot configuration is in the wanted state."""
        return self.either or (self.enabled is wanted and not (wanted and self.until_reboot))
