"""What a type of several tasks is made of (target; the validation part also on the controller)."""

from typing import TYPE_CHECKING, Any, Callable, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.base import PathStateType, StateType
from remote_runtime.changes import Change

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import Host, HostReader

ATTRIBUTES = ("owner", "group", "mode", "size", "checksum", "kind")
"""Those of a path that a push leaves as they are."""


class NewContent(NamedTuple):
    """What a file is to hold, and the permissions that it is to have."""

    path: str
    content: "Content"
    mode: int


class BlobNeed(NamedTuple):
    """A content of the plan that differs from what is there: ``needed`` to compare, or only to be
    written and shown."""

    sha256: str
    needed: bool
    new: NewContent


class Task(NamedTuple):
    """One step: its message in a preview, what it does, and the records of it.

    ``progress`` is what people are told while it is done. ``shown``: the change is one of content,
    of which the run may show a difference.
    """

    message: str
    act: "Callable[[Host], None]"
    changes: Sequence[Change] = ()
    progress: str = ""
    shown: Optional[NewContent] = None


class TaskStateType(StateType):
    """A state type that is brought about by ``tasks``, one after the other; the one that fails is
    the last. ``desired`` and ``apply`` are not asked for.

    ``sentences``: the messages of the tasks are sentences, and all of them are shown.
    """

    sentences = False

    def tasks(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> List[Task]:
        """What there is to do, nothing where all is as desired; also asked once it was done."""
        raise NotImplementedError

    def blocked(self, host: "HostReader") -> List[Task]:
        """The tasks that something is in the way of which ``read`` has found ``Missing``."""
        return []

    def assumed(self, host: "HostReader") -> List[Task]:
        """The tasks of a resource some of whose properties are not known yet."""
        return []

    def known(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> List[Task]:
        """Tasks whose effects describe the thing while it is as desired."""
        return []

    def require(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> None:
        """``Missing`` for what keeps the tasks from being done, before the first one begins."""

    @property
    def alone(self) -> bool:
        """Whether nothing of it can be done together with the resources beside it."""
        return True

    def ahead(self, host: "HostReader") -> Any:
        """What it is going to do, for an earlier resource that does or prepares it with its own;
        None where there is nothing, as far as known. ``ResourceError`` ends what is done so."""
        return None

    def shown(self, host: "HostReader") -> Mapping[str, Any]:
        """What ``ccm status`` shows beside ``ensure``."""
        return self.read(host) or {}

    def left(
        self, host: "HostReader", found: Optional[Mapping[str, Any]] = None
    ) -> Mapping[str, Any]:
        """What ``ccm drift`` compares."""
        return {}

    def observed(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> Any:
        """What a plan file compares, by property."""
        return None

    def answers(self, host: "HostReader") -> Optional[Mapping[str, Any]]:
        """As ``ManagedResource.answer``."""
        return None

    def lacks(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> Optional[str]:
        """After all tasks: what is not as desired, "" for nothing; None where the tasks tell."""
        return None

    def unachieved(self, left: Sequence[Change]) -> str:
        """The words for what the tasks have left, "" for those of the records."""
        return ""


class PathTaskStateType(TaskStateType, PathStateType):
    """The same of a path. ``tree``: the tasks are about paths below that one, too."""

    tree = False

    def node(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> "Optional[Node]":
        """What is at the path, of which ``ccm status`` shows the attributes."""
        return host.files.lstat(self.name)

    def compared(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> Sequence[str]:
        """Which of the attributes ``ccm drift`` compares, beside what is ``left``."""
        return ATTRIBUTES

    def travels(self, host: "HostReader") -> List[BlobNeed]:
        """The contents that ``tasks`` will need, as far as a quick look can tell."""
        return []
