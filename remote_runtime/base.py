"""What a resource type is made of (target; the validation part also on the controller).

A type observes, compares and yields actions; it never acts by itself and never asks whether the run
is noop. The lifecycle describes the actions (noop) or calls them, then observes again.
"""

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.changes import Action, Change, Ended, Missing, Unknowable
from remote_runtime.effects import (
    AccountEffect,
    Effect,
    PackageEffect,
    PathEffect,
    Uncertainty,
    UnitEffect,
    UnknownEffect,
)
from remote_runtime.item import Item, Properties

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.ports import Host, HostReader

# All that a type is written with comes from here.
__all__ = [
    "AccountEffect",
    "AccountStateType",
    "Action",
    "ActionStateType",
    "Change",
    "Diff",
    "Effect",
    "Ended",
    "FilePartStateType",
    "Item",
    "Missing",
    "PackageEffect",
    "PathEffect",
    "PathStateType",
    "Properties",
    "Provider",
    "ResourceType",
    "State",
    "StateType",
    "StepStateType",
    "Uncertainty",
    "UnitEffect",
    "Unknowable",
    "UnknownEffect",
]

FIRST = 1


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

    def unsupported_reason(self, properties: Properties) -> str:
        """Return why this provider cannot manage the resource on this host, or ""."""
        return ""

    def prepare(self, items: Sequence[Item]) -> None:
        """Told once, before the first resource of the type, all items that it may get."""


