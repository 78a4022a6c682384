"""Checks the posted lines of a run before they are stored (controller).

Clients are not trusted, like hosts: each file has a closed set of members, sizes and counts are
limited, and every line must be about a host of the run. ValueError with the expected value.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.event_check import stored_event_problem
from orchestrator.fleet.checks.unchanged_resources import read_unchanged
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.fleet.store import field_checks
from orchestrator.history.run_names import start_time_of
from orchestrator.support.plain_text import MAX_DEPTH, is_shallow

MAX_HOSTS = 100_000
MAX_PLAN = 100_000  # resources
MAX_NAME_LENGTH = 300  # characters of a host
MAX_LENGTH = 10_000  # characters of other strings in run.json
MAX_OPTIONS = 1 << 20  # characters
DAY = 86_400.0
SKEW = 600.0  # seconds that the clock of a client may be ahead
_COMMANDS = frozenset(("push", "apply", "drift", "run", "fetch", "ensure", "plan", "verify"))
_BEGIN = (
    "format", "run_id", "command", "manifest", "identity", "noop", "again", "origin", "options",
    "hosts", "start",
)  # fmt: skip
_END = ("end", "interrupted")
_IMPLIED = ("alias", "manifest", "requested_ensure")
_STATES = ("", "running", "ended", "cut", "none", "unusable")
_STABLE = frozenset(("host", "id", "at", "noop", "prediction", "rows", "resources"))
_RESULT = frozenset(HostResult._fields)
_TALLY = frozenset((*Tally.__slots__,))
_STEPS = {kind.__name__: frozenset(("step", *kind._fields)) for kind in run_events.ROLLOUT}
_CHECKED = frozenset(("host", "label", "status", "text"))
_ASSESSED = frozenset(
    ("hosts", "outcomes", "refused", "unreached", "warnings", "left_out", "not_run", "defect",
     "interrupted")
)  # fmt: skip


def checked_run_file(text: bytes, run_id: str, now: float) -> dict[str, Any]:
    """The content of run.json; ValueError."""
    about = _object(text)
    _members(about, required=(*_BEGIN, *_END), optional=("incomplete",))
    if about["run_id"] != run_id:
        raise ValueError("run_id differs from the ID in the address")
    if about["format"] != 2 or about["command"] not in _COMMANDS:
        raise ValueError("format or command is unknown")
    for name in ("manifest", "identity"):
        _short(about[name], MAX_LENGTH)
    for name in ("noop", "interrupted"):
        field_checks.flag(about[name])
    _short(about.get("incomplete", ""), MAX_LENGTH)
    again = field_checks.texts(about["again"])
    if len(again) > MAX_PLAN or sum(map(len, again)) > MAX_OPTIONS:
        raise ValueError("'again' is too long")
    _members(about["origin"], optional=Origin._fields)
    Origin.from_record(about["origin"])
    options = field_checks.mapping(about["options"])
    if not is_shallow(options, MAX_DEPTH) or len(json.dumps(options)) > MAX_OPTIONS:
        raise ValueError("options are too large")
    _check_hosts(about["hosts"])
    _check_times(about, run_id, now)
    return about


def _check_hosts(hosts: Any) -> None:
    if len(field_checks.texts(hosts)) > MAX_HOSTS or len(set(hosts)) != len(hosts):
        raise ValueError(f"expected at most {MAX_HOSTS:,} hosts, each once")
    for name in hosts:
        if not 0 < len(field_checks.word(name)) <= MAX_NAME_LENGTH:
            raise ValueError("a host has an invalid name")


def _check_times(about: Mapping[str, Any], run_id: str, now: float) -> None:
    start, end = field_checks.seconds(about["start"]), about["end"]
    begin = start_time_of(run_id)
    if begin is None or abs(start - begin) > DAY or start > now + SKEW:
        raise ValueError("start does not match the ID of the run")
    if end is not None and not start - DAY <= field_checks.seconds(end) <= now + SKEW:
        raise ValueError("end is not a time after start")


def is_same_run(begun: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """Whether two versions of run.json belong to the same run, at any time during it."""
    return all(begun[name] == about[name] for name in _BEGIN)


class LineChecks:
    """Checks the lines of one run. ``text`` returns the line with a number in resources.jsonl."""

    def __init__(self, run_id: str, hosts: frozenset[str], text: Callable[[int], str]) -> None:
        self._run_id = run_id
        self._hosts = hosts
        self._text = text
        self._checks: dict[str, Callable[[Any], None]] = {
            "resources.jsonl": self._resource,
            "phases.jsonl": self._phase,
            "events.jsonl": self._event,
            "notices.jsonl": self._notice,
            "rollout.jsonl": self._step,
            "hosts.jsonl": self._result,
            "verify.jsonl": self._verify,
            "later.jsonl": self._later,
        }

    def check(self, name: str, data: bytes) -> None:
        """Check complete lines of a file. ValueError with the number of the line in the data."""
        check = self._checks[name]
        if not data.endswith(b"\n"):
            raise ValueError("expected complete lines")
        for number, line in enumerate(data[:-1].split(b"\n"), 1):
            try:
                check(_object(line))
            except (
                ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError,
            ) as error:  # fmt: skip
                raise ValueError(f"{name}, line {number} of the request: {error}") from error

    def _host(self, value: Any) -> str:
        if type(value) is not str or value not in self._hosts:
            raise ValueError("it refers to a host that is not part of the run")
        return value

    def _resource(self, record: dict[str, Any]) -> None:
        _members(record, required=("type", "name", "properties"), optional=_IMPLIED)
        if not is_shallow(field_checks.mapping(record["properties"]), MAX_DEPTH - 2):
            raise ValueError("it is nested too deeply")
        for member in record.keys() - {"properties"}:
            _short(record[member], MAX_LENGTH)

    def _phase(self, record: dict[str, Any]) -> None:
        if "resources" in record:
            links = ("subscribed", "required", "applied")
            _members(record, required=("plan", "resources", *links))
            field_checks.count(record["plan"])
            if len(field_checks.texts(record["resources"])) > MAX_PLAN:
                raise ValueError("the plan is too long")
            for member in links:
                for name, others in record[member]:
                    field_checks.text(name)
                    field_checks.texts(others)
        elif "plan" in record:
            _members(record, required=("host", "plan"))
            field_checks.count(record["plan"])
            self._host(record["host"])
        else:
            _members(record, required=("host", "phase", "at"))
            self._host(record["host"])
            Phase(record["phase"])
            field_checks.seconds(record["at"])

    def _event(self, record: dict[str, Any]) -> None:
        if "stable" in record:
            _members(record, required=("stable",))
            rows = record["stable"]
            _members(rows, required=_STABLE)
            self._host(rows["host"])
            read_unchanged(rows["host"], self._run_id, rows, self._text)
            return
        if problem := stored_event_problem(record):
            raise ValueError(problem)
        self._host(record["host"])
        if record["run_id"] != self._run_id:
            raise ValueError("it belongs to another run")

    def _notice(self, record: dict[str, Any]) -> None:
        _members(record, required=run_events.HostNotice._fields)
        if record["host"] != "":
            self._host(record["host"])
        field_checks.word(record["level"])
        field_checks.text(record["text"])
        field_checks.flag(record["waits"])

    def _step(self, record: dict[str, Any]) -> None:
        members = _STEPS.get(record.get("step", ""))
        if members is None:
            raise ValueError("the step is unknown")
        _members(record, required=members)
        if not is_shallow(record, MAX_DEPTH):
            raise ValueError("it is nested too deeply")
        for name in record.get("hosts", ()):
            self._host(name)
        for wave in record.get("waves", ()):
            for name in wave:
                self._host(name)

    def _result(self, record: dict[str, Any]) -> None:
        if not record.keys() <= _RESULT or not record["tally"].keys() <= _TALLY:
            raise ValueError("it has an unknown member")
        self._host(HostResult.from_record(record).host)

    def _verify(self, record: dict[str, Any]) -> None:
        if "found" in record:
            _members(record, required=("found",))
            _members(record["found"], required=_ASSESSED)
            for member in ("unreached", "not_run"):
                for name in field_checks.mapping(record["found"][member]):
                    self._host(name)
            return
        _members(record, required=_CHECKED)
        for member in ("host", "label", "status", "text"):
            field_checks.text(record[member])
        if record["host"] != "":
            self._host(record["host"])

    def _later(self, record: dict[str, Any]) -> None:
        if "state" in record:
            _members(record, required=("host", "state", "at"))
            field_checks.seconds(record["at"])
            self._host(record["host"])
            if record["state"] not in _STATES:
                raise ValueError("the state is unknown")
            return
        self._event(record)


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if type(found) is not dict:
        raise ValueError("expected a JSON object")
    return found


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def _members(
    record: Any,
    *,
    required: tuple[str, ...] | frozenset[str] = (),
    optional: tuple[str, ...] = (),
) -> None:
    if type(record) is not dict:
        raise ValueError("expected an object")
    if not record.keys() >= set(required) or record.keys() - set(required) - set(optional):
        raise ValueError("a member is missing or unknown")


def _short(value: Any, maximum: int) -> None:
    if len(field_checks.text(value)) > maximum:
        raise ValueError("a string is too long")
