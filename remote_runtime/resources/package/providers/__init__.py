"""One module per package manager."""

from typing import Any, Sequence

from remote_runtime import base
from remote_runtime.base import Item, Properties


class Provider(base.Provider):
    """Tells whether the package manager of this name can manage a package on the host."""

    def __init__(self, context: Any) -> None:
        from remote_runtime.packages.managers import manager_of

        super().__init__(context)
        self.manager = manager_of(context, self.name)
        self.priority = self.manager.priority

    def unsupported_reason(self, properties: Properties) -> str:
        """See the base class."""
        return self.manager.unsupported_reason(properties)

    def prepare(self, items: Sequence[Item]) -> None:
        """See the base class."""
        self.manager.prepare(items)
