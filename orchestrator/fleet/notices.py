"""Messages about one host (controller)."""

from orchestrator.fleet import events as run_events
from orchestrator.fleet.bus import Bus

MAX_NOTICES = 200  # warnings and errors of one host; they are stored for the summary
MAX_LINES = 2_000  # other messages, such as the output of commands; only shown


class Notices:
    """Publishes a limited number of messages about one host."""

    def __init__(self, host: str, bus: Bus) -> None:
        self.host = host
        self.bus = bus
        self._notices = 0
        self._lines = 0

    def say(self, level: str, text: str) -> None:
        """Publish one line; ``level`` is info, waiting, warning or error."""
        waits = level == "waiting"
        if waits or level == "info":
            level = "info"
            self._lines += 1
            count, maximum, words = self._lines, MAX_LINES, "lines of output"
        else:
            self._notices += 1
            count, maximum, words = self._notices, MAX_NOTICES, "messages"
        if count == maximum:
            level, text = "warning", f"more than {maximum} {words}; the rest is omitted"
        if count <= maximum:
            self.bus.publish(run_events.HostNotice(self.host, level, text, waits))
