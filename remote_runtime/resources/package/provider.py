"""Finds out whether a package manager can manage a package on the host (target)."""

from typing import Any, Sequence

from remote_runtime import provider
from remote_runtime.base import Properties
from remote_runtime.packages.package_info import PLACES
from remote_runtime.plan_item import Item


class Provider(provider.Provider):
    """The port to packages asks the package manager with this name."""

    def __init__(self, context: Any, name: str) -> None:
        from remote_runtime.packages.managers import manager_of

        super().__init__(context, name)
        self.manager = manager_of(context, name)
        self.priority = self.manager.priority
        self._manages = False  # packages of the system, as far as known

    def unsupported_reason(self, properties: Properties) -> str:
        """See the base class. Queries the package manager once for all packages of the system."""
        of_system = not any(map(properties.get, PLACES))
        if of_system and self._manages:
            return ""
        reason = self.manager.unsupported_reason(properties)
        self._manages = of_system and not reason
        return reason

    def prepare(self, items: Sequence[Item]) -> None:
        self.manager.prepare(items)