class ResourceType(object):
    """One resource at its turn; a type is a subclass, ``resources/TYPE/resource.py:Resource``."""

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

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """Return (property, message) for each rule that ``schema.json`` cannot express.

        Runs on the controller before any host is contacted for what holds no template, again with
        the rendered values, and on the target. ``property`` is "name" for the name itself,
        "" for the resource as a whole.
        """
        return []

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """Return (property, message, hint) for what is allowed and hardly meant.

        Runs on the controller, for properties that hold no template.
        """
        return []

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """Return the absolute paths that it makes sure of: True to be there, False to be gone.

        Runs on the controller, for a resource whose name and state hold no template.
        """
        return []

    @classmethod
    def claims(cls, name: str, properties: Properties) -> List[str]:
        """Return further absolute paths that may be its own, such as each form that a file of it
        can have. ``purge`` of a directory leaves them.

        Runs on the target, and changes nothing.
        """
        return []

    @classmethod
    def conflicts(cls, resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
        """Return the places of two resources that undo each other on every run, and what both
        manage.

        Runs on the controller, for all resources of the type in a manifest that hold no template
        and have no control.
        """
        return []

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """Return the absolute paths of files whose content it sets: True for all of it, False for a
        part.

        Runs on the controller, for a resource whose name and state hold no template.
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
        return None

    def drift_state(self) -> Optional[Properties]:
        """What a drift is told by: the state as a push leaves it, without what changes by itself.

        None where there is none: it is told by whether there was anything to do. Changes nothing.
        ``ResourceError``.
        """
        return {key: value for key, value in self.found().items() if key != "mtime"}

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """What may tell who has changed it: ``owner``, ``changed`` (a time) and ``package``, and
        the ``path`` that they are of where the name of the resource is another.

        Asked of what has drifted, with the actions that would undo it. ``ResourceError``.
        """
        return {}

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """What it would do, as far as can be told, when its deferred templates cannot be rendered
        before an earlier pending change; asked in noop only. ``refresh`` as for ``actions``."""
        return []

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """Compare; return what must be done, nothing when it is as desired."""
        raise NotImplementedError

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """What is known of the target once this resource has had its turn and was as desired, or
        was made so again: asked in a preview that holds something whose effects nobody can tell."""
        return ()

    def needs_refresh(self, state: Any) -> bool:
        """Whether its own change counts once it is refreshed only: a run that ends before leaves
        the refresh to the next one."""
        return False

    def accepts_refresh(self, refresh: bool) -> bool:
        """Whether a subscription that fired (``refresh``) has a say in what is done here."""
        return refresh

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


class Diff(object):
    """What of a state is not as desired: ``found`` is what ``read`` returned, None for nothing, and
    ``desired`` what is wanted. ``key in diff`` says whether that key differs."""

    def __init__(self, found: Optional[Mapping[str, Any]], desired: Mapping[str, Any]) -> None:
        self.found = found
        self.desired = desired
        now = found or {}
        self.keys = [key for key in desired if key not in now or now[key] != desired[key]]

    @property
    def new(self) -> bool:
        """Whether there is nothing yet."""
        return self.found is None

    def __contains__(self, key: str) -> bool:
        return key in self.keys

    def __bool__(self) -> bool:
        return self.new or bool(self.keys)


class StateType(object):
    """A type that reads a state and applies one; ``TYPE/resource.py:Resource`` is a subclass.

    Calls on the ``host`` in ``apply`` are executed in a push and recorded in a preview. Messages,
    change records, effects, ``ccm status``, drift, plan files and the check after ``apply`` follow
    from ``read`` and ``desired``. A state is a mapping of plain values (text, numbers, booleans,
    None, lists of these), whose keys are names of properties where one exists.

    ``noun`` is the thing's name in messages, that of the type if it is "". No record shows the
    values of the keys in ``secret``.
    """

    default_ensure = "present"
    noun = ""
    secret: Sequence[str] = ()
    partial = False  # whether it changes parts of files that other resources change too
    read_only = False  # whether it changes nothing, such as waiting
    provider = ""  # the name of the one that was chosen
    sensitive = False  # whether nobody may see the properties

    def __init__(self, name: str, properties: Properties) -> None:
        self.name = name
        self.properties = properties

    @property
    def ensure(self) -> str:
        """The desired state."""
        return str(self.properties.get("ensure", self.default_ensure))

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """As ``ResourceType.check``: (property, message) for each rule beyond ``schema.json``."""
        return []

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """As ``ResourceType.warnings``: (property, message, hint) for what is hardly meant."""
        return []

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """As ``ResourceType.managed_paths``: paths that it makes sure of, there or gone."""
        return []

    @classmethod
    def claims(cls, name: str, properties: Properties) -> List[str]:
        """As ``ResourceType.claims``: further paths that ``purge`` leaves."""
        return []

    @classmethod
    def conflicts(cls, resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
        """As ``ResourceType.conflicts``: two places and what both manage."""
        return []

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """As ``ResourceType.contents``: files whose content it sets, all of it or a part."""
        return []

    def unsupported(self, host: "HostReader") -> str:
        """Why this resource cannot be managed on a host, or ""."""
        return ""

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """The state as it is, None where there is no such thing. Needs the name only."""
        raise NotImplementedError

    def desired(self) -> Mapping[str, Any]:
        """The state as it is to be; keys that are left out are left as they are."""
        raise NotImplementedError

    def state_of(self, found: Optional[Mapping[str, Any]]) -> str:
        """The value of ``ensure`` that a state has."""
        return "absent" if found is None else "present"

    def apply(self, host: "Host", diff: Diff) -> None:
        """Bring about what differs. ``ResourceError`` says why that cannot be done."""
        raise NotImplementedError

    def remove(self, host: "Host") -> None:
        """With ``ensure: absent``: remove what ``read`` found."""
        raise NotImplementedError

    def remaining(self) -> Mapping[str, Any]:
        """With ``ensure: absent``: the keys of the state that stay, with the values that they will
        have, such as the text of a file that loses a line. Only for the change records."""
        return {}

    def left(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """What ``ccm drift`` compares, if that is not the state: for a type that changes a part of
        a file, what the part holds. Not called unless a type defines it, and then right after
        ``read``."""
        return None

    def refresh(self, host: "Host") -> None:
        """What a subscription that fired asks for, once the state is as desired; a type that does
        not define it ignores subscriptions."""


class PathStateType(StateType):
    """A state type whose resources are named by the path that they look after."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """The name is an absolute, clean path. See the base class."""
        from remote_runtime.validation import rules

        return [("name", message) for message in rules.of_path(name)]

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """The path itself. See the base class."""
        return [(name, properties.get("ensure") != "absent")]


class FilePartStateType(PathStateType):
    """A state type whose resources are named by the path of a file of which they keep a part. What
    is present or absent is the part; ``read`` returns None where it is not in the file."""

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """The file, which is never removed. See the base class."""
        return [(name, True)]

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """A part of the file. See the base class."""
        return [(name, False)]


class AccountStateType(StateType):
    """A state type whose resources are named by the ``account`` that they are: user or group."""

    account = ""


class ActionStateType(StateType):
    """A state type that has no state but whether it is due: it acts, and only acting tells whether
    that succeeds.

    ``done`` is the word for that in messages, ``details`` what stands behind it where all
    properties are known. ``desired`` is what the records say of it. Nothing is read again after
    ``act``: the ports judge what it does.

    One that is ``read_only`` changes nothing, such as waiting, and no subscription makes it act.
    Its ``ensure`` is what ``read`` says before and after.
    """

    done = ""

    @property
    def details(self) -> str:
        """See the class."""
        return ""

    def desired(self) -> Mapping[str, Any]:
        """See the class."""
        return {}

    @property
    def refresh_only(self) -> bool:
        """Whether nothing but a subscription makes it act."""
        return False

    def due(self, host: "HostReader") -> bool:
        """Whether it is to act without a subscription that fired. Asked once."""
        raise NotImplementedError

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """For ``ccm status``: None where it is due. ``ResourceError`` where that means nothing."""
        return {} if self.refresh_only or not self.due(host) else None

    def left(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """What ``ccm drift`` compares: what it leaves behind, None where only ``due`` tells."""
        return {}

    def is_served(self, host: "HostReader", fired: bool) -> bool:
        """Whether it need not act although it is due or a subscription ``fired``."""
        return False

    def require(self, host: "HostReader") -> None:
        """``Missing`` for what keeps it from acting, before anything begins."""

    def act(self, host: "Host") -> None:
        """Do it. ``ResourceError`` where that fails."""
        raise NotImplementedError


class StepStateType(StateType):
    """A state type that brings about one property after the other, each as a step of its own.

    ``apply`` gets a diff with one key; the steps have the order of ``desired``. ``read`` always
    has ``ensure``, and None stands for a thing that is not there, which ``require`` refuses. A
    subscription runs ``refresh`` in place of the step of ``ensure``, if that is as desired.
    """

    owes_refresh = False
    """Whether a run before this one changed what ``needs_refresh`` is about, and did not refresh
    it."""

    def refreshed(self, found: Mapping[str, Any]) -> str:
        """The word for ``refresh_by`` in messages."""
        return "refreshed"

    def refresh_by(self, host: "Host", found: Mapping[str, Any]) -> None:
        """``refresh``, in the way that the state before all steps asks for."""
        self.refresh(host)

    def differs(self, found: Mapping[str, Any], key: str) -> bool:
        """Whether a property is not as desired."""
        return bool(found.get(key) != self.desired()[key])

    def record(self, found: Mapping[str, Any], key: str) -> Tuple[Any, Any]:
        """The former and the new value in the record of a change."""
        return found.get(key), self.desired()[key]

    def texts(self, found: Mapping[str, Any], key: str) -> Optional[Tuple[str, Any, Any]]:
        """The path, the former and the new ``FileText`` that a change shows a difference of; None
        for no file there."""
        return None

    def opposite(self) -> Mapping[str, Any]:
        """A state of which nothing is as desired, for what is not known yet."""
        raise NotImplementedError

    def done(self, key: str) -> str:
        """The word for a step in messages, as in "started"."""
        raise NotImplementedError

    def require(self, found: Optional[Mapping[str, Any]]) -> None:
        """``Missing`` for what keeps the desired state from being reached."""

    def needs_refresh(self, found: Mapping[str, Any]) -> bool:
        """Whether a property differs that counts once it is refreshed only."""
        return False

    def require_refresh(self, found: Mapping[str, Any]) -> None:
        """``ResourceError`` for what keeps it from being refreshed."""

    def accepts_refresh(self) -> bool:
        """Whether a subscription has a say in what is done."""
        return True

    def unachieved(self, found: Mapping[str, Any]) -> str:
        """After all steps: why the state is not as desired, "" for the words of the records."""
        return ""

    def shown(self, found: Mapping[str, Any]) -> Properties:
        """What ``ccm status`` shows."""
        return dict(found)

    def drift_state(self, found: Mapping[str, Any]) -> Properties:
        """What ``ccm drift`` compares."""
        return self.shown(found)

    def observed(self, found: Mapping[str, Any]) -> Any:
        """What a plan file compares, by property."""
        return {key: found.get(key) for key in self.desired()}

    def answers(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """As ``ResourceType.answer``."""
        return None
