"""Predicts the actions of a resource, with their uncertainty (target; only in a preview)."""

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from remote_runtime.changes import Action, Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Effect, PathEffect, UnknownEffect, everything
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.reporting.effects import losses
from remote_runtime.reporting.events import Outcome
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from remote_runtime.uncertainty import CERTAIN as SURE

if TYPE_CHECKING:
    from remote_runtime.managed_resources.managed_resource import ManagedResource

CERTAIN = "certain"

Render = Callable[[Item], Dict[str, Any]]


class Previewer(object):
    """Predicts the current resource; later ones see its predicted effects."""

    def __init__(self, context: Context, registry: Registry, render: Render) -> None:
        self._context = context
        self._registry = registry
        self._render = render

    def tell(self, outcome: Outcome, refresh: bool, gate: Uncertainty) -> None:
        """Complete the outcome; ``gate`` is the uncertainty of the change or condition that lets it
        run.

        ``ResourceError`` for a certain failure. A failure that a planned change may fix makes the
        prediction unknown.
        """
        resource: "Optional[ManagedResource]" = None
        actions: List[Action] = []
        passed: List[Action] = []
        outcome.prediction = CERTAIN
        if outcome.item.asked:
            from remote_runtime.lookups.staleness import staleness

            gate = gate.worse(staleness(outcome.item, self._context))
        try:
            if outcome.item.deferred_render:
                properties = self._render(outcome.item)
                outcome.item = outcome.item._replace(properties=properties)
            resource = self._created(outcome)
            state = resource.observe()
            outcome.final_ensure = state.ensure
            if self._context.observes:
                outcome.observed = resource.observation(state)
            actions = list(resource.actions(state, refresh))
            for action in actions:
                if action.preflight is not None:
                    action.preflight()
                passed.append(action)
        except ResourceError as error:
            if resource is not None and not self._is_open(error):
                # All of it will be done, and is not enough; or what precedes the failure.
                whole = error.kind == UnsettledError.default_kind
                done = actions if whole else passed
                self._describe(
                    resource, done, refresh=refresh, uncertainty=Uncertainty(), outcome=outcome
                )
                outcome.refreshed = outcome.refreshed and whole
                if len(passed) < len(actions):
                    outcome.failing = None if whole else len(passed)
                    failing = actions[len(passed)]
                    self._context.expect(failing.unfinished, Uncertainty(), outcome.item.label)
            uncertainty = self._unknown(error)
            resource = resource or self._supposed(outcome)
            if len(passed) < len(actions) and not actions[len(passed)].effects:
                failing = actions[len(passed)]
                left = [*failing.unfinished, *resource.unknown_effects()]
                actions[len(passed)] = failing._replace(effects=left)
            actions = actions or list(getattr(error, "would", ()))
            actions = actions or resource.assumed_actions(refresh)
            self._describe(
                resource, actions, refresh=refresh, uncertainty=uncertainty, outcome=outcome
            )
            if not actions and not resource.read_only:
                self._context.expect(resource.unknown_effects(), uncertainty, outcome.item.label)
            return
        self._conclude(resource, actions, refresh=refresh, gate=gate, outcome=outcome)
        if not actions:
            self._leave(resource, state, outcome)

    def _leave(self, resource: "ManagedResource", state: Any, outcome: Outcome) -> None:
        """Add what is known of a resource that does not change."""
        uncertainty, overlay = outcome.gate, self._context.overlay
        if overlay is None or uncertainty.level == UNKNOWN:
            return
        self._context.expect(resource.known_effects(state), Uncertainty(), outcome.item.label)
        if uncertainty.level and resource.name.startswith("/"):
            overlay.lay_elsewhere(PathEffect(resource.name, "file"), uncertainty)

    def suppose(self, item: Item, uncertainty: Uncertainty) -> None:
        """Record what a resource would change that is skipped for all we know."""
        try:
            resource = self._supposed(Outcome(item))
            actions = [] if item.deferred_render else resource.assumed_actions(False)
            effects = [effect for action in actions for effect in action.effects]
            effects = effects or list(resource.unknown_effects())
        except ResourceError:  # what it would change depends on what is not known, too
            effects = [UnknownEffect(uncertainty, everything)]
        self._context.suppose_effects(effects, uncertainty, item.label)

    def _conclude(
        self,
        resource: "ManagedResource",
        actions: List[Action],
        *,
        refresh: bool,
        gate: Uncertainty,
        outcome: Outcome,
    ) -> None:
        """Describe the actions of a resource that has no failure."""
        uncertainty = gate.worse(self._context.uncertainty)
        self._describe(
            resource,
            actions,
            refresh=refresh,
            uncertainty=uncertainty,
            outcome=outcome,
            gate=gate,
        )

    def _created(self, outcome: Outcome) -> "ManagedResource":
        resource = self._registry.create(outcome.item)
        outcome.provider = resource.provider.name
        return resource

    def _supposed(self, outcome: Outcome) -> "ManagedResource":
        """Return the resource, even if only an earlier change enables a provider to manage it."""
        try:
            return self._created(outcome)
        except ResourceError as error:
            if error.kind not in ("resource.provider", Unknowable.default_kind):
                raise
        resource = self._registry.suppose(outcome.item)
        outcome.provider = resource.provider.name
        return resource

    def _is_open(self, error: ResourceError) -> bool:
        return isinstance(error, Unknowable) or bool(self._context.uncertainty.level)

    def _unknown(self, error: ResourceError) -> Uncertainty:
        """Return the uncertainty of a failure; raises the failure if it is certain."""
        if isinstance(error, Unknowable):
            return Uncertainty(UNKNOWN, error.message)
        if not self._context.uncertainty.level:
            raise error
        return Uncertainty(UNKNOWN, "%s; %s" % (error.message, self._context.excuse))

    def _describe(
        self,
        resource: "ManagedResource",
        actions: List[Action],
        *,
        refresh: bool,
        uncertainty: Uncertainty,
        outcome: Outcome,
        gate: Uncertainty = SURE,
    ) -> None:
        name = outcome.item.label
        outcome.gate = uncertainty
        if actions and self._context.options.drift:
            self._look(resource, actions, outcome)
        if uncertainty.level:
            outcome.prediction, outcome.prediction_reason = uncertainty
            outcome.gate = Uncertainty(
                uncertainty.level,
                "the result of %s is not certain: %s" % (name, uncertainty.reason),
            )
        if not actions:
            return
        outcome.changed = not resource.read_only
        outcome.refreshed = resource.accepts_refresh(refresh)
        outcome.noop_message = resource.describe(actions)
        if resource.may_fail:
            outcome.passing = Uncertainty(ASSUMED, "if %s succeeds" % name)
            outcome.gate = outcome.passing.worse(outcome.gate)
        effects: List[Effect] = []
        for action in actions:
            outcome.changes.extend(action.changes)
            effects.extend(action.effects)
            self._context.expect(action.effects, uncertainty, name, gate)
        outcome.effects = losses(effects)
        outcome.recorded = () if resource.read_only else effects

    @staticmethod
    def _look(resource: "ManagedResource", actions: List[Action], outcome: Outcome) -> None:
        """Store its current state, before its effects apply."""
        try:
            outcome.found = resource.drift_state()
            outcome.provenance = resource.provenance(actions)
        except Exception:  # its state does not show whether it ran
            pass


def summed_up(outcome: Outcome, children: List[Outcome]) -> None:
    """Give a resource with children their combined prediction."""
    worst = Uncertainty()
    for child in children:
        if child.prediction in (ASSUMED, UNKNOWN):
            worst = worst.worse(Uncertainty(child.prediction))
        outcome.gate = outcome.gate.worse(child.gate)
        outcome.passing = outcome.passing.worse(child.passing)
    outcome.prediction = worst.level or CERTAIN
    if worst.level:
        names = [child.item.id for child in children if child.prediction == worst.level]
        outcome.prediction_reason = "the prediction is %s for %s" % (
            worst.level,
            ", ".join(names[:3]),
        )
