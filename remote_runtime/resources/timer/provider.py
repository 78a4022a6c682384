"""systemd timers (target)."""

from typing import Sequence

from remote_runtime.plan_item import Item
from remote_runtime.resources.service import provider
from remote_runtime.units.systemd import Systemd


class Provider(provider.Provider):
    """Like that of services; one query also covers the timers and their services."""

    def prepare(self, items: Sequence[Item]) -> None:
        units = [item.name + suffix for item in items for suffix in (".timer", ".service")]
        self.context.one(Systemd).prepare(units)
