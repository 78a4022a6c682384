"""The last applied manifest on this host, and the differences since then (target).

Each resource has a digest of the desired state, a digest of the state immediately afterwards, and
the run.
"""

import time
from typing import Any, Callable, Dict, List, NamedTuple

from remote_runtime.cancellation import Cancelled
from remote_runtime.plan_item import each_of
from remote_runtime.plans.plan import Plan
from remote_runtime.reporting.events import Outcome
from remote_runtime.stdlib_light import json_text
from remote_runtime.system.state_directory import APPLIED
from remote_runtime.system.state_store import StateError, StateStore

SOMEONE, YOU, BOTH, NEW = "someone", "you", "both", "new"


class Entry(NamedTuple):
    """The digests of one resource, and their run.

    ``found`` is "" if no state shows it: an action without its own state is visible in the next run
    only as converged.
    """

    desired: str
    found: str
    run: str


class LastApplied(object):
    """The record of one manifest in one run; ``name`` is the name of the record."""

    def __init__(self, plan: Plan, directory: str, name: str) -> None:
        self._plan = plan
        self._memory = StateStore(directory)
        self._name = name
        self._whole = True
        self._notes: Dict[str, Entry] = {}
        self._runs: Dict[str, List[Any]] = {}
        self._entries: Dict[str, Entry] = {}

    def note(self, outcome: Outcome) -> None:
        """Store the result of a resource in a push."""
        if outcome.failed or outcome.unmet:
            self._whole = False
        elif outcome.resource is not None:
            try:
                entry = self._notes[outcome.item.id] = self._entry(outcome)
                self._whole = self._whole and bool(entry.found)
            except Cancelled:
                self._whole = False  # the run ends, and completed actions must be recorded

    def write(self, mark: str) -> None:
        """Store the recorded results; set the ``mark`` if the whole plan was
        applied. StateError.
        """
        self._memory.unmark(APPLIED, self._name)
        try:
            self._read()
        except StateError as error:
            if not error.damaged:
                raise
        keys = {item.id: self._memory.digest(item.id) for item in each_of(self._plan.items)}
        of_plan = set(keys.values())
        entries = {key: entry for key, entry in self._entries.items() if key in of_plan}
        entries.update((keys[name], entry) for name, entry in self._notes.items())
        self._runs[self._plan.run_id] = [self._plan.user, int(time.time())]
        used = {entry.run for entry in entries.values()}
        runs = {run: drift for run, drift in self._runs.items() if run in used}
        self._memory.write(APPLIED, self._name, {"runs": runs, "resources": entries})
        if mark and self._whole:
            self._memory.mark(APPLIED, self._name, mark)

    def recall(self, tell: Callable[[str, str], None]) -> None:
        """Read the record; if it cannot be read, nothing was applied yet."""
        try:
            self._read()
        except StateError as error:
            tell("warning", "the last applied state is not known: %s" % error)

    def _read(self) -> None:
        record = self._memory.read(APPLIED, self._name) or {}
        runs, entries = record.get("runs"), record.get("resources")
        if isinstance(runs, dict) and isinstance(entries, dict):
            self._runs = {
                run: drift
                for run, drift in runs.items()
                if isinstance(drift, list) and len(drift) == 2
            }
            self._entries = {
                key: Entry(*map(str, entry))
                for key, entry in entries.items()
                if isinstance(entry, list) and len(entry) == 3
            }

    def drift(self, outcome: Outcome) -> Dict[str, Any]:
        """Return what caused the drift of a resource; {} if unknown."""
        item = outcome.item
        if item.applies or item.noop or not outcome.changed:
            return {}  # a resource with its own noop is never applied
        if outcome.prediction == "unknown" and (item.deferred_render or outcome.found is None):
            return {}  # the desired state is not known either, or whether there is anything to do
        name = self._memory.digest(item.id) if self._entries else ""
        last = self._entries.get(name)
        if last is None:
            return {"by": NEW}
        now = self._entry(outcome)
        by_you, by_someone = now.desired != last.desired, now.found != last.found
        if not (by_you or by_someone):
            return {}  # it always runs, like a command without conditions
        drift: Dict[str, Any] = {
            "by": BOTH if by_you and by_someone else YOU if by_you else SOMEONE
        }
        user, at = self._runs.get(last.run, ["", 0])
        drift.update(run=last.run, user=str(user), at=_when(at))
        if by_someone:
            drift.update(outcome.provenance)
        return drift

    def _entry(self, outcome: Outcome) -> Entry:
        item = outcome.item
        desired = [item.type, item.provider, sorted(item.properties.items())]
        return Entry(self._digest(desired), self._found(outcome), self._plan.run_id)

    def _found(self, outcome: Outcome) -> str:
        try:
            current = outcome.resource.drift_state() if outcome.resource else outcome.found
        except Exception:  # it ran, and its state does not show whether it did
            return ""
        if current is None:
            return "" if outcome.changed else self._digest("nothing to do")
        return self._digest(sorted(current.items()))

    def _digest(self, value: Any) -> str:
        return self._memory.digest(json_text.dumps(value))


def _when(at: Any) -> str:
    """A time in a record, which may be wrong if the clock was changed."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(at)))
    except (ValueError, OverflowError, OSError, TypeError):
        return ""
