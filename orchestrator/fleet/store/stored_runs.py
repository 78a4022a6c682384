"""Reads runs from their directories (controller); see ``run_directory``."""

import json
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any, Protocol

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import CUT_OFF, INTERRUPTED, HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.store import field_checks
from orchestrator.fleet.store.event_lines import (
    checked_event,
    event_lines,
    expanded,
    has_partial_last_line,
    whole_lines,
)
from orchestrator.fleet.store.later_reports import FILE as LATER
from orchestrator.fleet.store.later_reports import LaterReports, read_later
from orchestrator.fleet.store.run_source import OWN_RUNS, RunSource
from orchestrator.support.line_file import is_held
from remote_runtime.errors import InputError, Problem

_ABOUT: dict[str, Callable[[Any], object]] = {
    "run_id": field_checks.word,
    "command": field_checks.word,
    "manifest": field_checks.text,
    "noop": field_checks.flag,
    "hosts": field_checks.texts,
    "start": field_checks.seconds,
    "end": lambda value: value is None or field_checks.seconds(value),
    "interrupted": field_checks.flag,
    "identity": field_checks.text,
    "again": field_checks.texts,
    "options": field_checks.mapping,
    "origin": Origin.from_record,
}


class ReportSource(Protocol):
    """The source of a report: a run or a plan.

    ``kind`` is its kind, ``again`` the command that shows it, and ``until`` the end of a plan's
    validity.
    """

    kind: str
    until: str
    run_id: str
    about: dict[str, Any]
    again: str

    @property
    def origin(self) -> Origin: ...

    def results(self) -> list[HostResult]: ...

    def events(self) -> Iterator[tuple[dict[str, Any], str]]: ...

    def replay(self, *, whole: bool = False) -> Iterator[run_events.Event]: ...

    def verified(self) -> list[dict[str, Any]] | None: ...


