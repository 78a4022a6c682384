"""A resource, as the lifecycle and the preview use it (target).

The lifecycle calls the actions, then observes again; the preview describes them.
"""

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.changes import Action, Ended
from remote_runtime.effects import Effect
from remote_runtime.item import Item, Properties

if TYPE_CHECKING:
    from remote_runtime.context import Context


class State(NamedTuple):
    """An observed state: ``ensure`` as the event reports it, and what the type ``found``."""

    ensure: str
    found: Any = None


class ManagedResource(object):
    """One resource while it runs: it observes, compares and returns actions, but never acts."""

    default_ensure = "present"
    may_fail = False  # only running its actions shows whether they succeed
    read_only = False  # its actions change nothing, such as waiting
    ended: Optional[Ended] = None  # set by a resource that runs a command of the user
    tries = 0  # the number of tries, if several are allowed
    state_left: Any = None  # the state that it observed last; None if it may have changed since

    def __init__(self, item: Item, provider: Any, context: "Context") -> None:
        self.item = item
        self.name = item.name
        self.properties = item.properties
        self.provider = provider
        self.context = context

    @property
    def ensure(self) -> str:
        """The desired state."""
        return str(self.properties.get("ensure", self.default_ensure))

    def wanted(self) -> List[str]:
        """SHA-256 of the blobs that this resource will need, as far as a quick look can tell."""
        return []

    def observe(self) -> State:
        """Read the state of the target and change nothing. ``ResourceError`` or ``Missing``."""
        raise NotImplementedError

    def found(self) -> Properties:
        """What ``ccm status`` shows: ``ensure`` and the other current properties.

        The resource may have a name only. Changes nothing. ``ResourceError``.
        """
        raise NotImplementedError

    def answer(self) -> Optional[Properties]:
        """The answers to ``ccm.ask``, by the names in ``x-ccm-answers`` of the schema: texts,
        numbers, booleans. None for a type without look-ups.

        The resource has a name only. A preview returns the predicted answers. Changes nothing.
        ``ResourceError``.
        """
        return None

    def observation(self, state: Any) -> Any:
        """The parts of a state that decide what is done, in addition to the old values in the
        changes. The keys are properties, which somebody may correct before the push.

        Plain data. It is equal as long as the host does not change, and predicted if earlier
        resources of a preview change it. A push of a plan file continues only if it is equal to
        that in the plan's preview.
        """
        raise NotImplementedError

    def drift_state(self) -> Optional[Properties]:
        """What ``ccm drift`` compares: the state after a push, without what changes by itself.

        None for a type without such a state: it has drifted if there is anything to do. Changes
        nothing. ``ResourceError``.
        """
        raise NotImplementedError

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """Hints about who changed it: ``owner``, ``changed`` (a time) and ``package``, and their
        ``path`` if that is not the name of the resource.

        Called for a resource that has drifted, with the actions that would correct it.
        ``ResourceError``.
        """
        raise NotImplementedError

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """What it would do, as far as known, if its deferred templates cannot be rendered before
        an earlier pending change; called only in noop. ``refresh`` as for ``actions``."""
        raise NotImplementedError

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """Compare, and return what must be done: nothing in the desired state."""
        raise NotImplementedError

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """The effects that are known once this resource is in the desired state. Called in a
        preview after a change with unknown effects."""
        raise NotImplementedError

    def needs_refresh(self, state: Any) -> bool:
        """Whether its own change takes effect only after a refresh. If a run ends before that, the
        next run refreshes it."""
        return False

    def accepts_refresh(self, refresh: bool) -> bool:
        """Whether a subscription that fired (``refresh``) affects what is done."""
        raise NotImplementedError

    def unachieved(self, state: Any) -> str:
        """After acting: return why the desired state was not achieved, or ""."""
        left = self.actions(state, False)
        told = [
            "%s differs from the desired state" % c.what  # both values are secret
            if c.before == c.after
            else "%s is %r, not %r" % (c.what, c.before, c.after)
            for action in left
            for c in action.changes
        ]
        return "; ".join(told) or ("still to do: " + self.describe(left) if left else "")

    def describe(self, actions: Sequence[Action]) -> str:
        """The noop message of these actions: each wording once, joined by commas."""
        words: List[str] = []
        for action in actions:
            if action.message and action.message not in words:
                words.append(action.message)
        return ", ".join(w if i == 0 else w[:1].lower() + w[1:] for i, w in enumerate(words))
