"""Hosts whose packages come with dnf (target)."""

from remote_runtime.base import Properties
from remote_runtime.base import Provider as BaseProvider


class Provider(BaseProvider):
    """dnf."""

    name = "dnf"
    priority = 2

    def unsupported_reason(self, properties: Properties) -> str:
        """See the base class."""
        return "" if self.context.commands.find("dnf") else "dnf is not installed"
