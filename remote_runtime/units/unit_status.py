"""The current state of a unit, and its possible actions (target)."""

from typing import NamedTuple, Optional

START, STOP, RESTART, RELOAD = "start", "stop", "restart", "reload"
ENABLE, DISABLE, MASK, UNMASK = "enable", "disable", "mask", "unmask"
NOT_MASKABLE = (
    "systemd cannot mask a unit whose file is in /etc; omit masked, or remove that file in an "
    "earlier resource"
)
ENDS = "it has type oneshot without RemainAfterExit=yes, so it does not stay active"


class Status(NamedTuple):
    """One service in the current state of the init system.

    ``found`` is false if there is neither a definition nor a process. ``running`` is as in the
    table of the document; ``stoppable`` is also true for a service that is starting or stopping.
    ``enabled`` is None if the service cannot be enabled or disabled, ``either`` if both values are
    equivalent; with ``until_reboot``, the unit is enabled or masked only until the next boot.
    ``failure`` is the reason why the definition cannot be used, ``ends_by_itself`` means that it
    cannot keep running, and ``reloads`` that it can read its configuration again while it runs.
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
        """Return whether the boot configuration is in the desired state."""
        return self.either or (self.enabled is wanted and not (wanted and self.until_reboot))
