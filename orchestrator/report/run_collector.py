"""Collects the data of a summary, from a live run or from its directory (controller).

Equal data of many hosts is stored once, so a uniform fleet costs as much as one host.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.fleet.outcome import APPLY, HostResult
from orchestrator.report.action_text import (
    UNCERTAIN,
    ChangeLine,
    intent,
    operation_words,
    with_object,
)
from orchestrator.report.terminal.rollout_progress import RolloutProgress
from orchestrator.report.unfinished_resources import UnfinishedResources
from orchestrator.support.plain_text import value_text

if TYPE_CHECKING:
    from orchestrator.report.dangerous_changes import Dangers

MAX_BYTES = 32 << 20
MAX_SHORT = 200
MAX_FEW = 10
_POSITION = r"\([^()\s]+:\d+:\d+\)$"
DIFF_LEFT_OUT = "omitted: too many diffs; see events.jsonl in the run directory"


class CheckResult(NamedTuple):
    """The result of one health check."""

    name: str
    status: str
    output: str

    @property
    def failed(self) -> bool:
        """Whether it failed its resource, whose errors then report it."""
        return self.status not in ("OK", "WARNING")


# The state of a skipped resource that a selected one requires.
AS_DESIRED = "as_desired"
LEFT_AS = {
    "differs": ", required but not in the desired state",
    "unknown": ", required; its state is unknown",
}
# Details of a drift, in addition to the changes that would undo it.
PROVENANCE = ("last changed", "last applied")
# The causes of drift from the last applied state.
DRIFTS = {
    "someone": "changed on the host",
    "you": "changed in the manifest",
    "both": "changed on the host and in the manifest",
    "new": "never applied",
}


# Members that may need a report even for a converged resource.
_TOLD_OF_STABLE = ("health_check", "planned", "noop_message")


class Entry(NamedTuple):
    """The summary of one resource on one host.

    ``message`` is the predicted action, or the reason why it was skipped, ``uncertainty`` the
    reason why its prediction is not certain. ``noop``: nothing was done. ``fired``: caused by a
    subscription. ``due`` is the run since which its refresh is or was pending; "" for none.
    ``manifest`` names the child manifest of the resource. ``drift`` is the cause of its difference
    from the last applied state. ``output`` is the output of its command, if it is shown and is not
    part of an error. ``planned`` is the prediction of a plan file that was wrong. ``exit_code`` is
    the exit code of its command, if one ran. ``left_as``: in a preview, the state of a skipped
    resource that a selected one requires. ``operations``: in a preview, the operations of a push on
    the host, if they are shown.
    """

    resource: str
    status: str
    message: str
    uncertainty: str
    errors: tuple[str, ...]
    unmet: tuple[str, ...]
    health: tuple[CheckResult, ...]
    changes: tuple[ChangeLine, ...]
    noop: bool = False
    fired: bool = False
    due: str = ""
    drift: str = ""
    manifest: str = ""
    output: str = ""
    planned: str = ""
    exit_code: int | None = None
    left_as: str = ""
    operations: tuple[str, ...] = ()

    @property
    def tells(self) -> bool:
        """Whether there is anything to report other than that it is converged."""
        told = self.health or self.planned or self.message or self.uncertainty
        return self.status != "stable" or bool(told)

    @property
    def pending(self) -> bool:
        """Whether it would only change."""
        return self.noop and self.status == "changed"


class Entries:
    """Stores entries without duplicates, within a limit: once the strings have ``maximum`` bytes,
    no more diffs are stored and strings are shortened.
    """

    def __init__(self, maximum: int = MAX_BYTES) -> None:
        self._maximum = maximum
        self._known: dict[Entry, Entry] = {}
        self._bytes = 0

    def keep(self, entry: Entry) -> Entry:
        """The stored entry: the same object for equal ones."""
        kept = self._known.get(entry)
        if kept is None:
            self._bytes += _size(entry)
            entry = entry if self._bytes <= self._maximum else _shortened(entry)
            kept = self._known.setdefault(entry, entry)
        return kept


class RunCollector(Subscriber):
    """Subscriber that stores the outcome of each host; converged resources are only counted.

    ``verbose``: also stores resources that were skipped, or that have successful health checks or
    an uncertain prediction without a change. ``outputs``: also stores the output of commands, as
    ``verbose`` always does. ``dangers`` has the dangerous changes of a preview, None for a push or
    without ``dangerous``.

    Memory is limited, regardless of what hosts send, see ``Entries``.
    """

    def __init__(
        self, verbose: bool = False, outputs: bool = False, dangerous: bool = True
    ) -> None:
        self.started: run_events.RunStarted | None = None
        self.ended: run_events.RunFinished | None = None
        self.entries: dict[str, list[Entry]] = {}
        self.results: dict[str, HostResult] = {}
        self.notices: dict[tuple[str, str], list[str]] = {}
        self.unfinished = UnfinishedResources()
        self.rollout = RolloutProgress()
        self.dangers: Dangers | None = None
        self._dangerous = dangerous
        self._verbose = verbose
        self._outputs = outputs or verbose
        self._drift = False
        self._known = Entries()

    def handle(self, event: run_events.Event) -> None:
        """Store the relevant part of an event."""
        self.unfinished.handle(event)
        self.rollout.handle(event)
        if isinstance(event, run_events.RunStarted):
            self._start(event)
        if self.dangers is not None:
            self.dangers.handle(event)
        if isinstance(event, run_events.ResourceEvent):
            self._resource(event)
        elif isinstance(event, run_events.HostFinished):
            self.results[event.result.host] = event.result
        elif isinstance(event, run_events.HostNotice):
            if event.level != "info":
                self.notices.setdefault((event.level, event.text), []).append(event.host)
        elif isinstance(event, run_events.RunFinished):
            self.ended = event

    def _start(self, event: run_events.RunStarted) -> None:
        self.started = event
        self._drift = event.command == "drift"
        if event.noop and self._dangerous and not self._drift:
            from orchestrator.report.dangerous_changes import Dangers  # a push does not need it

            self.dangers = Dangers()

    def _resource(self, event: run_events.ResourceEvent) -> None:
        members = event.event
        status = members["status"]
        expected = "planned" not in members
        if not is_reportable(members, self._drift and not self._verbose):
            uncertain = members["type"] != APPLY and members.get("prediction") in UNCERTAIN
            if not (self._verbose and status == "stable" and uncertain):
                return
        left_out = status == "skipped" and not members["unmet_requirements"]
        undone = members.get("left_as", AS_DESIRED) != AS_DESIRED
        if left_out and expected and not (self._verbose or undone):
            return
        entry = entry_of(members, self._verbose, outputs=self._outputs, operations=self._verbose)
        if not entry.tells:
            return
        self.entries.setdefault(event.host, []).append(self._known.keep(entry))


def _size(entry: Entry) -> int:
    texts = itertools.chain(
        (entry.message, entry.uncertainty, entry.output, entry.manifest),
        entry.errors,
        entry.unmet,
        entry.operations,
        *entry.health,
        *entry.changes,
    )
    return sum(map(len, texts))


def _shortened(entry: Entry) -> Entry:
    def short(texts: Iterable[str]) -> tuple[str, ...]:
        """Return the first strings, each shortened."""
        return tuple(text[:MAX_SHORT] for text in itertools.islice(texts, MAX_FEW))

    return entry._replace(
        message=entry.message[:MAX_SHORT],
        uncertainty=entry.uncertainty[:MAX_SHORT],
        output=entry.output[-MAX_SHORT:],
        manifest=entry.manifest[:MAX_SHORT],
        planned=entry.planned[:MAX_SHORT],
        errors=short(entry.errors),
        unmet=short(entry.unmet),
        operations=short(entry.operations),
        health=tuple(CheckResult._make(short(check)) for check in entry.health[:MAX_FEW]),
        changes=tuple(
            ChangeLine._make((*short(change[:3]), change.diff and DIFF_LEFT_OUT))
            for change in entry.changes[:MAX_FEW]
        ),
    )


def is_reportable(event: dict[str, Any], drift: bool = False) -> bool:
    """Whether there is anything to report about a transaction event.

    ``drift``: a pending change without drift is not reported. An ``apply`` has its own line if it
    failed, was skipped or has a health check to report; otherwise its resources show its actions.
    """
    if event["type"] == APPLY and event["status"] not in ("failed", "skipped"):
        return any(check["status"] != "OK" for check in event.get("health_check", ()))
    if drift and event["status"] == "changed":
        return "drift" in event
    return event["status"] != "stable" or any(key in event for key in _TOLD_OF_STABLE)


def entry_of(
    event: dict[str, Any],
    verbose: bool = False,
    *,
    outputs: bool = False,
    operations: bool = False,
) -> Entry:
    """The summary of a transaction event; ``verbose``: also successful checks, ``outputs``: the
    output of commands, ``operations``: the recorded operations of a preview.
    """
    uncertainty = message = ""
    changes = tuple(
        ChangeLine(c["what"], _shown(c["from"]), _shown(c["to"]), c.get("diff", ""))
        for c in event["changes"]
    )
    if event["noop"] and event["status"] == "changed":
        message = f"would {intent(event['type'], changes, event['refreshed']).words}"
    elif event["status"] == "stable" and event.get("noop_message"):
        message = event["noop_message"].replace("Would have waited", "would wait", 1)
    elif "left_out" in event:
        message = f"excluded by --{event['left_out']}{LEFT_AS.get(event.get('left_as', ''), '')}"
    elif event["status"] == "skipped" and not event["unmet_requirements"]:
        message = "excluded by control"
    drift = event.get("drift", {"by": ""})
    if drift["by"]:
        message = f"{DRIFTS[drift['by']]}; a push {with_object(message)}"
    if event.get("prediction") in UNCERTAIN:
        reason = event.get("prediction_reason") or "no reason given"
        uncertainty = f"{event['prediction']} ({reason})"
    due = event.get("due_since", "")
    if due == event.get("run_id"):
        due = ""  # pending since this same run, which has a warning about it
    return Entry(
        f"{event['type']}#{event['name']}",
        event["status"],
        message=message,
        uncertainty=uncertainty,
        errors=errors_of(event),
        unmet=tuple(event["unmet_requirements"]),
        health=tuple(
            CheckResult(check["name"], check["status"], check["output"])
            for check in event.get("health_check", ())
            if verbose or check["status"] != "OK"
        ),
        changes=(*changes, *_traces(drift, event["name"])),
        noop=event["noop"],
        fired=event["refreshed"],
        due=due,
        drift=drift["by"],
        manifest=event.get("manifest", ""),
        output=event.get("output", "") if outputs and len(event["error"]) < 2 else "",
        planned=event.get("planned", ""),
        exit_code=event.get("exit_code"),
        left_as=event.get("left_as", ""),
        operations=tuple(map(operation_words, event.get("operations", ()) if operations else ())),
    )


def errors_of(event: dict[str, Any]) -> tuple[str, ...]:
    """The reasons why a resource failed, each followed by its position in the manifest; a reason
    that already ends with a position, such as that of a template, gets no second one.
    """
    errors, place = event["error"], event.get("place", "")
    if not errors or not place or place in errors[0]:
        return tuple(errors)
    reason, newline, rest = errors[0].partition("\n")
    if re.search(_POSITION, reason):
        return tuple(errors)
    return (f"{reason} ({place}){newline}{rest}", *errors[1:])


def _traces(drift: dict[str, str], name: str) -> Iterator[ChangeLine]:
    """The known facts about a drift, and about the push that it differs from. A path below that of
    the resource is shown without their common beginning.
    """
    owner, package = drift.get("owner"), drift.get("package")
    path = drift.get("path", "").removeprefix(f"{name.rstrip('/')}/")
    known = [drift.get("changed"), path, owner and f"owner {owner}"]
    known.append(package and f"package {package}")
    if any(known):
        yield ChangeLine(PROVENANCE[0], "", ", ".join(filter(None, known)), "")
    if "run" in drift:
        text = f"{drift.get('at', '')} by {drift.get('user', '')}"
        yield ChangeLine(PROVENANCE[1], "", text, "")


def _shown(value: Any) -> str:
    return "" if value is None else value_text(value)
