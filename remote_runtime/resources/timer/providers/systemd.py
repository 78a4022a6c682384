"""Timers of systemd (target)."""

from typing import Sequence

from remote_runtime.base import Item
from remote_runtime.resources.service.providers import systemd
from remote_runtime.units.systemd import Systemd


class Provider(systemd.Provider):
    """As for services; one query answers for the timers, too."""

    def prepare(self, items: Sequence[Item]) -> None:
        """See the base class."""
        self.context.one(Systemd).prepare([item.name + ".timer" for item in items])
