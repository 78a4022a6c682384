"""Reads a run directory into the rows of the index (controller).

All strings come from hosts and files. Sizes are bounded: a host cannot fill the index.
"""

import functools
import json
import os
import re
import stat
import time
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.store.event_lines import LineReader
from orchestrator.fleet.store.later_reports import FILE as LATER
from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.history.run_names import owner_of
from orchestrator.report.grouping import ORDER, grouping_key
from orchestrator.report.html.sections import outcome_of, sections_of
from orchestrator.report.matrix import Grid
from orchestrator.report.run_collector import Entry
from orchestrator.report.summary_texts import brief_change, headline, is_hash, run_subject
from orchestrator.report.text_normalization import normalized
from orchestrator.support.hashing import sha256
from orchestrator.support.plain_text import one_line

HASH_LENGTH = 12  # characters of the hash of a content
MAX_TEXT = 1 << 20  # bytes of the strings of a run; a host's page has all of them
MAX_MESSAGE_LENGTH = 300  # characters of what a resource reports
MAX_BRIEF_CHANGES = 6  # changes in it
MAX_TROUBLED_HOSTS = 100
FILES = ("run.json", "events.jsonl", "hosts.jsonl", "phases.jsonl", "verify.jsonl", LATER)
_STABLE = re.compile(rb'\{"stable":\{"host":("(?:[^"\\]|\\.)*")')
_RESULT = re.compile(rb'\{"host": ("(?:[^"\\]|\\.)*")')

Plan = tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]
"""The resources of a plan in order, and its edges: a resource, the one that it refers to, and the
kind of reference: ``subscribe``, ``require`` or ``apply``.
"""


class Change(NamedTuple):
    """A result other than "unchanged" of a resource on a host. ``content`` is the beginning of the
    hash of a file's new content, "absent" for a removal, "" if the content did not change."""

    host: str
    resource: str
    status: str
    words: str
    drift: str
    noop: bool
    content: str = ""


class HostRow(NamedTuple):
    """A host in a run; ``names`` are its names in the run, which may be several with stages."""

    host: str
    names: list[str]
    outcome: str
    started: bool
    changed: int
    failed: int
    seconds: float
    message: str
    unverified: int | None
    groups: str
    rank: int
    plan: Plan | None
    places: bytes
    results: bytes


class IndexedRun(NamedTuple):
    """A run as the index stores it; ``awaits_verify``: its verify is not complete."""

    run_id: str
    state: str
    about: dict[str, Any]
    who: str
    version: str
    commit: str
    drifted: int
    compared: int
    as_predicted: int
    sections: dict[str, Any]
    hosts: list[HostRow]
    changes: list[Change]
    awaits_verify: bool = False

    @property
    def subject(self) -> str:
        """The command of the run, in one line."""
        return run_subject(self.about["command"], self.about["manifest"])

    @property
    def is_push(self) -> bool:
        """Whether it was supposed to change hosts."""
        about = self.about
        monitors = bool(about.get("options", {}).get("monitor_only"))
        return about["command"] in ("push", "apply") and not about["noop"] and not monitors


def stamp_of(directory: Path) -> str:
    """A stamp that changes with the files of a run; "" for a directory that is not a run.

    Symbolic links are never followed: neither a link to a directory nor a directory that contains a
    link is a run.
    """
    found: dict[str, str] = {}
    try:
        if not stat.S_ISDIR(os.lstat(directory).st_mode):
            return ""
        with os.scandir(directory) as entries:
            for entry in entries:
                if not entry.is_file(follow_symlinks=False):
                    return ""
                if entry.name in FILES:
                    of = entry.stat(follow_symlinks=False)
                    found[entry.name] = f"{of.st_mtime_ns:x}.{of.st_size:x}"
    except OSError:
        return ""
    return " ".join(found.get(name, "-") for name in FILES) if FILES[0] in found else ""


