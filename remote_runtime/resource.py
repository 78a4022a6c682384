"""A resource as the lifecycle and the preview see it (target).

The lifecycle calls the actions, then observes again; the preview describes them.
"""

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.changes import Action, Ended
from remote_runtime.effects import Effect
from remote_runtime.item import Item, Properties

if TYPE_CHECKING:
    from remote_runtime.context import Context


class State(NamedTuple):
    """What was observed: ``ensure`` as the event reports it, and what the type has ``found``."""

    ensure: str
    found: Any = None


class ManagedResource(object):
    """One resource at its turn: it observes, compares and yields actions, and never acts itself."""

    default_ensure = "present"
    may_fail = False  # only trying tells whether its actions succeed
    read_only = False  # its actions change nothing, such as waiting
    ended: Optional[Ended] = None  # set by one that runs a command of the user
    tries = 0  # that it took, set by one that was allowed several
    state_left: Any = None  # as its turn observed it at the end; None where it may differ by now

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
        """What ``ccm status`` tells: ``ensure`` and the other properties as they are on the target.

        Asked of a resource that may have a name only. Changes nothing. ``ResourceError``.
        """
        raise NotImplementedError

    def answer(self) -> Optional[Properties]:
        """What ``ccm.ask`` tells of it, under the names that ``x-ccm-answers`` of the schema lists:
        texts, numbers, booleans. None for a type that cannot be asked about.

        Asked of a resource that has a name only, in a preview as it would be at that turn. Changes
        nothing. ``ResourceError``.
        """
        return None

    def observation(self, state: Any) -> Any:
        """What of a state decides what is done, beside what the changes say they come from: by the
        property that it is about, which somebody may put right before the push.

        Plain data, the same for as long as the host is, and foretold where earlier resources of a
        preview change it. A push of a plan that was kept goes on only
        where this is what it was in the plan's preview.
        """
        raise NotImplementedError

    def drift_state(self) -> Optional[Properties]:
        """What a drift is told by: the state as a push leaves it, without what changes by itself.

        None where there is none: it is told by whether there was anything to do. Changes nothing.
        ``ResourceError``.
        """
        raise NotImplementedError

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """What may tell who has changed it: ``owner``, ``changed`` (a time) and ``package``, and
        the ``path`` that they are of where the name of the resource is another.

        Asked of what has drifted, with the actions that would undo it. ``ResourceError``.
        """
        raise NotImplementedError

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """What it would do, as far as can be told, when its deferred templates cannot be rendered
        before an earlier pending change; asked in noop only. ``refresh`` as for ``actions``."""
        raise NotImplementedError

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """Compare; return what must be done, nothing when it is as desired."""
        raise NotImplementedError

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """What is known of the target once this resource has had its turn and was as desired, or
        was made so again: asked in a preview that holds something whose effects nobody can tell."""
        raise NotImplementedError

    def needs_refresh(self, state: Any) -> bool:
        """Whether its own change counts once it is refreshed only: a run that ends before leaves
        the refresh to the next one."""
        return False

    def accepts_refresh(self, refresh: bool) -> bool:
        """Whether a subscription that fired (``refresh``) has a say in what is done here."""
        raise NotImplementedError

    def unachieved(self, state: Any) -> str:
        """After acting: return why the desired state is not there, or ""."""
        left = self.actions(state, False)
        told = [
            "%s is not as desired" % c.what  # both values are secret
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