class SavedRun:
    """A run that is read from its directory."""

    kind = "run"
    until = ""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about: dict[str, Any] = _read(path / "run.json")
        for name, check in _ABOUT.items():
            check(self.about[name])
        self.run_id: str = self.about["run_id"]
        self.again = f"ccm report {self.run_id}"

    @property
    def _verifies(self) -> bool:
        return bool(self.about["options"].get("verify"))

    @property
    def origin(self) -> Origin:
        """Its origin, if known."""
        return Origin.from_record(self.about["origin"])

    @property
    def running(self) -> bool:
        """Whether its process is still running."""
        return not self.about["end"] and is_held(self.path / "events.jsonl")

    def results(self) -> list[HostResult]:
        """Return the result of every host or, during a run, of the finished hosts. InputError.

        The result of a host that is missing because ccm ended is derived from its phases and
        events.
        """
        path = self.path / "hosts.jsonl"
        try:
            lines = whole_lines(path) if path.exists() else ()
            results = (HostResult.from_record(json.loads(line)) for line in lines)
            ended = list({result.host: result for result in results}.values())
        except field_checks.DAMAGED as error:
            raise _unreadable(path, error) from error
        hosts: list[str] = self.about["hosts"]
        missing = dict.fromkeys(hosts)
        for result in ended:
            if result.host not in missing:
                raise _unreadable(path, "it mentions a host that is not part of the run")
            del missing[result.host]
        if self.running:
            return ended
        return self._completed(ended, [*ended, *self._cut_off(missing)] if missing else ended)

    def _completed(self, recorded: list[HostResult], results: list[HostResult]) -> list[HostResult]:
        """The results with later reports of hosts; tallies of those ``recorded`` do not include
        them yet.
        """
        events, over = self._later.events, self._later.over
        tallies = {result.host: result.tally for result in recorded}
        for event in events:
            if event["host"] in tallies:
                tallies[event["host"]].add(event, again=False)
        return [one._replace(confirmed=True) if one.host in over else one for one in results]

    @property
    def _later(self) -> LaterReports:
        try:
            return read_later(self.path)
        except field_checks.DAMAGED as error:
            raise _unreadable(self.path / LATER, error) from error

    def later_events(self) -> list[dict[str, Any]]:
        """The events that hosts reported on a later contact. InputError."""
        return self._later.events

    def _cut_off(self, hosts: dict[str, None]) -> list[HostResult]:
        """The known state of hosts whose end was not reported."""
        tallies = {host: Tally() for host in hosts}
        for event, again in self._with_repeats(hosts):
            tallies[event["host"]].add(event, again)
        phases: dict[str, list[tuple[Phase, float]]] = {host: [] for host in hosts}
        planned = dict.fromkeys(hosts, 0)
        for progress in self.host_progress():
            if isinstance(progress, run_events.HostPhase):
                phases.setdefault(progress.host, []).append((progress.phase, progress.at))
            else:
                planned[progress.host] = len(progress.resources)
        return [cut_off(host, tallies[host], tuple(phases[host]), planned[host]) for host in hosts]

    def _with_repeats(self, hosts: Container[str]) -> Iterator[tuple[dict[str, Any], bool]]:
        """The events of these hosts, each with whether its host had reported the
        resource before.
        """
        reported: set[tuple[str, str, str]] = set()
        for step in self._happened(whole=True, hosts=hosts):
            for event, _ in run_events.transaction_events(step):
                key = event["host"], event["type"], event["name"]
                yield event, key in reported
                reported.add(key)

    def host_progress(
        self, *, phases: bool = True
    ) -> Iterator[run_events.HostPhase | run_events.HostPlanned]:
        """The times at which hosts entered each phase, and their resources; without ``phases``,
        only the resources. InputError.
        """
        path = self.path / "phases.jsonl"
        plans: dict[int, run_events.HostPlanned] = {}
        try:
            for line in whole_lines(path) if path.exists() else ():
                if not phases and '"plan":' not in line:
                    continue
                record = json.loads(line)
                if "resources" in record:
                    names = tuple(field_checks.texts(record["resources"]))
                    subscribed, required, applied = (
                        tuple(
                            (field_checks.text(name), tuple(field_checks.texts(of)))
                            for name, of in record[member]
                        )
                        for member in ("subscribed", "required", "applied")
                    )
                    plan = run_events.HostPlanned("", names, subscribed, required, applied)
                    plans[record["plan"]] = plan
                elif "plan" in record:
                    yield plans[record["plan"]]._replace(host=field_checks.text(record["host"]))
                else:
                    host, at = field_checks.text(record["host"]), field_checks.seconds(record["at"])
                    yield run_events.HostPhase(host, Phase(record["phase"]), at)
        except field_checks.DAMAGED as error:
            raise _unreadable(path, error) from error

    def lines(self) -> Iterator[str]:
        """The transaction events as JSON texts; an incomplete line at the end is omitted.

        InputError if they cannot be read.
        """
        try:
            for number, line, unchanged in event_lines(self.path, self.run_id):
                if unchanged is None:
                    if not line.isprintable():
                        raise ValueError(f"line {number} is invalid")
                    yield line
                else:
                    yield from (text for _, text in expanded(unchanged, number))
        except field_checks.DAMAGED as error:
            raise _unreadable(self.path / "events.jsonl", error) from error
        yield from (json.dumps(event, separators=(",", ":")) for event in self._later.events)

    def events(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the transaction events, each with its JSON text. InputError for a damaged event."""
        for step in self._happened(whole=True):
            yield from run_events.transaction_events(step)

    def _happened(
        self, *, whole: bool, hosts: Container[str] | None = None
    ) -> Iterator[run_events.ResourceEvent | run_events.ResourcesStable]:
        """The results of resources, in batches as stored, or as single events (``whole``); of all
        hosts or only of these. InputError for damaged data.
        """
        try:
            for number, line, unchanged in event_lines(self.path, self.run_id):
                if unchanged is not None and hosts is not None and unchanged.host not in hosts:
                    continue  # most of a run, and no event is made for it
                if unchanged is None:
                    events = iter([(json.loads(line), line)])
                elif not whole:
                    yield run_events.ResourcesStable(unchanged.host, unchanged)
                    continue
                else:
                    events = expanded(unchanged, number)
                for event, text in events:
                    host = checked_event(event, number)["host"]
                    if hosts is None or host in hosts:
                        yield run_events.ResourceEvent(host, event, text)
        except field_checks.DAMAGED as error:
            raise _unreadable(self.path / "events.jsonl", error) from error
        for event in self._later.events:
            if hosts is None or event["host"] in hosts:
                line = json.dumps(event, separators=(",", ":"))
                yield run_events.ResourceEvent(event["host"], event, line)

    def notices(self) -> Iterator[run_events.HostNotice]:
        """The warnings and errors of hosts, and under the host "" those about the record itself."""
        path = self.path / "notices.jsonl"
        try:
            for line in whole_lines(path) if path.exists() else ():
                notice = run_events.HostNotice(**json.loads(line))
                host, level, text = map(field_checks.text, notice[:3])
                yield run_events.HostNotice(host, level, text, field_checks.flag(notice.waits))
        except field_checks.DAMAGED as error:
            raise _unreadable(path, error) from error
        yield from self._later.notices()
        for text in self._lacking():
            yield run_events.HostNotice("", "warning", text)

    def _lacking(self) -> Iterator[str]:
        """The missing part of the record, as text."""
        if self.running:
            yield "this run is in progress; the results so far are shown"
        if "incomplete" in self.about:
            yield f"events are missing from the record of this run: {self.about['incomplete']}"
        verified, ended = self.verified(), self.about["end"] and not self.about["interrupted"]
        if verified is None and ended and self._verifies:
            yield "the verification of this run did not start"
        elif verified is not None and not any("found" in record for record in verified):
            yield "the verification of this run did not finish"
        for path in sorted(self.path.glob("*.jsonl")):
            if has_partial_last_line(path) and not self.running:
                yield f"the last line of {path.name} is incomplete and omitted"

    def rollout(self) -> Iterator[run_events.RolloutStep]:
        """The results of waves and gates, if there were any. InputError."""
        path = self.path / "rollout.jsonl"
        kinds = {kind.__name__: kind for kind in run_events.ROLLOUT}
        try:
            for line in whole_lines(path) if path.exists() else ():
                members = {name: _tuples(value) for name, value in json.loads(line).items()}
                yield kinds[members.pop("step")](**members)
        except field_checks.DAMAGED as error:
            raise _unreadable(path, error) from error

    def verified(self) -> list[dict[str, Any]] | None:
        """The stored verify after the push, as written by ``verify.kept``, or None. InputError."""
        path = self.path / "verify.jsonl"
        try:
            return [_checked(json.loads(line)) for line in whole_lines(path)]
        except FileNotFoundError:
            return None
        except field_checks.DAMAGED as error:
            raise _unreadable(path, error) from error

    def failed_verify(self) -> set[str]:
        """The hosts with a failed check, or that the verify could not reach."""
        hosts: set[str] = set()
        for record in self.verified() or ():
            if record.get("status") == outcome.FAILED:
                hosts.add(record["host"])
            hosts.update(record.get("found", {}).get("unreached", ()))
        return hosts

    def replay(self, *, whole: bool = False) -> Iterator[run_events.Event]:
        """The events of the run that reports need; ``whole``: each transaction event separately,
        including those of converged resources.
        """
        about = self.about
        yield run_events.RunStarted(
            self.run_id,
            about["start"],
            tuple(about["hosts"]),
            about["noop"],
            about["manifest"],
            about["command"],
            about["identity"],
            tuple(about["again"]),
            self.origin,
        )
        yield from self.rollout()
        yield from self.host_progress()
        yield from self._happened(whole=whole)
        yield from self.notices()
        for result in self.results():
            yield run_events.HostFinished(result)
        if about["end"]:
            yield run_events.RunFinished(about["end"], about["interrupted"])


def saved_runs(folder: RunSource = OWN_RUNS) -> Iterator[SavedRun]:
    """The stored runs, newest first; an unreadable directory is skipped."""
    for name in folder.names():
        try:
            yield SavedRun(folder.path(name))
        except field_checks.DAMAGED:
            continue


def saved_run(run_id: str = "", folder: RunSource = OWN_RUNS) -> SavedRun:
    """The run with this ID or unique prefix; the last one for "". InputError."""
    names = [name for name in folder.names() if name.startswith(run_id)]
    if not names:
        what = f"there is no run {run_id[:60]!r}" if run_id else "there are no runs yet"
        raise _no_run(what, "'ccm runs' lists the runs" if run_id else "'ccm push' creates one")
    if run_id and run_id not in names and len(names) > 1:
        raise _no_run(
            f"{len(names)} runs start with {run_id[:60]!r}", "enter more characters of the ID"
        )
    name = run_id if run_id in names else names[0]
    path = Path(name)
    try:
        path = folder.path(name)
        return SavedRun(path)
    except field_checks.DAMAGED as error:
        raise _unreadable(path / "run.json", error) from error


def _unreadable(path: Path, error: Exception | str) -> InputError:
    problem = error if isinstance(error, str) else field_checks.problem_text(error)
    return _no_run(f"{path} cannot be read: {problem}", f"remove {path.parent}")


def _no_run(message: str, hint: str) -> InputError:
    return InputError([Problem(message, None, hint, "input.run")])


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _checked(record: Any) -> dict[str, Any]:
    if isinstance(record, dict) and isinstance(record.get("found"), dict):
        return record
    texts = ("host", "label", "status")
    if not isinstance(record, dict) or not all(isinstance(record.get(k), str) for k in texts):
        raise ValueError("a line is neither an outcome nor the totals")
    return record


def _read(path: Path) -> dict[str, Any]:
    with open(path, encoding="utf-8") as source:
        record = json.load(source)
    if not isinstance(record, dict):
        raise ValueError(f"{path} does not contain an object")
    return record


def cut_off(
    host: str, tally: Tally, phases: tuple[tuple[Phase, float], ...] = (), planned: int = 0
) -> HostResult:
    """The result of a host that was active or waiting when ccm ended."""
    return HostResult(
        host,
        tally,
        INTERRUPTED,
        kind=CUT_OFF,
        message="ccm ended before this host finished",
        phase=phases[-1][0] if phases else Phase.WAITING,
        planned=planned,
        phases=phases,
    )
