"""The pending refreshes of one manifest on this host, so that none is lost (target).

An entry is a reference in a subscription together with the subscriber, or the same resource twice
if it must be refreshed because of its own change. It is on disk before anything that the reference
covers is changed, and is removed once the subscriber has succeeded. However a run ends, the record
therefore contains at least the pending refreshes. Without a record, there are none.
"""

import os
import time
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Sequence, Set, Tuple

from remote_runtime.plan_item import Item, each_of
from remote_runtime.plans.plan import Plan
from remote_runtime.state.lazy_refreshes import Refreshes
from remote_runtime.system.state_directory import APPLIED, REFRESHES, record_path

Pair = Tuple[str, str]


class Run(NamedTuple):
    """The run of a ledger; ``name`` is the name of its manifest's records.

    ``settled``: nothing was pending when it started. ``shown`` masks a text, ``tell`` receives a
    level and a line.
    """

    name: str
    plan: Plan
    settled: bool
    shown: Callable[[str], str]
    tell: Callable[[str, str], None]


class PendingRefreshes(Refreshes):
    """See the module. If the state directory is unusable, that is reported once and the run
    continues.
    """

    def __init__(self, run: Run, directory: str) -> None:
        self._run = run
        self._directory = directory
        self._plan = run.plan
        self._name = run.name
        self._memory = None  # type: Any
        self._off = self._noop = run.plan.options.noop
        self._due: Dict[Pair, Dict[str, Any]] = {}
        self._before: Set[Pair] = set()  # of those, what earlier runs have left
        self._followers: Dict[str, List[Item]] = {}
        self._stands_for: Dict[int, Tuple[str, ...]] = {}
        self._begun: List[Pair] = []
        self._unmarked = False
        if not run.settled and os.path.exists(record_path(directory, REFRESHES, self._name)):
            self._try(self._load)

    @property
    def due(self) -> bool:
        return bool(self._due)

    def since(self, item: Item) -> str:
        if not self._before:
            return ""
        return self._first([pair for pair in self._before if pair[1] == item.id])

    def owed(self, item: Item) -> str:
        if not self._due:
            return ""
        return self._first([pair for pair in self._due if pair[1] == item.id])

    def owes_itself(self, item: Item) -> bool:
        return (item.id, item.id) in self._before

    def begin(self, item: Item, itself: bool = False) -> bool:
        pairs, self._begun = self._note(item, itself)
        return bool(pairs)

    def _note(self, item: Item, itself: bool = False) -> Tuple[List[Pair], List[Pair]]:
        """Record the refreshes that a change causes, and return all of them and the new ones.

        A subscriber that comes before means a resource of its own manifest with the same name.
        """
        if not self._stands_for:
            self._index(self._plan.items, ())
        of_item = self._stands_for[item.index]
        pairs = [
            (ref, follower.id)
            for ref in of_item
            for follower in self._followers.get(ref, ())
            if follower.index > item.index
        ]
        pairs += [(item.id, item.id)] * itself
        new = [pair for pair in pairs if pair not in self._due]
        if new:
            at = int(time.time())
            for pair in new:
                self._due[pair] = {"run": self._plan.run_id, "user": self._plan.user, "at": at}
            self._save()
        return pairs, new

    def announce(self, items: Sequence[Item]) -> Callable[[Item], None]:
        noted = {item.index: self._note(item)[1] for item in items}
        return lambda item: self._drop(noted[item.index])

    def end(self, changed: bool) -> None:
        if not changed:
            self._drop(self._begun)

    def served(self, item: Item, fired: Sequence[str]) -> None:
        if self._due:
            of_item = [pair for pair in self._due if pair[1] == item.id]
            refs = (item.id, *fired)
            self._drop([pair for pair in of_item if pair in self._before or pair[0] in refs])

    def released(self, item: Item) -> None:
        if self._due:
            left_out = {one.id for one in each_of([item])}
            self._drop([pair for pair in self._due if pair[1] in left_out])

    def close(self) -> None:
        """Report the pending refreshes. See ``Refreshes``."""
        if self._noop:
            return
        for name in sorted({name for _, name in self._due}):
            pairs = sorted(pair for pair in self._due if pair[1] == name)
            since = self._first(pairs)
            when = "this run" if since == self._plan.run_id else "run %s" % since
            text = "%s changed in %s, but the refresh of %s is still pending; %s" % (
                ", ".join(ref for ref, _ in pairs),
                when,
                name,
                "refresh it manually" if self._off else "the next full push refreshes it",
            )
            self._run.tell("warning", text)

    def _first(self, pairs: Iterable[Pair]) -> str:
        return min([str(self._due[pair]["run"]) for pair in pairs], default="")

    def _drop(self, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            self._before.discard(pair)
            del self._due[pair]
        if pairs:
            self._save()

    def _index(self, items: Iterable[Item], around: Tuple[str, ...]) -> None:
        """Record the subscriptions, and the children of each resource."""
        for item in items:
            own = (item.id, "%s#%s" % (item.type, item.alias)) if item.alias else (item.id,)
            self._stands_for[item.index] = own + around
            if not item.managed:
                continue
            for reference in item.subscribe:
                self._followers.setdefault(reference, []).append(item)
            self._index(item.children, own + around)

    # -- the record -------------------------------------------------------------------------------

    def _load(self) -> None:
        record = self._opened().read(REFRESHES, self._name)
        due_refreshes = record.get("due") if record else None
        if not isinstance(due_refreshes, dict):
            return
        known = {self._memory.digest("\n".join(pair)): pair for pair in self._pairs()}
        gone = []
        for name, entry in due_refreshes.items():
            if not isinstance(entry, dict) or not isinstance(entry.get("run"), str):
                continue
            if name in known:
                self._due[known[name]] = entry
            else:
                gone.append(entry)
        run = self._plan.run_id  # which may continue after a reboot
        self._before = {pair for pair, entry in self._due.items() if entry["run"] != run}
        if gone and not self._noop and not self._incomplete():
            self._forgo(gone)

    def _pairs(self) -> List[Pair]:
        items = each_of(self._plan.items)
        return [(ref, one.id) for one in items for ref in (one.id, *one.subscribe)]

    def _incomplete(self) -> bool:
        """Return whether a child manifest is broken, so that its resources are not in the plan."""
        return any(one.applies and one.deferred_error for one in each_of(self._plan.items))

    def _forgo(self, gone: Sequence[Dict[str, Any]]) -> None:
        """Report and remove entries that the manifest no longer contains."""
        for entry in gone:
            self._run.tell(
                "warning",
                "%s changed in run %s, but the refresh of %s was still pending; the manifest no "
                "longer requires it, so it is dropped"
                % (entry.get("resource"), entry["run"], entry.get("subscriber")),
            )
        self._save()

    def _opened(self) -> Any:
        if self._memory is None:
            from remote_runtime.system.state_store import StateStore

            self._memory = StateStore(self._directory)
        return self._memory

    def _save(self) -> None:
        if not self._off:
            self._try(self._write)

    def _write(self) -> None:
        memory = self._opened()
        if not self._due:
            memory.forget(REFRESHES, self._name)
            return
        if not self._unmarked:
            memory.unmark(APPLIED, self._name)
            self._unmarked = True
        mask = self._run.shown
        due = {
            memory.digest("\n".join(pair)): dict(
                entry, resource=mask(pair[0]), subscriber=mask(pair[1])
            )
            for pair, entry in self._due.items()
        }
        memory.write(REFRESHES, self._name, {"manifest": mask(self._plan.manifest), "due": due})

    def _try(self, step: Callable[[], None]) -> None:
        """Run a step; an unusable state directory is reported, then ignored for this run."""
        from remote_runtime.system.state_store import StateError

        try:
            step()
        except StateError as error:
            if error.damaged:
                self._run.tell(
                    "warning", "the pending refreshes of this host are not known: %s" % error
                )
                self._save()
            else:
                self._off = True
                text = "the next run will not know the pending refreshes of this run: %s"
                self._run.tell("warning", text % error)
