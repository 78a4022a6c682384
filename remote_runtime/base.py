"""The base classes of resource types (target; the validation part also on the controller).

A type reads a state and applies one, through the ports of the host. It never checks whether the run
is a preview.
"""

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.changes import Change, Missing, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.plan_item import Properties

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader

# Everything that a type needs is imported from here.
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
    "Unknowable",
]


class Diff(object):
    """The difference between two states: ``found`` is what ``read`` returned, None for nothing, and
    ``desired`` the desired state. ``key in diff`` is true if that key differs."""

    def __init__(self, found: Optional[Mapping[str, Any]], desired: Mapping[str, Any]) -> None:
        self.found = found
        self.desired = desired
        now = found or {}
        self.keys = [key for key in desired if key not in now or now[key] != desired[key]]

    @property
    def new(self) -> bool:
        """Whether the thing does not exist yet."""
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

    ``noun`` is the word for the thing in messages; if it is "", the name of the type. No record
    shows the values of the keys in ``secret``.
    """

    default_ensure = "present"
    noun = ""
    secret: Sequence[str] = ()
    partial = False  # whether it changes parts of files that other resources change, too
    lists = False  # whether it changes which packages the package manager knows
    inputs: Sequence[str] = ()  # properties that name what it only reads
    read_only = False  # whether it changes nothing, such as waiting
    provider = ""  # the name of the selected provider
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

        Runs on the controller before any host is contacted, for properties without templates. Runs
        again with the rendered values, and on the target. ``property`` is "name" for the name,
        "" for the resource as a whole.
        """
        return []

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """Return (property, message, hint) for what is valid but suspicious.

        Runs on the controller, for properties without templates.
        """
        return []

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """Return the absolute paths that it manages: True if they must exist, False if not.

        Runs on the controller, for a resource whose name and state contain no template.
        """
        return []

    @classmethod
    def claims(cls, name: str, properties: Properties) -> List[str]:
        """Return other absolute paths that may belong to it, such as each name that its file can
        have. ``purge`` of a directory keeps them.

        Runs on the target, and changes nothing.
        """
        return []

    @classmethod
    def conflicts(cls, resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
        """Return the indexes of two resources that undo each other on every run, and what both
        manage.

        Runs on the controller, for all resources of the type in a manifest that contain no
        template and have no control.
        """
        return []

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """Return the absolute paths of files whose content it sets: True for the whole content,
        False for a part.

        Runs on the controller, for a resource whose name and state contain no template.
        """
        return []

    def unsupported(self, host: "HostReader") -> str:
        """Return the reason why this resource cannot be managed on a host, or ""."""
        return ""

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """Return the current state; None if the thing does not exist. Needs only the name."""
        raise NotImplementedError

    def desired(self) -> Mapping[str, Any]:
        """Return the desired state; omitted keys are not changed."""
        raise NotImplementedError

    def state_of(self, state: Optional[Mapping[str, Any]]) -> str:
        """Return the value of ``ensure`` for a state."""
        return "absent" if state is None else "present"

    def apply(self, host: "Host", diff: Diff) -> None:
        """Change the differing keys. ``ResourceError`` if that is impossible, with the reason."""
        raise NotImplementedError

    def remove(self, host: "Host") -> None:
        """With ``ensure: absent``: remove what ``read`` found."""
        raise ResourceError("its type cannot remove it: the class defines no method remove")

    def remaining(self) -> Mapping[str, Any]:
        """With ``ensure: absent``: return the keys of the state that remain, with their future
        values, such as the text of a file that loses a line. Only for the change records.
        """
        return {}

    def left(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """Return what ``ccm drift`` compares instead of the state: for a type that changes a part
        of a file, the content of the part. Only called if a type defines it, right after ``read``.
        """
        return None

    def answers(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """Return the answers to ``ccm.ask``, by the names in ``x-ccm-answers`` of the schema:
        texts, numbers, booleans. None for a type without lookups. The resource has only a name.
        """
        return None

    def refresh(self, host: "Host") -> None:
        """Runs if a subscription fired, once the host is in the desired state. A type that does not
        define it ignores subscriptions."""


class PathStateType(StateType):
    """A state type whose resources have the name of the path that they manage."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. The name is an absolute, clean path."""
        from remote_runtime.validation import rules

        return [("name", message) for message in rules.of_path(name)]

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """See the base class. This is the path itself."""
        return [(name, properties.get("ensure") != "absent")]


class FilePartStateType(PathStateType):
    """A state type whose resources manage a part of a file, and have the name of its path. The part
    is present or absent; ``read`` returns None if it is not in the file.
    """

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """See the base class. This is the file, which is never removed."""
        return [(name, True)]

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """See the base class. It is a part of the file."""
        return [(name, False)]


class AccountStateType(StateType):
    """A state type whose resources are accounts. ``account``: user or group."""

    account = ""

    @property
    def home(self) -> Optional[str]:
        """The home directory that a change may affect, "" for none; None if it may be any."""
        return ""


class ActionStateType(StateType):
    """A state type without a state: it acts if it is due, and only acting shows whether that
    succeeds.

    ``done`` is the word for the action in messages, and ``details`` follows it if all properties
    are known. ``desired`` is the content of the change records. Nothing is read again after
    ``act``: the ports decide whether it succeeded.

    A ``read_only`` type, such as one that waits, changes nothing, and no subscription makes it act.
    Its ``ensure`` is the value that ``read`` returns before and after.
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
        """Whether only a subscription makes it act."""
        return False

    def due(self, host: "HostReader") -> bool:
        """Return whether it must act even if no subscription fired. Called once."""
        raise NotImplementedError

    def read(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """For ``ccm status``: None if it is due. ``ResourceError`` if that has no meaning."""
        return {} if self.refresh_only or not self.due(host) else None

    def left(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """Return the result of the action, which ``ccm drift`` compares; None if only ``due`` shows
        it."""
        return {}

    def is_served(self, host: "HostReader", fired: bool) -> bool:
        """Return whether it need not act although it is due or a subscription ``fired``."""
        return False

    def require(self, host: "HostReader") -> None:
        """Raise ``Missing`` for a condition that prevents the action, before it starts."""

    def act(self, host: "Host") -> None:
        """Carry out the action. ``ResourceError`` if that fails."""
        raise NotImplementedError
