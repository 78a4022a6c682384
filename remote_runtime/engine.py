"""Walks the resources of a plan in the order written (target): who runs, who is skipped."""

import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from remote_runtime.cancellation import Cancelled
from remote_runtime.context import Context
from remote_runtime.events import EventMaker, Outcome
from remote_runtime.item import Item
from remote_runtime.lifecycle import Lifecycle

Emit = Callable[[Dict[str, Any]], None]


class Turn(object):
    """How the latest turn of a resource ended, for those that require or subscribe to it."""

    def __init__(self, met: bool, changed: bool = False, noop: bool = False) -> None:
        self.met = met
        self.changed = changed
        self.noop = noop


class Engine(object):
    """Runs the items of one plan; each event goes to ``emit`` as soon as it is made.

    ``turns`` are those that earlier runs of the same session had, by reference.
    """

    def __init__(
        self,
        *,
        context: Context,
        lifecycle: Lifecycle,
        maker: EventMaker,
        emit: Emit,
        turns: Optional[Dict[str, Turn]] = None,
    ) -> None:
        self._context = context
        self._lifecycle = lifecycle
        self._maker = maker
        self._emit = emit
        self._turns: Dict[str, Turn] = dict(turns or {})

    def run(self, items: Sequence[Item], fail_on_error: bool = False) -> List[Outcome]:
        """Run these items; with ``fail_on_error`` nothing starts after the first failure.

        ``Cancelled`` passes, after the event of the resource that was at work.
        """
        outcomes: List[Outcome] = []
        for item in items:
            self._context.check_cancelled()
            outcome = self._turn(item)
            outcomes.append(outcome)
            if outcome.failed and fail_on_error:
                break
        return outcomes

    def _turn(self, item: Item) -> Outcome:
        started = time.monotonic()
        noop = self._context.options.noop or item.noop
        outcome = Outcome(item)
        interrupted: Optional[Cancelled] = None
        if not self._skips(item, outcome):
            try:
                self._live(outcome, noop)
            except Cancelled as cancelled:
                # What was done is done: a package transaction is let finish before the run ends.
                interrupted = cancelled
                outcome.fail("interrupted: %s" % cancelled)
        self._emit(self._maker.make(outcome, noop, time.monotonic() - started))
        self._record(item, outcome, noop)
        if interrupted is not None:
            raise interrupted
        return outcome

    def _skips(self, item: Item, outcome: Outcome) -> bool:
        """Whether its turn has not come, which is then what the outcome says."""
        unmet = [r for r in item.require if not self._met(r)] if item.managed else []
        if item.managed and not unmet:
            return False
        outcome.skip(unmet)
        self._record_children(item, Turn(met=not unmet))
        return True

    def _met(self, reference: str) -> bool:
        turn = self._turns.get(reference)
        return turn is not None and turn.met

    def _live(self, outcome: Outcome, noop: bool) -> None:
        item = outcome.item

        def children() -> List[Outcome]:
            return self.run(item.children, item.fail_on_error)

        self._lifecycle.run(outcome, noop, self._fired(item, noop), children)

    def _fired(self, item: Item, noop: bool) -> bool:
        """Whether a resource that this one subscribes to has changed."""
        for reference in item.subscribe:
            turn = self._turns.get(reference)
            if turn is not None and turn.changed and (noop or not turn.noop):
                return True
        return False

    def _record(self, item: Item, outcome: Outcome, noop: bool) -> None:
        turn = Turn(not outcome.failed and not outcome.unmet, outcome.changed, noop)
        self._turns[item.id] = turn
        if item.alias:
            self._turns["%s#%s" % (item.type, item.alias)] = turn

    def _record_children(self, item: Item, turn: Turn) -> None:
        """A skipped composite has no events of its children; who requires one still is answered."""
        for child in item.children:
            self._turns[child.id] = turn
            if child.alias:
                self._turns["%s#%s" % (child.type, child.alias)] = turn
            self._record_children(child, turn)
