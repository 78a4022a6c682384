"""The port to reboots of the host (target): see ``ports``."""


class RebootReader(object):
    """Knows of the reboot of this run: there is one at most. In a preview that is the first one
    that is planned."""

    def unsupported(self) -> str:
        """Why the host cannot be rebooted in a run, or ""."""
        raise NotImplementedError

    def is_done(self) -> bool:
        """Whether the run goes on behind the reboot that this resource has asked for."""
        raise NotImplementedError

    def is_served(self, fired: bool) -> bool:
        """Whether the reboot of an earlier resource serves this one, whose trigger is a guard or a
        subscription that ``fired``. ``ResourceError`` if it was triggered behind that."""
        raise NotImplementedError


class Reboots(RebootReader):
    """Reboots the host."""

    def reboot(self, timeout: str) -> None:
        """Reboot, which ends this process; the run goes on behind that. Nothing is done where
        ``is_done``. ``timeout`` is what the host has to be back within, such as 10m.

        In a preview, units and what a boot makes anew are unknown from then on.
        """
        raise NotImplementedError
