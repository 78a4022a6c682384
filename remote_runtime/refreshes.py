"""Which refreshes are due from runs before this one (target): of a run that remembers none.

``ledger`` is what remembers; a session's commands and what only looks at a host do without.
"""

from typing import Sequence

from remote_runtime.item import Item


class Refreshes(object):
    """What the engine asks and tells of subscriptions; here nothing is ever due."""

    @property
    def due(self) -> bool:
        """Whether any is left."""
        return False

    def since(self, item: Item) -> str:
        """The id of the run since which the resource is to be refreshed, before its turn; ""."""
        return ""

    def owed(self, item: Item) -> str:
        """The same, with what this run has brought about so far."""
        return ""

    def begin(self, item: Item) -> bool:
        """A resource is about to be changed; whether ``end`` is to be told how that went."""
        return False

    def end(self, changed: bool) -> None:
        """What has begun has returned."""

    def served(self, item: Item, fired: Sequence[str]) -> None:
        """The resource had a successful turn, for the references that ``fired`` in this run."""

    def released(self, item: Item) -> None:
        """The resource is not managed, and what it is made of neither: nothing of it is due."""

    def close(self) -> None:
        """The run is over."""
