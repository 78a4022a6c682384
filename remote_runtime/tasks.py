"""What a type of several tasks is made of (target; the validation part also on the controller)."""

from typing import TYPE_CHECKING, Any, Callable, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.base import PathStateType
from remote_runtime.changes import Change

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.host.file_ports import NewFile, Node
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


class TaskStateType(PathStateType):
    """A state type of a path that is brought about by ``tasks``, one after the other; the one that
    fails is the last. ``desired`` and ``apply`` are not asked for.

    ``sentences``: the messages of the tasks are sentences, and all of them are shown. ``tree``: the
    tasks are about paths below that one, too.
    """

    sentences = False
    tree = False

    def tasks(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> List[Task]:
        """What there is to do, nothing where all is as desired; also asked once it was done."""
        raise NotImplementedError

    def assumed(self, host: "HostReader") -> List[Task]:
        """The tasks of a resource some of whose properties are not known yet."""
        return []

    def known(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> List[Task]:
        """Tasks whose effects describe the path while it is as desired."""
        return []

    def require(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> None:
        """``Missing`` for what keeps the tasks from being done, before the first one begins."""

    def node(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> "Optional[Node]":
        """What is at the path, of which ``ccm status`` shows the attributes."""
        return host.files.lstat(self.name)

    def compared(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> Sequence[str]:
        """Which of the attributes ``ccm drift`` compares."""
        return ATTRIBUTES

    def left(
        self, host: "HostReader", found: Optional[Mapping[str, Any]] = None
    ) -> Mapping[str, Any]:
        """What ``ccm drift`` compares beside these."""
        return {}

    def observed(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> Any:
        """What a plan file compares, by property."""
        return None

    def to_put(self, host: "HostReader") -> "Optional[NewFile]":
        """The file that the resource will put, as far as known before it runs; None for none."""
        return None

    @property
    def only_puts(self) -> bool:
        """Whether ``to_put`` covers everything that the resource will do."""
        return False

    def travels(self, host: "HostReader") -> List[BlobNeed]:
        """The contents that ``tasks`` will need, as far as a quick look can tell."""
        return []

    def unachieved(self, left: Sequence[Change]) -> str:
        """After all tasks: why the state is not as desired, "" for the words of the records."""
        return ""
