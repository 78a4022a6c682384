"""The kernel of the machine (target)."""

import os
from typing import TYPE_CHECKING, Callable, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import ports

if TYPE_CHECKING:
    from remote_runtime.system.kernel.parameters import Kernel as Door
    from remote_runtime.system.kernel.settings import Setting


class KernelReader(ports.KernelReader):
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

    def settings(self) -> "Sequence[Setting]":
        """See the base class."""
        return self._door.settings()

    def _unknown(self, key: str) -> ResourceError:
        from difflib import get_close_matches

        near = get_close_matches(os.path.basename(key), self._door.names_beside(key), 1)
        hint = "did you mean %s?" % os.path.join(os.path.dirname(key), near[0]) if near else ""
        return ResourceError(
            "the kernel has no parameter %s" % key,
            kind="resource.sysctl.unknown",
            hint=hint
            or "load the module that has it in an earlier resource, or set ignore_unknown: true",
        )


class Kernel(KernelReader, ports.Kernel):
    """Sets the parameters of the machine."""

    def set_value(self, key: str, value: str) -> None:
        """See the base class."""
        self._door.require_settable(key)
        self._door.set_value(key, value)
