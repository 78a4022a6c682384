"""The kernel of the machine (target)."""

import os
from typing import TYPE_CHECKING, Callable, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import kernel_ports

if TYPE_CHECKING:
    from remote_runtime.host.machine.commands import Commands
    from remote_runtime.system.kernel.parameters import Kernel as Door
    from remote_runtime.system.kernel.settings import Setting


class KernelReader(kernel_ports.KernelReader):
    """Reads through the door to the kernel: the machine's own, or that of an overlay."""

    def __init__(self, door: "Callable[[], Door]") -> None:
        self._find_door = door

    @property
    def _door(self) -> "Door":
        return self._find_door()

    def value(self, key: str) -> str:
        """See the base class."""
        found = self._door.value(key)
        if found is None:
            raise self._unknown(key)
        return found

    def is_known(self, key: str) -> bool:
        """See the base class."""
        return self._door.value(key) is not None

    def is_loaded(self, module: str) -> bool:
        """See the base class."""
        return self._door.is_loaded(module)

    def settings(self) -> "Sequence[Setting]":
        """See the base class."""
        return self._door.settings()

    def _unknown(self, key: str) -> ResourceError:
        from difflib import get_close_matches

        from remote_runtime.system.kernel.settings import name_of

        near = get_close_matches(os.path.basename(key), self._door.names_beside(key), 1)
        nearest = os.path.join(os.path.dirname(key), near[0]) if near else ""
        hint = "did you mean %s?" % name_of(nearest) if near else ""
        return ResourceError(
            "the kernel has no parameter %s" % name_of(key),
            kind="resource.sysctl.unknown",
            hint=hint
            or "load the module that has it in an earlier resource, or set ignore_unknown: true",
        )


class Kernel(KernelReader, kernel_ports.Kernel):
    """Sets the parameters of the machine, and runs its programs for modules."""

    def __init__(self, door: "Callable[[], Door]", commands: "Commands") -> None:
        super().__init__(door)
        self._commands = commands

    def set_value(self, key: str, value: str) -> None:
        """See the base class."""
        self._door.require_settable(key)
        self._door.set_value(key, value)

    def load(self, module: str) -> None:
        """See the base class."""
        require_loadable(module)
        self._run("modprobe", module)

    def unload(self, module: str) -> None:
        """See the base class."""
        require_unloadable(module)
        self._run("modprobe", "-r", module)

    def _run(self, *words: str) -> None:
        try:
            self._commands.run(words)
        except ResourceError as error:
            lines = error.output.strip().splitlines()
            message = "%s: %s" % (error.message, lines[0]) if lines else error.message
            raise ResourceError(message, error.kind, error.hint, error.output) from error


def require_loadable(module: str) -> None:
    """``ResourceError`` for a module that cannot be loaded here."""
    from remote_runtime.system.kernel import modules

    modules.require_loading(module)
    modules.require_there(module)


def require_unloadable(module: str) -> None:
    """``ResourceError`` for a module that cannot be unloaded here."""
    from remote_runtime.system.kernel import modules

    found = modules.loaded().get(modules.plain(module))
    if found is None:
        raise ResourceError(
            "the module %s is built into the kernel, and cannot be unloaded" % module,
            kind="resource.module",
            hint="set live: false, or use another kernel",
        )
    modules.require_loading(module)
    modules.require_unused(module, found)
