"""The kernel in a preview (target): what is set is recorded."""

import os
from typing import Optional

from remote_runtime.effects import ASSUMED, KernelEffect, Uncertainty
from remote_runtime.host import ports
from remote_runtime.host.machine.kernel import KernelReader
from remote_runtime.host.overlay.record import Record
from remote_runtime.system.kernel import parameters, rules


class Kernel(KernelReader, ports.Kernel):
    """Records changes; what the kernel would refuse may be known only by trying."""

    def __init__(self, record: Record) -> None:
        super().__init__(lambda: record.world.kernel)
        self._record = record

    def set_value(self, key: str, value: str) -> None:
        """See the base class."""
        self._door.require_settable(key)
        if not rules.is_accepted(key, value):
            reason = "if the kernel accepts the value of %s" % key
            self._record.world.clouds.suppose(Uncertainty(ASSUMED, reason))
        self._add(key, value)
        family = rules.family_of(key)
        interfaces = self._door.names_beside(family + "/all") if family else []
        for other, its in rules.followers(key, value, interfaces).items():
            if os.path.exists(os.path.join(parameters.PROC, other)):
                self._add(other, its)

    def _add(self, key: str, value: Optional[str]) -> None:
        path = os.path.join(parameters.PROC, key)
        self._record.add(KernelEffect(path, value, by=self._record.by))
