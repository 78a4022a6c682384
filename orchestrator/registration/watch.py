"""Watches registrations for changes (controller)."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from orchestrator.registration.entry import Registration

REGISTERED, UPDATED, REMOVED, EXPIRED = "registered", "updated", "removed", "expired"


class EntryChange(NamedTuple):
    """An entry and its change: ``what`` is one of the words above."""

    what: str
    entry: Registration

    def payload(self) -> dict[str, Any]:
        """The change as a JSON object."""
        return {"action": self.what, "entry": self.entry.payload()}


def watch(
    look: Callable[[], list[Registration]], pause: Callable[[], None], clock: Callable[[], float]
) -> Iterator[EntryChange]:
    """Yield all entries of ``look``, then the differences after each ``pause``, endlessly.

    Entries that appear and disappear within a pause are not seen.
    """
    known: dict[str, Registration] = {}
    while True:
        found = {entry.subject: entry for entry in look()}
        for subject, entry in known.items():
            if subject not in found:
                yield EntryChange(REMOVED if entry.is_valid(clock()) else EXPIRED, entry)
        for subject, entry in found.items():
            if known.get(subject) != entry:
                yield EntryChange(UPDATED if subject in known else REGISTERED, entry)
        known = found
        pause()
