"""What a resource type is made of (target; the validation part also on the controller).

A type reads a state and applies one, through the ports of the host. It never asks whether the run
is a preview.
"""

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.changes import Change, Missing, Unknowable
from remote_runtime.item import Properties

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader

# All that a type is written with comes from here.
__all__ = [
    "AccountStateType",
    "ActionStateType",
    "Change",
    "Diff",
    "FilePartStateType",
    "Missing",
    "PathStateType",
    "Properties",
    "StateType",
    "StepStateType",
    "Unknowable",
]


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
        """As ``ManagedResource.answer``."""
        return None
