"""Writes transaction events as JSON lines (controller): ``--events FILE|-``."""

from collections.abc import Callable

from orchestrator.fleet import events as happening
from orchestrator.fleet.bus import Subscriber


class EventLines(Subscriber):
    """Subscriber that writes each complete transaction event as it arrives."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def handle(self, event: happening.Event) -> None:
        """Write the lines of transaction events."""
        for _, line in happening.transaction_events(event):
            self._write(line + "\n")
