"""Writes transaction events as JSON lines (controller): ``--events FILE|-``."""

from collections.abc import Callable

from orchestrator.fleet import events as happening


class EventLines:
    """Subscriber that writes each transaction event as it arrives, whole."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def handle(self, event: happening.Event) -> None:
        """Write an event's line."""
        if isinstance(event, happening.ResourceEvent):
            self._write(event.line + "\n")

    def close(self) -> None:
        """Nothing to give back."""
