"""Hosts whose packages come with dnf (target)."""

from remote_runtime.base import Properties
from remote_runtime.provider import Provider as BaseProvider


class Provider(BaseProvider):
    """dnf."""

    name = "dnf"
    priority = 2
    _is_there = False

    def unsupported_reason(self, properties: Properties) -> str:
        if not self._is_there:
            self._is_there = bool(self.context.commands.find("dnf"))
        return "" if self._is_there else "dnf is not installed"
