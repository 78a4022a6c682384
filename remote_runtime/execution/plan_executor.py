"""Runs or skips the resources of a plan in the order in which they are written (target)."""

import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from remote_runtime.cancellation import Cancelled
from remote_runtime.context import Context
from remote_runtime.execution.lifecycle import Lifecycle
from remote_runtime.plan_item import Item, each_of
from remote_runtime.reporting.events import Outcome
from remote_runtime.state.lazy_refreshes import Refreshes
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

ItemResult = Callable[[Outcome, bool, float], None]

_SURE = Uncertainty()


class ResourceResult(object):
    """The result of the latest run of a resource, for resources that require or subscribe to it.

    In noop, ``uncertainty`` is that of this result, and ``passing`` that of the success of its
    command and its health checks; ``apart`` is the noop child that contains it.
    """

    def __init__(
        self,
        met: bool,
        changed: bool = False,
        *,
        noop: bool = False,
        uncertainty: Uncertainty = _SURE,
        passing: Uncertainty = _SURE,
        apart: str = "",
    ) -> None:
        self.met = met
        self.changed = changed
        self.noop = noop
        self.uncertainty = uncertainty
        self.passing = passing
        self.apart = apart


class Engine(object):
    """Runs the items of one plan.

    ``ended`` receives each resource as soon as it has run: its outcome, whether it was in noop, and
    the seconds. ``results`` are results of earlier runs of the same session, by reference;
    ``refreshes`` are those left pending by earlier runs of the same manifest. ``applied`` receives
    the same before ``ended``, without the seconds. ``done`` has the status of resources that ran
    before a reboot, by index.
    """

    def __init__(
        self,
        *,
        context: Context,
        lifecycle: Lifecycle,
        ended: ItemResult,
        results: Optional[Dict[str, ResourceResult]] = None,
        refreshes: Optional[Refreshes] = None,
        applied: Callable[[Outcome, bool], None] = lambda outcome, noop: None,
        done: Optional[Dict[int, str]] = None,
    ) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._ended = ended
        self._results: Dict[str, ResourceResult] = dict(results or {})  # the latest result of each
        self._changed: Dict[str, List[ResourceResult]] = {}  # all that changed something
        context.refreshes = refreshes or Refreshes()
        self._apart = ""
        self._asked = _SURE  # the uncertainty of the control of the current resource
        self._halting = _SURE
        self._applied = applied
        self._before: Dict[int, str] = done or {}
        self._done = dict(self._before)

    def run(self, items: Sequence[Item], fail_on_error: bool = False) -> List[Outcome]:
        """Run these items; with ``fail_on_error``, none starts after the first failure.

        ``Cancelled`` is raised after the event of the current resource.
        """
        outcomes: List[Outcome] = []
        outside = self._halting
        for at, item in enumerate(items):
            self._context.check_cancelled(item)
            self._context.upcoming = self._behind(items, at)
            self._context.halts = fail_on_error
            status = self._before.get(item.index)
            outcome = self._run_resource(item) if status is None else Outcome.restored(item, status)
            outcomes.append(outcome)
            if outcome.failed and fail_on_error:
                break
            if fail_on_error:
                self._halting = self._halting.worse(_halting(outcome))
        self._halting = outside
        return outcomes

    def _behind(self, items: Sequence[Item], at: int) -> Callable[[], Iterator[Item]]:
        """See ``Context.coming``."""

        def upcoming() -> Iterator[Item]:
            """Yield the later resources, up to the first that may not run."""
            for item in items[at + 1 :]:
                left_out = item.left_out or not item.managed or item.index in self._before
                if (
                    left_out
                    or item.control
                    or not all(self._met(reference) for reference in item.require)
                ):
                    return
                yield item

        return upcoming

    def record(self, items: Sequence[Item]) -> Dict[str, Any]:
        """Return the state of the run of the plan's ``items``, for its part after a reboot.

        It contains only results that a remaining resource requires or subscribes to, because it has
        to fit into one frame.
        """
        remaining_items = [item for item in each_of(items) if item.index not in self._done]
        wanted = {name for item in remaining_items for name in item.require + item.subscribe}
        told = {}
        for reference in wanted.intersection(self._results):
            # A change counts, regardless of the result of a later run of the same resource.
            received = [result for result in self._changed.get(reference, ()) if not result.noop]
            latest = self._results[reference]
            result = received[-1] if received else latest
            told[reference] = {
                "met": latest.met,
                "changed": result.changed,
                "noop": result.noop,
                "apart": result.apart,
            }
        return {"resources": told, "done": {str(at): how for at, how in self._done.items()}}

    def _run_resource(self, item: Item) -> Outcome:
        started = time.monotonic()
        if self._context.ahead is not None:
            self._context.ahead.begin(item)
        noop = self._context.options.noop or item.noop
        outcome = Outcome(item)
        interrupted: Optional[Cancelled] = None
        fired = self._context.fired = self._fired(item, noop)
        since = self._context.refreshes.since(item)
        if not (self._skips(item, outcome, noop) or outcome.failed):
            try:
                self._live(outcome, noop, bool(fired or since))
            except Cancelled as cancelled:
                # Completed work stays: a package transaction completes before the run ends.
                interrupted = cancelled
                outcome.fail("interrupted: %s" % cancelled)
        self._account(outcome, noop, fired=fired, since=since)
        self._ended(outcome, noop, time.monotonic() - started)
        self._record(item, outcome, noop)
        self._done[item.index] = outcome.status
        if interrupted is not None:
            raise interrupted
        return outcome

    def _skips(self, item: Item, outcome: Outcome, noop: bool) -> bool:
        """Return whether the resource is skipped, and record this in the outcome.

        If its control cannot be evaluated, the outcome has failed.
        """
        self._asked = _SURE
        if item.managed and item.left_out:
            outcome.leave_out(item.left_out)
            if self._context.options.noop:
                outcome.left_as = self._lifecycle.stands(item)
            return True
        unmet = [r for r in item.require if not self._met(r)] if item.managed else []
        if item.managed and item.control:
            unmet = self._ask(item, outcome, noop, unmet)
        if item.managed and not (unmet or outcome.skipped):
            return False
        outcome.skip(unmet)
        if noop and item.asked and not item.managed:
            from remote_runtime.lookups.staleness import staleness

            self._doubt_skip(outcome, staleness(item, self._context))
        # A skipped resource has no events of children; resources that require it use its result.
        for child in each_of(item.children):
            self._note(child, ResourceResult(met=not unmet))
        return True

    def _ask(self, item: Item, outcome: Outcome, noop: bool, unmet: List[str]) -> List[str]:
        """Evaluate the control of an item; return the unmet requirements, unless the control
        excludes it.
        """
        asked = Outcome(item)
        self._asked = self._lifecycle.ask(asked, noop)
        if asked.skipped:
            outcome.skip([])
            self._doubt_skip(outcome, self._asked)
            if self._asked.level:
                self._lifecycle.suppose(item, outcome.gate)
            return []
        if asked.failed and not unmet:
            outcome.fail(asked.errors[0], *asked.outputs[:1])
        return unmet

    @staticmethod
    def _doubt_skip(outcome: Outcome, uncertainty: Uncertainty) -> None:
        """Record the uncertainty of a control that does not exclude the resource."""
        if uncertainty.level:
            outcome.prediction, outcome.prediction_reason = uncertainty
            reason = "it depends on %s; %s" % (outcome.item.id, uncertainty.reason)
            outcome.gate = Uncertainty(uncertainty.level, reason)

    def _met(self, reference: str) -> bool:
        result = self._results.get(reference)
        return result is not None and result.met

    def _live(self, outcome: Outcome, noop: bool, refresh: bool) -> None:
        item, asked, outside = outcome.item, self._asked, self._halting

        def children() -> List[Outcome]:
            """Run the children of an item."""
            self._halting = outside.worse(asked)
            try:
                return inside()
            finally:
                self._halting = outside

        def inside() -> List[Outcome]:
            """Run the children; they are separate from everything outside if only this resource is
            previewed.
            """
            if not item.noop or self._apart:
                return self.run(item.children, item.fail_on_error)
            # The preview describes its effects, which nothing outside of it can see.
            self._apart = item.id
            try:
                with self._context.apart():
                    return self.run(item.children, item.fail_on_error)
            finally:
                self._apart = ""

        gate = self._gate(item) if noop else _SURE
        self._lifecycle.run(outcome, noop, refresh=refresh, gate=gate, children=children)

    def _gate(self, item: Item) -> Uncertainty:
        """Return the uncertainty of an item's requirements and subscriptions, and of whether it
        runs.
        """
        worst = self._halting.worse(self._asked)
        for reference in item.require:
            result = self._results.get(reference)
            if result is not None:
                worst = worst.worse(result.uncertainty).worse(result.passing)
        for reference in item.subscribe:
            results = [result for result in self._all_of(reference) if self._is_seen(result, item)]
            if not any(
                result.changed and result.uncertainty.level == _SURE.level for result in results
            ):
                for result in results:
                    worst = worst.worse(result.uncertainty)
        return worst

    def _all_of(self, reference: str) -> List[ResourceResult]:
        """Return the latest result of a resource, and the resources that changed something."""
        latest = self._results.get(reference)
        changed = self._changed.get(reference, [])
        return changed if latest is None or latest in changed else changed + [latest]

    def _is_seen(self, result: ResourceResult, item: Item) -> bool:
        """Return whether a change triggers this resource: a change in a noop child only triggers
        inside it."""
        return result.apart in ("", self._apart_of(item))

    def _fired(self, item: Item, noop: bool) -> List[str]:
        """Return the subscriptions of this resource that changed at any time in this run."""
        fired: List[str] = []
        if self._context.options.drift:
            return fired
        for reference in item.subscribe:
            for result in self._all_of(reference):
                if result.changed and (noop or not result.noop) and self._is_seen(result, item):
                    fired.append(reference)
                    break
        return fired

    def _account(self, outcome: Outcome, noop: bool, *, fired: List[str], since: str) -> None:
        """Record which refreshes of an item are still pending, and which are not."""
        if outcome.skipped and not (outcome.unmet or outcome.left_out):
            self._context.refreshes.released(outcome.item)
        elif outcome.skipped or (outcome.failed and not outcome.acted):
            outcome.due_since = self._context.refreshes.owed(outcome.item)
        else:
            outcome.due_since = since if outcome.refreshed else ""
            if not (noop or outcome.health_only):
                self._context.refreshes.served(outcome.item, fired)
        self._applied(outcome, noop)

    def _apart_of(self, item: Item) -> str:
        """Return the outermost noop child, by its own setting, that contains this one or is this
        one.
        """
        return self._apart or (item.id if item.noop and item.applies else "")

    def _record(self, item: Item, outcome: Outcome, noop: bool) -> None:
        if outcome.left_out:
            # It blocks no other resource, and an earlier run of it counts.
            for absent in each_of([item]):
                self._note(absent, self._results.get(absent.id, ResourceResult(met=True)))
            return
        met = not outcome.failed and not outcome.unmet
        apart = self._apart_of(item)
        result = ResourceResult(
            met,
            outcome.changed,
            noop=noop,
            uncertainty=outcome.gate,
            passing=outcome.passing,
            apart=apart,
        )
        self._note(item, result)

    def _note(self, item: Item, result: ResourceResult) -> None:
        references = [item.id]
        if item.alias:
            references.append("%s#%s" % (item.type, item.alias))
        for reference in references:
            self._results[reference] = result
            if result.changed:
                self._changed.setdefault(reference, []).append(result)


def _halting(outcome: Outcome) -> Uncertainty:
    """Return, in noop, the uncertainty whether a run with ``fail_on_error`` continues after this
    resource.
    """
    return outcome.passing if outcome.gate.level != UNKNOWN else outcome.gate
