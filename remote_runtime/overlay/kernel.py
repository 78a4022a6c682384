"""The predicted parameters of the kernel when a resource runs (target)."""

import os
from typing import TYPE_CHECKING, Dict, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import KernelEffect
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.kernel import parameters
from remote_runtime.system.kernel.parameters import Kernel
from remote_runtime.system.kernel.sysctl_files import Setting

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

MODULES = "/sys/module"  # where effects on modules are


class OverlayKernel(Kernel):
    """The kernel of the host with planned changes, by path."""

    def __init__(self, files: "Files", unknown_regions: UnknownRegions) -> None:
        super().__init__(files, lambda: 0)
        self._unknown_regions = unknown_regions
        self.planned: Dict[str, Tuple[KernelEffect, int]] = {}

    def value(self, key: str) -> Optional[str]:
        """See the base class. A planned value takes precedence. ``Unknowable`` if an earlier change
        leaves the value open.
        """
        path = os.path.join(parameters.PROC, key)
        effect, since = self.planned.get(path, (None, 0))
        there = os.path.exists(path) if effect is None else effect.present
        self._unknown_regions.record_read("path", path, there, since)
        if effect is None or not there:
            return super().value(key) if there else None
        if effect.value is None:
            raise Unknowable("the value of %s is not known until %s has run" % (path, effect.by))
        return effect.value

    def require_settable(self, key: str) -> None:
        if os.path.exists(os.path.join(parameters.PROC, key)):
            super().require_settable(key)

    def set_value(self, key: str, value: str) -> None:
        """Not called in a preview, which records an effect instead."""
        raise NotImplementedError("a preview sets nothing")

    def is_loaded(self, module: str) -> bool:
        """See the base class. A planned load or unload takes precedence; other changes make the
        answer uncertain.
        """
        path = "%s/%s" % (MODULES, module.replace("-", "_"))
        effect, since = self.planned.get(path, (None, 0))
        is_present = super().is_loaded(module) if effect is None else effect.present
        self._unknown_regions.record_read("path", path, is_present, since)
        return is_present

    def settings(self, key: str) -> Sequence[Setting]:
        return self.read_settings().get(key, [])
