"""What the service type asks of an init system (target)."""

from typing import NamedTuple, Optional, Sequence

from remote_runtime.base import Provider


class Status(NamedTuple):
    """One service as the init system sees it now.

    ``found`` is false where there is neither a definition nor a process. ``running`` is that of the
    document's table; ``stoppable`` also holds for a service on its way up or down. ``enabled`` is
    None where the service cannot be switched, ``either`` where both values are as good; with
    ``until_reboot`` what is enabled now is not at the next boot.
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

    def definition_paths(self, name: str) -> Sequence[str]:
        """The files that would define this service, were one of them there."""
        raise NotImplementedError

    def start(self, name: str) -> None:
        """Start it and return once it runs."""
        raise NotImplementedError

    def stop(self, name: str) -> None:
        """Stop it and return once it is stopped."""
        raise NotImplementedError

    def restart(self, name: str) -> None:
        """Stop and start it."""
        raise NotImplementedError

    def enable(self, name: str) -> None:
        """Have it started at boot."""
        raise NotImplementedError

    def disable(self, name: str) -> None:
        """Have it not started at boot."""
        raise NotImplementedError
