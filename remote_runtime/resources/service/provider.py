"""What the service type asks of an init system (target)."""

from typing import NamedTuple, Optional, Sequence

from remote_runtime.base import Effect, Provider

START, STOP, RESTART, ENABLE, DISABLE = "start", "stop", "restart", "enable", "disable"
ENDS = "it has type oneshot without RemainAfterExit=yes, so it does not stay active"


class Status(NamedTuple):
    """One service as the init system sees it now.

    ``found`` is false where there is neither a definition nor a process. ``running`` is that of the
    document's table; ``stoppable`` also holds for a service on its way up or down. ``enabled`` is
    None where the service cannot be switched, ``either`` where both values are as good; with
    ``until_reboot`` what is enabled or masked now is not at the next boot.
    ``failure`` says why the definition cannot be used, ``ends_by_itself`` that running is not a
    state that it can be in for long.
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
    words: str = ""  # the init system's own, for people

    def enable_satisfied(self, wanted: bool) -> bool:
        """Whether the boot configuration is as wanted."""
        return self.either or (self.enabled is wanted and not (wanted and self.until_reboot))


class ServiceProvider(Provider):
    """An init system. Every method may raise ``ResourceError``."""

    def status(self, name: str) -> Status:
        """The state of one service. One query answers it for all services of the plan."""
        raise NotImplementedError

    def act(self, verb: str, name: str) -> None:
        """``START``, ``STOP`` or ``RESTART`` it and return once it is so; ``ENABLE`` it to be
        started at boot, or ``DISABLE`` that."""
        raise NotImplementedError

    def leaning(self, name: str) -> Sequence[str]:
        """In a preview: the full names of those that decide whether this one runs."""
        return ()

    def rehearse(self, verb: str, name: str) -> None:
        """In a preview: fail as ``act`` certainly would, and do nothing else."""
        raise NotImplementedError

    def consequences(self, verb: str, name: str) -> Sequence[Effect]:
        """What ``act`` would leave on the target, the services that it takes along included; told
        in a preview only."""
        raise NotImplementedError

    def unfinished(self, verb: str, name: str, effects: Sequence[Effect]) -> Sequence[Effect]:
        """What of the consequences may have come where the action fails; in a preview only."""
        raise NotImplementedError
