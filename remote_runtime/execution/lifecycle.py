"""The lifecycle of one resource (target): provider, state, actions, state again, checks."""

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from remote_runtime.changes import Action
from remote_runtime.context import Context
from remote_runtime.errors import CcmError, ProtocolError, ResourceError, UnsettledError
from remote_runtime.plan_item import Item, each_of
from remote_runtime.registry import Registry
from remote_runtime.reporting.events import Outcome, secrets_of
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.managed_resources.managed_resource import ManagedResource
    from remote_runtime.plans.assertions import PlanAssertions

APPLIED = "Would have applied changes"  # in noop, for a resource with children

DIFFERS, AS_DESIRED = "differs", "as_desired"  # the state of a skipped resource, or UNKNOWN

Children = Callable[[], List[Outcome]]

_SURE = Uncertainty()


class Lifecycle(object):
    """Runs the resources of one run; their types decide what they do.

    ``promises`` are the predictions for each resource if the run is bound to a plan file.
    """

    def __init__(
        self,
        context: Context,
        registry: Registry,
        *,
        render: Callable[[Item], Dict[str, Any]],
        promises: "Optional[PlanAssertions]" = None,
    ) -> None:
        self._context = context
        self._registry = registry
        self._render = render
        self._promises = promises

    def run(
        self,
        outcome: Outcome,
        noop: bool,
        *,
        refresh: bool,
        gate: Uncertainty = _SURE,
        children: Children = list,
    ) -> None:
        """Bring one managed resource to its desired state, or describe that in noop.

        ``outcome`` is the empty outcome of its item; completed actions are added to it at once. In
        noop, ``gate`` is the uncertainty of the change or condition that lets it run; ``children``
        runs the children of an item.

        Every failure, including a bug of a provider, is in the outcome. ``Cancelled`` and
        ``ProtocolError`` are raised: they end the run.
        """
        item = outcome.item
        options = self._context.options
        outcome.health_only = options.monitor_only or item.monitor_only

        def manage() -> None:
            if options.status_only and not item.monitor_only:
                self._look(item, outcome)
            elif item.applies:
                self._compose(item, noop, refresh=refresh, outcome=outcome, children=children)
            elif not outcome.health_only:
                self._manage(item, noop, refresh=refresh, gate=gate, outcome=outcome)

        with self._context.for_resource(item, noop, secrets_of(item)):
            self._try(manage, outcome)
            if item.health_checks and not noop:
                self._try(lambda: self._check(item, outcome), outcome)
            elif item.health_checks and outcome.prediction:
                self._try(lambda: self._foresee_checks(outcome), outcome)

    def ask(self, outcome: Outcome, noop: bool) -> Uncertainty:
        """Evaluate the control of an item on the host. The outcome is skipped if it is false, and
        failed if it cannot be evaluated. Returns its uncertainty."""
        from remote_runtime.execution.control_conditions import Answer, ask

        answers: List[Answer] = []
        self._try(lambda: answers.append(ask(outcome.item, self._context, noop)), outcome)
        if answers and not answers[0].holds:
            outcome.skip([])
        return answers[0].uncertainty if answers else _SURE

    def suppose(self, item: Item, uncertainty: Uncertainty) -> None:
        """Record, in a preview, what later resources may find if a skipped one runs."""
        from remote_runtime.execution.preview import Previewer

        previewer = Previewer(self._context, self._registry, self._render)
        for one in each_of([item], managed=True):
            if one.applies or not one.managed:
                continue
            with self._context.for_resource(one, True, secrets_of(one)):
                previewer.suppose(one, uncertainty)

    def stands(self, item: Item) -> str:
        """Return, in a preview, the state of a resource that a selection excludes but a selected
        one needs; "" if it is not needed.

        Later resources do not see the effects of these reads.
        """
        found = [self._stands(one) for one in each_of([item], managed=True) if one.needed]
        for worst in (DIFFERS, UNKNOWN, AS_DESIRED):
            if worst in found:
                return worst
        return ""

    def _stands(self, item: Item) -> str:
        outcome = Outcome(item)
        if (item.applies and not item.deferred_error) or not item.managed:
            return ""  # its state follows from its children, or is not managed
        if item.control:
            self.ask(outcome, True)
            if outcome.skipped or outcome.failed:
                return UNKNOWN if outcome.failed else ""

        def look() -> None:
            self._manage(item, True, refresh=False, gate=_SURE, outcome=outcome)
            resource = self._registry.create(item)
            # An action that always runs is never converged, even after it has run.
            if outcome.changed and resource.may_fail and resource.drift_state() == {}:
                outcome.prediction = UNKNOWN

        with self._context.for_resource(item, True, secrets_of(item)), self._context.apart():
            self._try(look, outcome)
        if outcome.failed or outcome.prediction == UNKNOWN:
            return UNKNOWN
        return DIFFERS if outcome.noop_message else AS_DESIRED

    def _try(self, step: Callable[[], None], outcome: Outcome) -> None:
        """Run one step; a failed step does not prevent the next one."""
        try:
            step()
        except ProtocolError:
            raise
        except CcmError as error:
            outcome.fail(str(error), getattr(error, "output", ""))
        # A defect fails its resource, never the run; a custom type may even call exit.
        except (Exception, SystemExit) as error:
            outcome.fail(*(bug(error, outcome.item) or (defect(error),)))

    def _manage(
        self, item: Item, noop: bool, *, refresh: bool, gate: Uncertainty, outcome: Outcome
    ) -> None:
        if item.deferred_error:
            raise ResourceError(item.deferred_error, kind="resource.template")
        if noop:
            self._predict(outcome, refresh, gate)
            return
        if item.deferred_render:
            item = outcome.item = item._replace(properties=self._render(item))
        resource = outcome.resource = self._registry.create(item)
        outcome.provider = resource.provider.name
        self._converge(resource, refresh, outcome)

    def _predict(self, outcome: Outcome, refresh: bool, gate: Uncertainty) -> None:
        from remote_runtime.execution.preview import Previewer

        Previewer(self._context, self._registry, self._render).tell(outcome, refresh, gate)

    def _compose(
        self, item: Item, noop: bool, *, refresh: bool, outcome: Outcome, children: Children
    ) -> None:
        """Run a resource with children: its result follows from theirs."""
        if item.deferred_error:
            raise ResourceError(item.deferred_error, kind="resource.manifest")
        resource = self._registry.create(item)
        outcome.provider = resource.provider.name
        ran = children()
        failed = sum(1 for child in ran if child.failed)
        if failed:
            unfinished = len(item.children) - len(ran)
            noun = "resource" if len(item.children) == 1 else "resources"
            text = "%d of %d %s failed" % (failed, len(item.children), noun)
            outcome.fail(text + (", %d not run (fail_on_error)" % unfinished if unfinished else ""))
            return
        outcome.final_ensure = resource.observe().ensure
        outcome.refreshed = refresh and not outcome.health_only
        # Changes of a noop child do not count as changes of a parent that is not noop.
        outcome.changed = any(child.changed and (item.noop or not child.item.noop) for child in ran)
        if noop and outcome.changed:
            outcome.noop_message = APPLIED
        if noop and not outcome.health_only:
            from remote_runtime.execution.preview import summed_up

            summed_up(outcome, ran)

    def _look(self, item: Item, outcome: Outcome) -> None:
        """Only observe: the outcome contains the properties that were read."""
        resource = self._registry.create(item)
        outcome.provider = resource.provider.name
        found = resource.found()
        outcome.final_ensure = str(found.pop("ensure"))
        outcome.item = item._replace(properties=found)

    def _converge(self, resource: "ManagedResource", refresh: bool, outcome: Outcome) -> None:
        state = resource.observe()
        outcome.final_ensure = state.ensure
        actions = resource.actions(state, refresh)
        if not actions:
            outcome.acted = True
            resource.state_left = state
            return
        if self._promises is not None:
            actions = self._promises.hold(outcome.item, actions)
        self._context.check_cancelled()
        noted = False
        if not resource.read_only:
            self._context.before_change([outcome.item])
            noted = self._context.ledger().begin(outcome.item, resource.needs_refresh(state))
        try:
            for action in actions:
                self._act(action, outcome, resource.read_only)
        except Exception:
            if noted:
                self._context.refreshes.end(outcome.changed or _has_changed(resource))
            raise
        finally:
            outcome.ended, outcome.tries = resource.ended, resource.tries
        if noted:
            self._context.refreshes.end(outcome.changed)
        outcome.acted = True
        outcome.refreshed = resource.accepts_refresh(refresh)
        state = resource.observe()
        outcome.final_ensure = state.ensure
        reason = resource.unachieved(state)
        if reason:
            raise UnsettledError(reason)
        resource.state_left = state

    def _act(self, action: Action, outcome: Outcome, read_only: bool) -> None:
        self._context.check_cancelled()
        try:
            action.call()
        finally:
            # Also after a failure: it may have been partly done.
            self._context.has_acted()
        outcome.changed = not read_only
        outcome.changes.extend(action.changes)

    def _check(self, item: Item, outcome: Outcome) -> None:
        from remote_runtime import health

        if outcome.resource is not None:
            outcome.resource.state_left = None  # a command may do anything
        outcome.health = health.run_all(item, self._context)
        for message in health.failures(outcome.health):
            outcome.fail(message)

    def _foresee_checks(self, outcome: Outcome) -> None:
        from remote_runtime.health.preview import predict

        predict(outcome, self._context)


