"""Decides whether and how a host can manage resources of a type (target)."""

from typing import TYPE_CHECKING, Sequence

from remote_runtime.plan_item import Item, Properties

if TYPE_CHECKING:
    from remote_runtime.context import Context

FIRST = 1


class Provider(object):
    """One way to manage a type on a kind of system; one instance serves a whole run. This class is
    for types without their own providers: they use the ports of the host.

    ``priority``: of the providers that can manage a host, the one with the smallest number wins; 1
    is the smallest number. ``name`` is the one that the type lists.
    """

    priority = FIRST

    def __init__(self, context: "Context", name: str = "posix") -> None:
        self.context, self.name = context, name

    def unsupported_reason(self, properties: Properties) -> str:
        """Return why this provider cannot manage the resource on this host, or ""."""
        return ""

    def prepare(self, items: Sequence[Item]) -> None:
        """Prepare the provider; called once, before the first resource of the type, with all items
        of the provider.
        """
