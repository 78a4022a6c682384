"""The result of a session of ``ccm ensure`` commands (controller)."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, TextIO

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import FAILED, OK, HostResult, Tally
from orchestrator.report.matrix import NANOSECOND, seconds_of

if TYPE_CHECKING:
    from orchestrator.fleet.store.session_store import EventStore

PROTOCOL = "io.choria.ccm.v1.session"


class SessionReport:
    """The events of a store, read once. InputError for a damaged event."""

    def __init__(self, store: EventStore) -> None:
        self._path = store.path
        self._events = list(store.lines())
        self._tallies: dict[str, Tally] = {}
        self._seconds: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()
        self.failed = store.failed()
        self.start, self.end = 0.0, 0.0
        for event, _ in self._events:
            self._add(event)

    def _add(self, event: dict[str, Any]) -> None:
        host, resource = event["host"], f"{event['type']}#{event['name']}"
        again = (host, resource) in self._seen
        self._seen.add((host, resource))
        self._tallies.setdefault(host, Tally()).add(event, again=again)
        self._seconds[host] += event["duration"] * NANOSECOND
        ended = seconds_of(event["timestamp"])
        began = max(0.0, ended - event["duration"] * NANOSECOND)
        self.start = min(self.start or began, began)
        self.end = max(self.end, ended)

    def _results(self) -> list[HostResult]:
        return [
            HostResult(
                host,
                tally,
                outcome=FAILED if tally.failed or tally.unmet else OK,
                seconds=self._seconds[host],
            )
            for host, tally in self._tallies.items()
        ]

    def write_summary(self, out: TextIO, everything: bool = False) -> None:
        """Write the summary of a run, for all commands."""
        from orchestrator.report.run_collector import RunCollector
        from orchestrator.report.terminal.resource_rows import DetailLevel
        from orchestrator.report.terminal.style import Style
        from orchestrator.report.terminal.summary import Summary

        if not self._events:
            out.write(f"the session {self._path} has no events yet\n")
            return
        noop = all(event["noop"] for event, _ in self._events)
        collected = RunCollector(verbose=everything)
        results = self._results()
        hosts = tuple(result.host for result in results)
        collected.handle(run_events.RunStarted("", self.start, hosts, noop, "", "session"))
        for event, line in self._events:
            collected.handle(run_events.ResourceEvent(event["host"], event, line))
        for result in results:
            collected.handle(run_events.HostFinished(result))
        collected.handle(run_events.RunFinished(self.end, False))
        Summary(collected, Style.of(out), DetailLevel(everything, everything)).write(out)

    def write_document(self, out: TextIO) -> None:
        """Write one JSON document: totals, each host's tally, every event."""
        from orchestrator.report.files.json_document import totals

        results = self._results()
        head = {
            "protocol": PROTOCOL,
            "session": str(self._path),
            "start": self.start or None,
            "end": self.end or None,
            "duration": self.end - self.start,
            "failed": self.failed,
            "summary": totals(results),
            "hosts": {result.host: result.tally.record() for result in results},
        }
        events = ",\n".join(line for _, line in self._events)
        out.write(f'{json.dumps(head)[:-1]}, "events": [\n{events}\n]}}\n')
