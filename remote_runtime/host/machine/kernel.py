"""The kernel of the machine (target)."""

from typing import TYPE_CHECKING, Callable

from remote_runtime.errors import ResourceError
from remote_runtime.host import kernel_ports

if TYPE_CHECKING:
    from remote_runtime.host.machine.commands import Commands
    from remote_runtime.system.kernel.parameters import Kernel as Adapter


class Kernel(kernel_ports.Kernel):
    """Sets the parameters of the machine, and runs its programs for modules."""

    def __init__(self, adapter: "Callable[[], Adapter]", commands: "Commands") -> None:
        super().__init__(adapter)
        self._commands = commands

    def set_value(self, key: str, value: str) -> None:
        self._adapter.require_settable(key)
        self._adapter.set_value(key, value)

    def load(self, module: str) -> None:
        self.require_loadable(module)
        self._run("modprobe", module)

    def unload(self, module: str) -> None:
        require_unloadable(module)
        self._run("modprobe", "-r", module)

    def _run(self, *words: str) -> None:
        try:
            self._commands.run(words)
        except ResourceError as error:
            lines = error.output.strip().splitlines()
            message = "%s: %s" % (error.message, lines[0]) if lines else error.message
            raise ResourceError(message, error.kind, error.hint, error.output) from error


def require_unloadable(module: str) -> None:
    """``ResourceError`` for a module that cannot be unloaded here."""
    from remote_runtime.system.kernel import modules

    loaded_module = modules.loaded().get(modules.plain(module))
    if loaded_module is None:
        raise ResourceError(
            "the module %s is built into the kernel, and cannot be unloaded" % module,
            kind="resource.module",
            hint="set live: false, or use another kernel",
        )
    modules.require_loading(module)
    modules.require_unused(module, loaded_module)
