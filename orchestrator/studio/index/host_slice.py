"""Reads some hosts of a stored run without the others (controller).

The index has the positions of each host's lines, so a page of 40 hosts costs the same in a run of
40 hosts and in one of 10,000.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator, Set
from pathlib import Path
from typing import IO, Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.unchanged_resources import PREFIX
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.store.event_lines import LineReader
from orchestrator.fleet.store.field_checks import DAMAGED, problem_text
from orchestrator.fleet.store.stored_runs import SavedRun, cut_off
from remote_runtime.errors import InputError, Problem


class HostPlace(NamedTuple):
    """The name of a host in a run, and the positions of its lines; see ``schema.TABLES``."""

    names: list[str]
    places: bytes
    results: bytes


class HostSlice:
    """A ``ReportSource`` for some hosts of a run. InputError for a damaged directory."""

    until = ""

    def __init__(self, run: SavedRun, hosts: list[HostPlace]) -> None:
        self._run = run
        self._hosts = hosts
        self.kind = run.kind
        self.run_id = run.run_id
        self.again = run.again
        self.about: dict[str, Any] = {
            **run.about,
            "hosts": [name for host in hosts for name in host.names],
        }

    @property
    def origin(self) -> Origin:
        """The user who started the run."""
        return self._run.origin

    def verified(self) -> list[dict[str, Any]] | None:
        """The stored verify results of these hosts."""
        found, hosts = self._run.verified(), set(self.about["hosts"])
        return found and [one for one in found if one.get("host") in hosts]

    def results(self) -> list[HostResult]:
        """The results of these hosts; a host without a result gets one that says that its end is
        unknown.
        """
        path = self._run.path / "hosts.jsonl"
        found: dict[str, HostResult] = {}
        places = [at for host in self._hosts for at in _numbers(host.results)]
        for line in _lines_at(path, places):
            try:
                result = HostResult.from_record(json.loads(line))
            except DAMAGED as error:
                raise _unreadable(path, error) from error
            found[result.host] = result
        if self._run.running:
            return list(found.values())
        return [found.get(name) or cut_off(name, Tally()) for name in self.about["hosts"]]

    def events(self) -> Iterator[tuple[dict[str, Any], str]]:
        """The transaction events of these hosts."""
        for event in self._happened():
            yield from run_events.transaction_events(event)

    def _happened(self, unchanged_of: Set[str] | None = None) -> Iterator[run_events.Event]:
        """The events; with ``unchanged_of``, unchanged resources only of these hosts."""
        reader = LineReader(self._run.path, self._run.run_id)
        path = self._run.path / "events.jsonl"
        for host in self._hosts:
            is_short = unchanged_of is not None and unchanged_of.isdisjoint(host.names)
            for line in _lines_at(path, _numbers(host.places)):
                if is_short and line.startswith(PREFIX):
                    continue
                try:
                    for event, text in reader.events(line):
                        yield run_events.ResourceEvent(event["host"], event, text)
                except DAMAGED as error:
                    raise _unreadable(path, error) from error
        hosts = set(self.about["hosts"])
        for event in self._run.later_events():
            if event["host"] in hosts:
                text = json.dumps(event, separators=(",", ":"))
                yield run_events.ResourceEvent(event["host"], event, text)

    def replay(self, *, whole: bool = False) -> Iterator[run_events.Event]:
        """The events of these hosts, each transaction event separately, and their results. Without
        ``whole``, unchanged resources are included only for hosts whose runs are incomplete.
        """
        results = self.results()
        incomplete = {one.host for one in results if one.is_incomplete}
        yield from self._happened(None if whole else incomplete)
        yield from map(run_events.HostFinished, results)


def _numbers(places: bytes) -> array[int]:
    found = array("Q")
    found.frombytes(places)
    return found


def _lines_at(path: Path, places: array[int] | list[int]) -> Iterator[str]:
    """The lines that begin at these positions; a line without an end is omitted."""
    if not places:
        return
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as source:
            yield from _each(source, places)
    except OSError as error:
        raise _unreadable(path, error) from error


def _each(source: IO[bytes], places: array[int] | list[int]) -> Iterator[str]:
    for at in places:
        source.seek(at)
        line = source.readline()
        if line.endswith(b"\n"):
            yield line[:-1].decode("utf-8")


def _unreadable(path: Path, error: Exception) -> InputError:
    hint = "delete the index in the directory studio; the studio rebuilds it"
    message = f"{path} cannot be read: {problem_text(error)}"
    return InputError([Problem(message, None, hint, "input.run")])
