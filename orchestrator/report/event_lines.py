"""Writes transaction events as JSON lines (controller): ``--events FILE|-``."""

from typing import TextIO

from orchestrator.fleet import events as happening


class EventLines:
    """Subscriber that writes each transaction event, with host and run_id, as it arrives."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def handle(self, event: happening.Event) -> None:
        """Write an event's line; whole lines reach the file when a host has ended."""
        if isinstance(event, happening.ResourceEvent):
            self._out.write(event.line + "\n")
        elif isinstance(event, happening.HostFinished):
            self._out.flush()

    def close(self) -> None:
        """Write out what is buffered; the stream stays open."""
        self._out.flush()
