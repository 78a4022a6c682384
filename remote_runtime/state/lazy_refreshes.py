"""Pending refreshes of earlier runs (target): for a run that stores none.

``pending_refreshes`` stores them. Commands of a session and runs that only read do not need it. If
none is pending, it is needed only before the first change.
"""

from typing import Callable, Sequence

from remote_runtime.plan_item import Item


class Refreshes(object):
    """The engine's interface to pending refreshes; in this class, there are none."""

    @property
    def due(self) -> bool:
        """Whether any refresh is pending."""
        return False

    def opened(self) -> "Refreshes":
        """Return the ledger that takes over before something is changed."""
        return self

    def since(self, item: Item) -> str:
        """The ID of the run since which the resource must be refreshed, before it runs; "" for
        none.
        """
        return ""

    def owed(self, item: Item) -> str:
        """The same, including the changes of this run."""
        return ""

    def owes_itself(self, item: Item) -> bool:
        """Return whether an earlier run changed the resource without the refresh that it needs."""
        return False

    def begin(self, item: Item, itself: bool = False) -> bool:
        """Record that a resource is about to be changed; return whether ``end`` must report the
        result. ``itself``: it must also be refreshed.
        """
        return False

    def end(self, changed: bool) -> None:
        """Record that the change has ended."""

    def announce(self, items: Sequence[Item]) -> Callable[[Item], None]:
        """Record that several resources are about to be changed before they run; the returned
        function must be called with each one that was not changed.
        """
        return lambda item: None

    def served(self, item: Item, fired: Sequence[str]) -> None:
        """Record that the resource succeeded, for the references that ``fired`` in this run."""

    def released(self, item: Item) -> None:
        """Record that neither the resource nor its children are managed, so none of its refreshes
        is pending.
        """

    def close(self) -> None:
        """End the run."""


class LazyRefreshes(Refreshes):
    """For a run without pending refreshes: ``remember`` creates the ledger before the first change.
    A run that changes nothing needs none."""

    def __init__(self, remember: Callable[[], Refreshes]) -> None:
        self._remember = remember

    def opened(self) -> Refreshes:
        return self._remember()
