"""Reports of hosts about a stored run on a later contact (controller): ``later.jsonl`` of its
directory.

A line is a transaction event, or the last line of a host, with the end of its run.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.store import field_checks
from orchestrator.fleet.store.event_lines import checked_event, whole_lines

FILE = "later.jsonl"
REPORTED_LATER = "not known at the time; reported by the host on its next contact"
NO_RECORD = "the host has no record of this run: nothing was changed"


class LaterReports(NamedTuple):
    """The events, and the end of the run on each host that is complete."""

    events: list[dict[str, Any]]
    over: dict[str, str]

    def notices(self) -> Iterator[run_events.HostNotice]:
        """Notes for people about these hosts."""
        counts = Counter(event["host"] for event in self.events)
        for host in {**counts, **self.over}:
            number = counts[host]
            if self.over.get(host) == "none":
                yield run_events.HostNotice(host, "warning", NO_RECORD)
            elif number:
                were = "outcomes were" if number > 1 else "outcome was"
                text = f"{number} {were} {REPORTED_LATER}"
                yield run_events.HostNotice(host, "warning", text)


def read_later(directory: Path) -> LaterReports:
    """The record; ValueError and others if it is damaged."""
    events: list[dict[str, Any]] = []
    over: dict[str, str] = {}
    path = directory / FILE
    for number, line in enumerate(whole_lines(path) if path.exists() else (), 1):
        report = json.loads(line)
        if "state" in report:
            over[field_checks.text(report["host"])] = field_checks.word(report["state"])
        else:
            events.append(checked_event(report, number))
    return LaterReports(events, over)


def append(directory: Path, lines: Iterable[str]) -> None:
    """Append complete lines with one write. OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    handle = os.open(directory / FILE, flags, 0o600)
    try:
        os.write(handle, "".join(f"{line}\n" for line in lines).encode())
    finally:
        os.close(handle)
