"""Writes transaction events as JSON lines (controller): ``--events FILE|-``."""

from collections.abc import Callable

from orchestrator.fleet import events as run_events
from orchestrator.fleet.bus import Subscriber


class EventLines(Subscriber):
    """Subscriber that writes each complete transaction event as it arrives."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def handle(self, event: run_events.Event) -> None:
        """Write the lines of transaction events."""
        for _, line in run_events.transaction_events(event):
            self._write(line + "\n")