class _IndexedSource(SavedRun):
    """A run that is replayed with only the few lines that the index needs.

    ``plans`` has the plan of each host, and ``places`` has the positions of its lines in
    events.jsonl.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.plans: dict[str, Plan] = {}
        self.places: dict[str, list[int]] = {}
        self._same: dict[tuple[object, ...], Plan] = {}

    def replay(self, *, whole: bool = False) -> Iterator[run_events.Event]:
        """The events of the run, without phases, and with unchanged resources only of hosts whose
        runs are incomplete; other hosts need no further data.
        """
        results = self.results()
        yield from self.rollout()
        for event in self.host_progress(phases=False):
            if isinstance(event, run_events.HostPlanned):
                self.plans[event.host] = self._plan(event)
                yield event
        yield from self._resources({one.host for one in results if one.is_incomplete})
        yield from self.notices()
        yield from map(run_events.HostFinished, results)

    def _resources(self, incomplete: set[str]) -> Iterator[run_events.Event]:
        reader = LineReader(self.path, self.run_id)
        for at, line in _lines(self.path / "events.jsonl"):
            if stable := _STABLE.match(line):
                host = json.loads(stable[1])
                if host in incomplete:
                    rows = reader.unchanged(line.decode("utf-8"))
                    yield run_events.ResourcesStable(host, rows)
            else:
                ((event, text),) = reader.events(line.decode("utf-8"))
                host = event["host"]
                yield run_events.ResourceEvent(host, event, text)
            self.places.setdefault(host, []).append(at)
        for event in self.later_events():
            yield run_events.ResourceEvent(event["host"], event, "")

    def _plan(self, event: run_events.HostPlanned) -> Plan:
        key = event[1:]
        if key not in self._same:
            kinds = (("subscribe", event.subscribed), ("require", event.required))
            edges = [
                (name, other, kind)
                for kind, found in kinds
                for name, others in found
                for other in others
            ]
            edges += [(one, name, "apply") for name, members in event.applied for one in members]
            self._same[key] = (event.resources, tuple(edges))
        return self._same[key]


def read_run(directory: Path) -> IndexedRun:
    """Read a run. InputError, OSError, ValueError and others for a damaged directory."""
    run = _IndexedSource(directory)
    grid = Grid(run, MAX_TEXT, whole=False)
    sections = sections_of(grid, max_troubled=MAX_TROUBLED_HOSTS, with_hosts=False)
    sections["at_work"] = at_work(run, grid) if run.running else []
    sections["rollout_now"] = grid.rollout.now(time.time()) if run.running else ""
    tallies = [result.tally.shown for result in grid.results.values()]
    return IndexedRun(
        run_id=run.run_id,
        state=_state(run),
        about=run.about,
        who=_who(run),
        version=run.origin.version,
        commit=run.origin.commit,
        drifted=sum(tally.drifted for tally in tallies),
        compared=sum(tally.compared for tally in tallies),
        as_predicted=sum(tally.as_predicted for tally in tallies),
        sections=sections,
        hosts=list(_host_rows(run, grid)),
        changes=list(_changes(grid)),
        awaits_verify=_awaits_verify(run),
    )


def _awaits_verify(run: SavedRun) -> bool:
    """Whether a run has ended but the verify after it has not."""
    if _state(run) != "ended" or not run.about.get("options", {}).get("verify"):
        return False
    return not any("found" in record for record in run.verified() or ())


def _who(run: SavedRun) -> str:
    """The user who started a run, from its record, and the token that posted it."""
    owner = owner_of(run.path)
    return f"{run.origin.who} [{owner}]".strip() if owner else run.origin.who


def _state(run: SavedRun) -> str:
    if run.about["end"]:
        return "interrupted" if run.about["interrupted"] else "ended"
    return "running" if run.running else "cut"


def at_work(run: SavedRun, grid: Grid) -> list[dict[str, Any]]:
    """The hosts that have not finished, by their activity."""
    from orchestrator.report.summary_texts import listed

    phases = {host: "waiting for a slot" for host in grid.hosts if host not in grid.results}
    for event in run.host_progress():
        if isinstance(event, run_events.HostPhase) and event.host in phases:
            phases[event.host] = event.phase.words
    found: dict[str, list[str]] = {}
    for host, words in phases.items():
        found.setdefault(words, []).append(host)
    return [
        {"phase": words, "where": listed(hosts, MAX_MESSAGE_LENGTH), "total": len(hosts)}
        for words, hosts in found.items()
    ]


def _host_rows(run: _IndexedSource, grid: Grid) -> Iterator[HostRow]:
    places, results = run.places, _result_places(run.path)
    checks = _failed_checks(run)
    names: dict[str, list[str]] = {}
    for name in grid.hosts:
        names.setdefault(host_in(name), []).append(name)
    for host, called in names.items():
        found = [grid.results[name] for name in called if name in grid.results]
        worst = min(found, key=lambda one: ORDER.index(one.outcome), default=None)
        cells = [cell.entry for name in called for cell in grid.cells[name].values()]
        offsets = array("Q", sorted(at for name in called for at in places.get(name, ())))
        plans = [run.plans[name] for name in called if name in run.plans]
        yield HostRow(
            host=host,
            names=called,
            outcome=outcome_of(worst) if worst else "running",
            started=any(one.was_started for one in found) or not found,
            changed=sum(one.tally.shown.changed for one in found),
            failed=sum(one.tally.shown.failed for one in found),
            seconds=sum(one.seconds for one in found),
            message=one_line(worst.message, MAX_MESSAGE_LENGTH) if worst else "",
            unverified=None if checks is None else checks.get(host, 0),
            groups=_group(host, worst, [entry for entry in cells if entry]),
            rank=_rank(worst, checks is not None and host in checks),
            plan=plans[-1] if plans else None,
            places=offsets.tobytes(),
            results=array("Q", [results[name] for name in called if name in results]).tobytes(),
        )


def _rank(result: HostResult | None, unverified: bool) -> int:
    """The sort key that puts trouble first."""
    if result is None:
        return len(ORDER)
    if result.outcome != outcome.OK:
        return ORDER.index(result.outcome) if result.was_started else len(ORDER) + 1
    return len(ORDER) - 1 if unverified else len(ORDER) + (2 if result.changed else 3)


def _group(host: str, result: HostResult | None, entries: list[Entry]) -> str:
    """A short text that is the same for hosts with equal results."""
    if result and not entries and not result.message:
        return _group_of_outcome(result.outcome)
    told = [result.outcome, normalized(result.message, host)] if result else []
    keys = [grouping_key(entry, host) for entry in entries]
    return sha256(json.dumps([told, keys]).encode("utf-8", "replace")).hexdigest()[:12]


@functools.cache
def _group_of_outcome(name: str) -> str:
    """The group of hosts that have only an outcome."""
    return sha256(json.dumps([[name, ""], []]).encode("utf-8", "replace")).hexdigest()[:12]


def _failed_checks(run: SavedRun) -> dict[str, int] | None:
    """The number of failed checks of each host that has any; None without a verify."""
    found = run.verified()
    if found is None:
        return None
    failed: dict[str, int] = {}
    for record in found:
        if record.get("status") == outcome.FAILED:
            failed[record["host"]] = failed.get(record["host"], 0) + 1
        for host in record.get("found", {}).get("unreached", ()):
            failed[host] = failed.get(host, 0) + 1
    return failed


def _changes(grid: Grid) -> Iterator[Change]:
    found: dict[tuple[str, str], Change] = {}
    words: dict[int, str] = {}
    contents: dict[int, str] = {}
    for name in grid.hosts:
        for resource, cell in grid.cells[name].items():
            entry = cell.entry
            if entry is None or cell.status == "stable":
                continue
            if id(entry) not in words:
                words[id(entry)] = _words(entry)
                contents[id(entry)] = _content(entry)
            host = host_in(name)
            found[host, resource] = Change(
                host,
                resource,
                status=cell.status,
                words=words[id(entry)],
                drift=entry.drift,
                noop=entry.noop,
                content=contents[id(entry)],
            )
    yield from found.values()


def _content(entry: Entry) -> str:
    """The value of ``Change.content``."""
    for change in entry.changes:
        if change.what == "ensure" and change.after == "absent":
            return "absent"
        if change.what == "content" and is_hash(change.after):
            return change.after.removeprefix("sha256:")[:HASH_LENGTH]
    return ""


def _words(entry: Entry) -> str:
    """The result of a resource in one line."""
    if entry.errors:
        return one_line(entry.errors[0], MAX_MESSAGE_LENGTH)
    changes = "; ".join(brief_change(change) for change in entry.changes[:MAX_BRIEF_CHANGES])
    return one_line("; ".join(filter(None, (headline(entry), changes))), MAX_MESSAGE_LENGTH)


def _result_places(directory: Path) -> dict[str, int]:
    """The start of each host's last line in hosts.jsonl."""
    path = directory / "hosts.jsonl"
    if not path.exists():
        return {}
    found = {}
    for at, line in _lines(path):
        begin = _RESULT.match(line)
        found[json.loads(begin[1]) if begin else json.loads(line)["host"]] = at
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The complete lines of a file, each with its position."""
    at = 0
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source:
        for line in source:
            if line.endswith(b"\n"):
                yield at, line
            at += len(line)
