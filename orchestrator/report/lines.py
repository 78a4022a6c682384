"""Plain progress lines, for logs and pipes (controller)."""

from typing import TextIO

from orchestrator.fleet import events as happening
from orchestrator.report.wording import host_line
from orchestrator.support.plain_text import one_line


class Lines:
    """Subscriber that writes a line for each host that ends, and for what needs attention before.

    ``verbose`` adds a line for each phase and each resource that is not stable.
    """

    def __init__(self, out: TextIO, verbose: bool = False) -> None:
        self._out = out
        self._verbose = verbose
        self._noop = False
        self._hosts = 0
        self._ended = 0

    def handle(self, event: happening.Event) -> None:
        """Write what there is to say."""
        if isinstance(event, happening.ResourceEvent):
            self._resource(event)
        elif isinstance(event, happening.HostFinished):
            self._ended += 1
            count = f"[{self._ended}/{self._hosts}]"
            self._say(f"{count} {event.result.host}: {host_line(event.result, self._noop)}")
        elif isinstance(event, happening.HostNotice):
            if self._verbose or event.level == "info":
                self._say(f"{event.host}: {event.text}")
        elif isinstance(event, happening.HostPhase):
            if self._verbose:
                self._say(f"{event.host}: {event.phase.words}")
        elif isinstance(event, happening.RunStarted):
            self._noop = event.noop
            self._hosts = len(event.hosts)

    def _resource(self, event: happening.ResourceEvent) -> None:
        told = event.event
        status = told["status"]
        if status == "failed" or (self._verbose and status != "stable"):
            reason = told["error"][0] if told["error"] else told.get("noop_message", "")
            name = f"{told['type']}#{told['name']}"
            self._say(
                f"{event.host}: {status} {one_line(name)}{reason and ': ' + one_line(reason)}"
            )

    def _say(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()

    def close(self) -> None:
        """Nothing to give back."""
