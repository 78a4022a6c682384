"""The base classes of types with tasks (target; the validation part also on the controller)."""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
)

from remote_runtime.base import PathStateType, StateType
from remote_runtime.changes import Change

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.file_text import FileText
    from remote_runtime.host.ports import Host, HostReader

ATTRIBUTES = ("owner", "group", "mode", "size", "checksum", "kind")
"""The attributes of a path that a push does not change."""


class NewContent(NamedTuple):
    """The desired content of a file, its permissions, and the node that is at its path."""

    path: str
    content: "Content"
    mode: int
    node: "Optional[Node]"


class BlobNeed(NamedTuple):
    """A content of the plan that differs from that of the host: ``needed`` for the comparison, or
    only to write and show it.
    """

    sha256: str
    needed: bool
    new: NewContent


class Task(NamedTuple):
    """One step: its message in a preview, what it does, and its change records.

    ``progress`` is shown while it runs. ``shown``: the new content, if the change has a diff; or
    ``texts``: the old and the new text, None for no file.
    """

    message: str
    act: "Callable[[Host], None]"
    changes: Sequence[Change] = ()
    progress: str = ""
    shown: Optional[NewContent] = None
    texts: "Sequence[Optional[FileText]]" = ()


class TaskStateType(StateType):
    """A state type that reaches the desired state by ``tasks``, one after the other. The first one
    that fails is the last. ``desired`` and ``apply`` are not called.

    ``sentences``: the messages of the tasks are sentences, and all of them are shown. ``fired``: a
    subscription fired, so the tasks include a refresh. ``owes_refresh``: an earlier run changed a
    property for ``needs_refresh``, and did not refresh it.
    """

    sentences = False
    fired = False
    owes_refresh = False

    def tasks(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> List[Task]:
        """Return the necessary tasks: none in the desired state. Called again after the tasks."""
        raise NotImplementedError

    def blocked(self, host: "HostReader") -> List[Task]:
        """Return the tasks that cannot be done because ``read`` raised ``Missing``."""
        return []

    def assumed(self, host: "HostReader") -> List[Task]:
        """Return the tasks of a resource with properties that are not known yet."""
        return []

    def known(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> List[Task]:
        """Return tasks whose effects describe the resource in the desired state."""
        return []

    def require(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> None:
        """Raise ``Missing`` for a condition that prevents the tasks, before the first
        one starts.
        """

    def accepts_refresh(self) -> bool:
        """Whether a subscription affects the tasks."""
        return False

    def needs_refresh(self, state: Optional[Mapping[str, Any]]) -> bool:
        """Return whether a property differs that takes effect only after a refresh."""
        return False

    @property
    def alone(self) -> bool:
        """Return whether none of its work can be combined with that of neighboring resources."""
        return True

    def ahead(self, host: "HostReader") -> Any:
        """Return its upcoming work, for an earlier resource that does or prepares it together with
        its own work; None if there is nothing, as far as known. ``ResourceError`` ends the shared
        work."""
        return None

    def shown(self, host: "HostReader") -> Mapping[str, Any]:
        """Return the properties that ``ccm status`` shows in addition to ``ensure``."""
        return self.read(host) or {}

    def left(
        self, host: "HostReader", state: Optional[Mapping[str, Any]] = None
    ) -> Mapping[str, Any]:
        """Return the state that ``ccm drift`` compares; ``state`` is what ``read`` returned, None
        if that may differ by now."""
        return {}

    def observed(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> Any:
        """Return the state that a plan file compares, by property."""
        return None

    def lacks(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> Optional[str]:
        """Return, after all tasks, the remaining difference, "" if there is none; None if the tasks
        show it.
        """
        return None

    def unachieved(self, left: Sequence[Change]) -> str:
        """Return the message for the differences that remain after the tasks; "" for that of the
        records.
        """
        return ""


class PathTaskStateType(TaskStateType, PathStateType):
    """A task type for paths. ``tree``: the tasks also change paths below the path."""

    tree = False

    def node(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> "Optional[Node]":
        """Return the node at the path. ``ccm status`` shows its attributes."""
        return host.files.lstat(self.name)

    def compared(self, host: "HostReader", state: Optional[Mapping[str, Any]]) -> Sequence[str]:
        """Return the attributes that ``ccm drift`` compares, in addition to ``left``."""
        return ATTRIBUTES

    def travels(self, host: "HostReader") -> List[BlobNeed]:
        """Return the contents that ``tasks`` will need, as far as a quick check shows."""
        return []
