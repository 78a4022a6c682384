"""Hosts whose packages are managed by apt or dnf (target)."""

from remote_runtime import provider
from remote_runtime.base import Properties
from remote_runtime.packages.dpkg.database import is_used

_PROGRAMS = {"apt": "apt-get", "dnf": "dnf"}
_AFTER_APT, _AFTER_DNF = 2, 3


class Provider(provider.Provider):
    """apt takes precedence over dnf, unless dpkg has no packages at all."""

    _is_there = _is_used = False

    @property
    def priority(self) -> int:  # type: ignore[override]  # it depends on the host
        if self.name == "dnf":
            return _AFTER_APT
        self._is_used = self._is_used or is_used()
        return provider.FIRST if self._is_used else _AFTER_DNF

    def unsupported_reason(self, properties: Properties) -> str:
        program = _PROGRAMS[self.name]
        self._is_there = self._is_there or bool(self.context.commands.find(program))
        return "" if self._is_there else "%s is not installed" % program
