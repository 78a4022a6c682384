"""Hosts by resources: all data of a stored run, for reports in files (controller)."""

import calendar
import functools
import time
from collections import Counter
from typing import Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import HostResult, is_apply
from orchestrator.fleet.store.stored_runs import ReportSource, SavedRun
from orchestrator.report.dangerous_changes import Dangers
from orchestrator.report.failures import SharedFailure, failures_of
from orchestrator.report.grouping import grouping_key
from orchestrator.report.retry_options import RetryOptions
from orchestrator.report.run_collector import Entries, Entry, entry_of, is_reportable
from orchestrator.report.summary_texts import change_grouping_key, without_hashes
from orchestrator.report.terminal.rollout_progress import RolloutProgress
from orchestrator.report.text_normalization import normalized, without_host_name
from orchestrator.report.unfinished_resources import UnfinishedResources

NANOSECOND = 1e-9
# The worst first: a resource that two manifests of a run share has one cell.
RANK = ("failed", "skipped", "changed", "stable")
_SHOWN = ("failed", "changed", "skipped", "stable")  # the order of totals


class Cell(NamedTuple):
    """One resource on one host.

    ``seconds`` is the duration, ``ended`` the end by the host's own clock (seconds since the
    epoch), ``entry`` the summary, None for a converged resource without reported checks.
    """

    status: str
    seconds: float
    ended: float
    entry: Entry | None


class Finding(NamedTuple):
    """One resource with the same outcome on some hosts; ``entry`` is that of the first host, one of
    ``variants`` that differ only in names or numbers.
    """

    entry: Entry
    hosts: list[str]
    variants: int


class Grid:
    """A stored run by host and resource. InputError for a damaged directory.

    ``cells`` has a map of cells for each host by the resource's ``type#name``; ``resources`` are in
    the order of the first host that has them. ``maximum`` limits the total size of all strings in
    bytes. Without ``whole``, resources with nothing to report have no cell, which is much faster.
    """

    def __init__(self, source: ReportSource, maximum: int, *, whole: bool = True) -> None:
        self.source = source
        self._whole = whole
        self.noop: bool = source.about["noop"]
        self._drift = source.about["command"] == "drift"
        self.hosts: list[str] = list(source.about["hosts"])
        self.resources: list[str] = []
        self.cells: dict[str, dict[str, Cell]] = {host: {} for host in self.hosts}
        self.results: dict[str, HostResult] = {}
        self.notices: dict[tuple[str, str], list[str]] = {}
        self.unfinished = UnfinishedResources()
        self.rollout = RolloutProgress()
        self.dangers = Dangers()
        self._entries = Entries(maximum)
        self._known: set[str] = set()
        for event in source.replay(whole=whole):
            self.unfinished.handle(event)
            self.rollout.handle(event)
            if self.noop and not self._drift:
                self.dangers.handle(event)
            if isinstance(event, run_events.ResourceEvent):
                self._add(event.event)
            elif isinstance(event, run_events.HostFinished):
                self.results[event.result.host] = event.result
            elif isinstance(event, run_events.HostNotice):
                names = self.notices.setdefault((event.level, event.text), [])
                names += [event.host] if event.host else []

    def _add(self, event: dict[str, Any]) -> None:
        name = f"{event['type']}#{event['name']}"
        if is_apply(name) and not is_reportable(event):
            return
        if name not in self._known:
            self._known.add(name)
            self.resources.append(name)
        if event["host"] not in self.cells:
            self.hosts.append(event["host"])
        cells = self.cells.setdefault(event["host"], {})
        cell = self._cell(event)
        before = cells.get(name)
        cells[name] = cell if before is None else _together(before, cell)

    def _cell(self, event: dict[str, Any]) -> Cell:
        entry = None
        if is_reportable(event, self._drift):
            told = entry_of(event, outputs=True, operations=True)
            if told.tells:
                entry = self._entries.keep(told)
        ended = seconds_of(event["timestamp"])
        return Cell(event["status"], event["duration"] * NANOSECOND, ended, entry)

    @property
    def asked(self) -> RetryOptions:
        """The command that shows it again; without an ID for a plan's preview, which is
        not a run.
        """
        run_id = self.source.run_id if self.source.kind == SavedRun.kind else ""
        return RetryOptions(run_id, self.source.about.get("again", ()))

    @property
    def without_turn(self) -> list[str]:
        """The hosts that were not started."""
        return [host for host, result in self.results.items() if not result.was_started]

    def failures(self) -> list[SharedFailure]:
        """The reasons why hosts failed, the most hosts first; empty if each host has its own
        reason, which is reported separately.
        """
        entries = {
            host: [cell.entry for cell in cells.values() if cell.entry is not None]
            for host, cells in self.cells.items()
        }
        failures = failures_of(entries, self.results).all()
        return (
            failures
            if any(len(one.hosts) > 1 or len(one.resources) > 1 for one in failures)
            else []
        )

    def statuses(self) -> dict[str, int]:
        """The number of resources for each status; ``apply`` resources are not counted."""
        if not self._whole:
            return self._statuses_of_results()
        numbers = Counter(
            cell.status
            for cells in self.cells.values()
            for name, cell in cells.items()
            if not is_apply(name)
        )
        return {status: numbers[status] for status in _SHOWN if numbers[status]}

    def _statuses_of_results(self) -> dict[str, int]:
        tallies = [result.tally.shown for result in self.results.values()]
        numbers = {status: sum(getattr(tally, status) for tally in tallies) for status in _SHOWN}
        return {status: number for status, number in numbers.items() if number}

    def findings(self, status: str) -> list[Finding]:
        """The results of this kind, grouped by hosts with equal results, the largest
        group first.
        """
        found: dict[tuple[object, ...], list[tuple[str, Entry]]] = {}
        for host in self.hosts:
            for cell in self.cells[host].values():
                if cell.status == status and cell.entry is not None:
                    found.setdefault(_look(cell.entry, host), []).append((host, cell.entry))
        findings = (_finding(*zip(*group, strict=True)) for group in found.values())
        return sorted(findings, key=lambda finding: -len(finding.hosts))


def _finding(hosts: tuple[str, ...], entries: tuple[Entry, ...]) -> Finding:
    return Finding(entries[0], list(hosts), len({_told(entry) for entry in entries}))


def _told(entry: Entry) -> Entry:
    """The entry without parts that no report shows, such as hashes of contents that have a diff."""
    return entry._replace(changes=tuple(map(without_hashes, entry.changes)))


def _look(entry: Entry, host: str) -> tuple[object, ...]:
    """The key by which entries of several hosts are grouped."""
    changes = change_grouping_key(entry.changes, host)
    operations = (without_host_name(host, text) for text in entry.operations)
    return (*grouping_key(entry, host), normalized(entry.output, host), *changes, "", *operations)


def _together(one: Cell, other: Cell) -> Cell:
    worst = min(one, other, key=lambda cell: RANK.index(cell.status))
    seconds, ended = one.seconds + other.seconds, max(one.ended, other.ended)
    return worst._replace(seconds=seconds, ended=ended)


@functools.lru_cache(maxsize=4096)
def _whole_seconds(stamp: str) -> int:
    return calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%S"))


def seconds_of(timestamp: str) -> float:
    """An event's timestamp as seconds since the epoch; 0 if the timestamp is invalid."""
    whole, _, fraction = timestamp.rstrip("Z").partition(".")
    try:
        return _whole_seconds(whole) + float(f"0.{fraction or 0}")
    except ValueError:
        return 0.0
