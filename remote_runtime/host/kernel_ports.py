"""The ports to the kernel and to reboots (target). See ``ports`` for what all have in common."""

from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from remote_runtime.system.kernel.settings import Setting


class KernelReader(object):
    """Reads the parameters and modules of the kernel. A ``key`` is a path below /proc/sys."""

    def value(self, key: str) -> str:
        """The value that a parameter has now. ``ResourceError`` for an unknown one."""
        raise NotImplementedError

    def is_known(self, key: str) -> bool:
        """Whether the kernel has a parameter."""
        raise NotImplementedError

    def is_loaded(self, module: str) -> bool:
        """Whether the kernel has a module, loaded or built in."""
        raise NotImplementedError

    def settings(self) -> "Sequence[Setting]":
        """The settings of all files for sysctl, in the order of a start: the last one wins."""
        raise NotImplementedError


class Kernel(KernelReader):
    """Reads and sets the parameters of the kernel, and loads modules."""

    def set_value(self, key: str, value: str) -> None:
        """Give a parameter a value now; files are not changed."""
        raise NotImplementedError

    def load(self, module: str) -> None:
        """Load a module with those that it needs, with the options of the host's files."""
        raise NotImplementedError

    def unload(self, module: str) -> None:
        """Unload a module that nothing uses, and those that only it needed."""
        raise NotImplementedError


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
