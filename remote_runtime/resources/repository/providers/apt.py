"""Hosts whose packages come with apt (target)."""

from remote_runtime.base import Properties
from remote_runtime.packages.dpkg.database import is_used
from remote_runtime.provider import Provider as BaseProvider

_AFTER_DNF = 3


class Provider(BaseProvider):
    """apt; it comes before dnf, except where dpkg has no package at all."""

    name = "apt"
    program = "apt-get"
    _is_there = _is_used = False

    @property
    def priority(self) -> int:  # type: ignore[override]  # it depends on the host
        self._is_used = self._is_used or is_used()
        return 1 if self._is_used else _AFTER_DNF

    def unsupported_reason(self, properties: Properties) -> str:
        if not self._is_there:
            self._is_there = bool(self.context.commands.find(self.program))
        return "" if self._is_there else "%s is not installed" % self.program
