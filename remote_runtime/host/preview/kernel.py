"""The kernel in a preview (target): changes are recorded."""

import os
from typing import Optional

from remote_runtime.effects import KernelEffect, UnknownEffect
from remote_runtime.host import kernel_ports
from remote_runtime.host.command_ports import CommandReader
from remote_runtime.host.machine.kernel import require_unloadable
from remote_runtime.host.preview.change_record import Record
from remote_runtime.overlay.kernel import MODULES
from remote_runtime.system.kernel import parameter_rules, parameters, sysctl_files
from remote_runtime.system.paths import is_within
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty


class Kernel(kernel_ports.Kernel):
    """Records changes; some refusals of the kernel are visible only when it is tried."""

    def __init__(self, record: Record, commands: CommandReader) -> None:
        super().__init__(lambda: record.overlay.kernel)
        self._record, self._commands = record, commands

    def set_value(self, key: str, value: str) -> None:
        """See the base class. Also plans dependent parameters, such as those of each network
        interface.
        """
        self._adapter.require_settable(key)
        if not parameter_rules.is_accepted(key, value):
            reason = "if the kernel accepts the value of %s" % sysctl_files.name_of(key)
            self._record.overlay.unknown_regions.suppose(Uncertainty(ASSUMED, reason))
        self._add(key, value)
        family = parameter_rules.family_of(key)
        interfaces = self._adapter.names_beside(family + "/all") if family else []
        for other, its in parameter_rules.dependent_parameters(key, value, interfaces).items():
            if os.path.exists(os.path.join(parameters.PROC, other)):
                self._add(other, its)

    def _add(self, key: str, value: Optional[str]) -> None:
        path = os.path.join(parameters.PROC, key)
        self._record.add(KernelEffect(path, value, by=self._record.by))

    def load(self, module: str) -> None:
        self.require_loadable(module)
        self._require_program()
        self._change(module, True)

    def unload(self, module: str) -> None:
        """See the base class. Refuses a module that is in use, unless an earlier resource
        loads it.
        """
        if (
            os.path.join(MODULES, module.replace("-", "_"))
            not in self._record.overlay.kernel.planned
        ):
            require_unloadable(module)
        self._require_program()
        self._change(module, False)

    def _require_program(self) -> None:
        self._commands.require("modprobe")

    def _change(self, module: str, present: bool) -> None:
        """Record the loading or unloading of a module, with its own parameters and devices."""
        by, doing = self._record.by, "loads" if present else "unloads"
        reason = "if the kernel %s the module %s" % (doing, module)
        self._record.overlay.unknown_regions.suppose(Uncertainty(ASSUMED, reason))

        def covers(kind: str, value: str, there: bool) -> bool:
            inside = any(is_within(value, top) for top in (parameters.PROC, "/sys", "/dev"))
            return kind == "path" and there != present and inside

        uncertainty = Uncertainty(UNKNOWN, "%s may %s it" % (by, "bring" if present else "remove"))
        path = os.path.join(MODULES, module.replace("-", "_"))
        self._record.add(UnknownEffect(uncertainty, covers, module))
        self._record.add(KernelEffect(path, None, present=present, by=by))
