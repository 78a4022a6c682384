"""What a resource type is made of (target; the validation part also on the controller).

A type observes, compares and yields actions; it never acts by itself and never asks whether the run
is noop. The lifecycle describes the actions (noop) or calls them, then observes again.
"""

from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .errors import ResourceError

if TYPE_CHECKING:
    from .context import Context

Properties = Dict[str, Any]
FIRST = 1


class Change(NamedTuple):
    """One property that differs: the record that preview, report and events all show.

    ``diff`` is a unified diff, "binary", or a line with sizes and hashes; None where it says
    nothing.
    """

    what: str
    before: Any
    after: Any
    diff: Optional[str] = None

    def record(self) -> Dict[str, Any]:
        """The form that stands in a transaction event."""
        entry = {"what": self.what, "from": self.before, "to": self.after}
        if self.diff is not None:
            entry["diff"] = self.diff
        return entry


class Condition(NamedTuple):
    """Something a resource needs on the target, or that an action makes true.

    ``kind``: path, directory, user, group, unit, program or anything. A pending ``anything`` (a
    package, an exec) may satisfy every condition.
    """

    kind: str
    value: str = ""


class Action(NamedTuple):
    """One step towards the desired state: how noop words it, the call, and the records of it.

    ``provides`` are the conditions that hold for certain once the call has succeeded, except kind
    ``anything``, which says that any condition may hold then.
    """

    message: str
    call: Callable[[], None]
    changes: Sequence[Change] = ()
    provides: Sequence[Condition] = ()


class Missing(ResourceError):  # noqa: N818  (it names what is the case, not an error)
    """A condition on the target is not met.

    In noop, where an earlier pending action may satisfy it, the lifecycle reports ``would`` with an
    unknown prediction and the message as the reason; everywhere else this fails the resource.
    ``reason`` stands in for the lifecycle's own words about the earlier action, where they do not
    fit.
    """

    default_kind = "resource.missing"

    def __init__(
        self,
        condition: Condition,
        message: str,
        would: Sequence[Action] = (),
        hint: str = "",
        reason: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.condition = condition
        self.would = list(would)
        self.reason = reason


class Item(NamedTuple):
    """One resource as the plan carries it; every property is final except deferred ones."""

    index: int  # type: ignore[assignment]  # its place in the plan, not tuple.index
    type: str
    name: str
    properties: Properties
    alias: str = ""
    provider: str = ""
    require: Tuple[str, ...] = ()
    subscribe: Tuple[str, ...] = ()
    managed: bool = True  # what `control` came to
    sensitive: bool = False
    secrets: Tuple[str, ...] = ()  # properties whose values are masked in every sink
    veiled: bool = False  # its content holds a secret, so no hash of it may be told
    deferred_error: str = ""  # a deferred template that failed; told when the turn comes
    deferred_render: bool = False  # ask the controller when the turn comes
    health_checks: Tuple[Dict[str, Any], ...] = ()
    noop: bool = False  # strengthened by an enclosing apply, as monitor_only is
    monitor_only: bool = False
    applies: str = ""  # the child manifest that its children come of
    fail_on_error: bool = False  # that of the child manifest
    manifest: str = ""  # the child manifest that it stands in; "" for the one that was pushed
    children: Tuple["Item", ...] = ()

    @property
    def id(self) -> str:
        """``type#name``."""
        return "%s#%s" % (self.type, self.name)


class State(object):
    """What was observed: ``ensure`` as the event reports it, and what else the type keeps."""

    def __init__(self, ensure: str, **details: Any) -> None:
        self.ensure = ensure
        self.__dict__.update(details)

    def __getattr__(self, name: str) -> Any:  # reached only for what was never set
        raise AttributeError(name)


class Provider(object):
    """One way to manage a type on a kind of system; one instance serves a whole run.

    ``priority``: among the providers that can manage a host the smallest number wins; 1 is the
    smallest there is.
    """

    name = ""
    priority = FIRST

    def __init__(self, context: "Context") -> None:
        self.context = context

    def unmanageable(self, properties: Properties) -> str:
        """Return why this provider cannot manage the resource on this host, or ""."""
        raise NotImplementedError

    def prepare(self, items: Sequence[Item]) -> None:
        """Told once, before the first resource of the type, all items that it may get."""


class ResourceType(object):
    """One resource at its turn; a type is a subclass, ``resources/TYPE/resource.py:Resource``."""

    default_ensure = "present"

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

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """Return (property, message) for each rule that ``schema.json`` cannot express.

        Runs on the controller before any host is contacted for what holds no template, again with
        the rendered values, and on the target. ``property`` is "name" for the name itself.
        """
        return []

    def wanted(self) -> List[str]:
        """SHA-256 of the blobs that this resource will need, as far as a quick look can tell."""
        return []

    def observe(self) -> Any:
        """Read the state of the target and change nothing. ``ResourceError`` or ``Missing``."""
        raise NotImplementedError

    def found(self) -> Properties:
        """What ``ccm status`` tells: ``ensure`` and the other properties as they are on the target.

        Asked of a resource that may have a name only. Changes nothing. ``ResourceError``.
        """
        return {"ensure": self.observe().ensure}

    def supposed(self, refresh: bool) -> List[Action]:
        """What it would do, as far as can be told, when its deferred templates cannot be rendered
        before an earlier pending change; asked in noop only. ``refresh`` as for ``actions``."""
        return []

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """Compare; return what must be done, nothing when it is as desired."""
        raise NotImplementedError

    def heeds(self, refresh: bool) -> bool:
        """Whether a subscription that fired (``refresh``) has a say in what is done here."""
        return refresh

    def unsettled(self, state: Any) -> str:
        """After acting: return why the desired state is not there, or ""."""
        left = self.actions(state, False)
        return "; ".join(
            "%s is %r, not %r" % (c.what, c.before, c.after) for a in left for c in a.changes
        ) or ("still to do: " + self.describe(left) if left else "")

    def describe(self, actions: Sequence[Action]) -> str:
        """The noop message of these actions: each wording once, joined by commas."""
        words: List[str] = []
        for action in actions:
            if action.message and action.message not in words:
                words.append(action.message)
        return ", ".join(w if i == 0 else w[:1].lower() + w[1:] for i, w in enumerate(words))
