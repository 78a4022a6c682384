"""Services of systemd (target)."""

from typing import Optional, Sequence

from remote_runtime import provider
from remote_runtime.base import Properties
from remote_runtime.plan_item import Item
from remote_runtime.units import managed_unit_files
from remote_runtime.units.systemd import Systemd


class Provider(provider.Provider):
    """Uses systemd through the port for units."""

    _lacking: Optional[str] = None

    def unsupported_reason(self, properties: Properties) -> str:
        """Return the missing parts of systemd, or ""."""
        if self._lacking is None:
            systemd: Systemd = self.context.one(Systemd)
            self._lacking = systemd.lacking()
        return self._lacking

    def prepare(self, items: Sequence[Item]) -> None:
        """See the base class. Queries systemd for all units at once, and the manager of each user
        for its own units.
        """
        names = [managed_unit_files.full_of(item.name, item.properties) for item in items]
        self.context.one(Systemd).prepare([name for name in names if "/" not in name])
        theirs = [name for name in names if "/" in name]
        if theirs:
            from remote_runtime.units.user_systemd import UserManagers

            self.context.one(UserManagers).prepare(theirs)
