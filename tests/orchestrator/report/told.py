"""A run that is told event by event to what shows it."""

import io
import json
from collections.abc import Iterable
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.report.run_collector import RunCollector
from orchestrator.report.terminal.progress_lines import Lines
from orchestrator.report.terminal.resource_rows import DetailLevel
from orchestrator.report.terminal.style import Style
from orchestrator.report.terminal.summary import Summary
from tests.orchestrator.fleet.fakes import make_event

CREATED = {"what": "ensure", "from": "absent", "to": "present"}
DIFF = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n"


class Told:
    """Plays a run to subscribers."""

    def __init__(
        self, *hosts: str, noop: bool = False, verbose: bool = False, outputs: bool = False
    ) -> None:
        self.noop = noop
        self.collected = RunCollector(verbose, outputs)
        self.out = io.StringIO()
        self._lines = Lines(self.out)
        self._tallies = {host: Tally() for host in hosts}
        self._reported: set[tuple[str, str]] = set()
        self._tell(run_events.RunStarted("run-1", 100.0, hosts, noop))

    def _tell(self, event: run_events.Event) -> None:
        self.collected.handle(event)
        self._lines.handle(event)

    def event(self, host: str, name: str, status: str = "stable", **members: Any) -> None:
        event = {**make_event(name=name, status=status, **members), "host": host}
        self._tallies[host].add(event, again=(host, name) in self._reported)
        self._reported.add((host, name))
        self._tell(run_events.ResourceEvent(host, event, json.dumps(event)))

    def plan(self, *hosts: str, names: Iterable[str], **subscribed: str) -> None:
        """``subscribed``: by the name of a file, the one that it subscribes to."""
        planned = tuple(f"file#{name}" for name in names)
        pairs = tuple((f"file#/{one}", (f"file#/{other}",)) for one, other in subscribed.items())
        for host in hosts:
            self._tell(run_events.HostPlanned(host, planned, pairs))

    def planned(self, planned: run_events.HostPlanned) -> None:
        """A whole plan."""
        self._tell(planned)

    def end(self, host: str, outcome: str = "ok", **members: Any) -> None:
        result = HostResult(host, self._tallies[host], outcome, **members)
        self._tell(run_events.HostFinished(result))

    def summary(self, width: int = 100, **choice: bool) -> str:
        self._tell(run_events.RunFinished(103.5, False))
        choice.setdefault("diffs", self.noop)
        lines = Summary(self.collected, Style(False, width), DetailLevel(**choice)).lines("run-1")
        return "\n".join(lines)


def changed(name: str, diff: str = "") -> dict[str, Any]:
    change = {"what": "content", "from": "a" * 64, "to": "b" * 64}
    return {"name": name, "status": "changed", "changes": [{**change, "diff": diff}]}