def _has_changed(resource: "ManagedResource") -> bool:
    """Return whether a failed action reached the desired state: the next run would not see that
    anything changed."""
    if resource.ended is not None:
        return False  # a command of the user, which runs again
    try:
        return not resource.actions(resource.observe(), False)
    except Exception:  # its state is unknown
        return True


def bug(error: BaseException, item: Item) -> Tuple[str, ...]:
    """Return the message and the traceback for a bug in a custom type; () for a bug in ccm.

    The files are those of the user, below ``types/`` next to the manifest.
    """
    if not item.own:
        return ()
    import traceback

    inside = "resources/%s/" % item.type
    lines, where = [], ""
    for file, number, name, text in traceback.extract_tb(error.__traceback__):
        theirs = inside in str(file)
        if theirs:
            file = "types/%s/%s" % (item.type, file.rpartition(inside)[2])
            where = "%s:%d" % (file, number)
        if where:
            lines.append("%s:%d, in %s%s" % (file, number, name, "\n    " + text if text else ""))
    if not where:
        return ()
    what = "%s: %s" % (type(error).__name__, error)
    return "a bug in the custom type %s: %s (%s)" % (item.type, what, where), "\n".join(lines)


def defect(error: BaseException) -> str:
    """Return one line about a bug in ccm, with its position."""
    import os
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = "%s:%d" % (os.path.basename(str(frames[-1][0])), frames[-1][1]) if frames else "?"
    return "resource.defect: internal error in ccm, please report it: %s: %s (%s)" % (
        type(error).__name__,
        error,
        where,
    )
