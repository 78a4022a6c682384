"""The ports for the kernel and for reboots (target). See ``ports`` for the common rules of all
ports.
"""

import os
from typing import TYPE_CHECKING, Callable, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.system.process.process_identity import boot

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.kernel.parameters import Kernel as Adapter
    from remote_runtime.system.kernel.sysctl_files import Setting


class KernelReader(object):
    """Reads the parameters and modules of the kernel, on the machine or on an overlay. A ``key`` is
    a path below /proc/sys."""

    def __init__(self, adapter: "Callable[[], Adapter]") -> None:
        self._find_adapter = adapter

    @property
    def _adapter(self) -> "Adapter":
        return self._find_adapter()

    def value(self, key: str) -> str:
        """The current value of a parameter. ``ResourceError`` for an unknown one."""
        value = self._adapter.value(key)
        if value is None:
            raise self._unknown(key)
        return value

    def is_known(self, key: str) -> bool:
        """Return whether the kernel has a parameter."""
        return self._adapter.value(key) is not None

    def is_loaded(self, module: str) -> bool:
        """Return whether the kernel has a module, loaded or built in."""
        return self._adapter.is_loaded(module)

    def settings(self, key: str) -> "Sequence[Setting]":
        """The settings of a parameter in all of sysctl's files, by path, in the order of the boot;
        the last one takes effect.
        """
        return self._adapter.settings(key)

    def require_loadable(self, module: str) -> None:
        """``ResourceError`` for a module that cannot be loaded here."""
        from remote_runtime.system.kernel import modules

        modules.require_loading(module)
        modules.require_there(module)

    def _unknown(self, key: str) -> ResourceError:
        from difflib import get_close_matches

        from remote_runtime.system.kernel.sysctl_files import name_of

        near = get_close_matches(os.path.basename(key), self._adapter.names_beside(key), 1)
        nearest = os.path.join(os.path.dirname(key), near[0]) if near else ""
        hint = "did you mean %s?" % name_of(nearest) if near else ""
        return ResourceError(
            "the kernel has no parameter %s" % name_of(key),
            kind="resource.sysctl.unknown",
            hint=hint
            or (
                "load the module that provides it in an earlier resource, or set "
                "ignore_unknown: true"
            ),
        )


class Kernel(KernelReader):
    """Reads and sets the parameters of the kernel, and loads modules."""

    def set_value(self, key: str, value: str) -> None:
        """Set a parameter to a value in the running kernel; files are not changed."""
        raise NotImplementedError

    def load(self, module: str) -> None:
        """Load a module and its dependencies, with the options of the host's files."""
        raise NotImplementedError

    def unload(self, module: str) -> None:
        """Unload an unused module, and the modules that only it needed."""
        raise NotImplementedError


class PlannedReboot(object):
    """In a preview: the first resource that would reboot the host, by its index and ID."""

    def __init__(self, context: "Context") -> None:
        self.index: Optional[int] = None
        self.by = ""


class RebootReader(object):
    """Knows the reboot of this run, of which there is at most one. In a preview, this is the first
    planned one.
    """

    def __init__(self, context: "Context") -> None:
        self._context = context

    def unsupported(self) -> str:
        """Return the reason why the host cannot be rebooted in a run, or ""."""
        return "" if boot() else "this system does not report its boot ID"

    def is_done(self) -> bool:
        """Return whether the run continues after the reboot that this resource requested."""
        done = self._context.boot
        return done is not None and done.cause == self._context.position

    def is_served(self, fired: bool) -> bool:
        """Return whether the reboot of an earlier resource also serves this one, whose trigger is a
        guard or a subscription that ``fired``. ``ResourceError`` if it was triggered after that
        reboot."""
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
        """Return whether a resource that triggers it runs after another resource."""
        return any(
            peer.index >= index and reference in (peer.id, "%s#%s" % (peer.type, peer.alias))
            for reference in self._context.fired
            for peer in self._context.peers(reference.partition("#")[0])
        )


class Reboots(RebootReader):
    """Reboots the host."""

    def reboot(self, timeout: str) -> None:
        """Reboot, which ends this process; the run continues afterwards. Does nothing if
        ``is_done``. ``timeout`` limits the time until the host is back, such as 10m.

        In a preview, units and everything that a boot creates are unknown afterwards.
        """
        raise NotImplementedError
