"""Whether and how a host can have resources of a type (target)."""

from typing import TYPE_CHECKING, Sequence

from remote_runtime.item import Item, Properties

if TYPE_CHECKING:
    from remote_runtime.context import Context

FIRST = 1


class Provider(object):
    """One way to manage a type on a kind of system; one instance serves a whole run. This class is
    that of types without ways of their own: the ports of the host.

    ``priority``: among the providers that can manage a host the smallest number wins; 1 is the
    smallest there is.
    """

    name = "posix"
    priority = FIRST

    def __init__(self, context: "Context") -> None:
        self.context = context

    def unsupported_reason(self, properties: Properties) -> str:
        """Return why this provider cannot manage the resource on this host, or ""."""
        return ""

    def prepare(self, items: Sequence[Item]) -> None:
        """Told once, before the first resource of the type, all items that it may get."""
