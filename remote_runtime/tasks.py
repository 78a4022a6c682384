"""What a type of several tasks is made of (target; the validation part also on the controller)."""

from typing import TYPE_CHECKING, Any, Callable, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.base import PathStateType
from remote_runtime.changes import Change

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader


class Task(NamedTuple):
    """One step: its message in a preview, what it does, and the records of it."""

    message: str
    act: "Callable[[Host], None]"
    changes: Sequence[Change] = ()


class TaskStateType(PathStateType):
    """A state type of a path that is brought about by ``tasks``, one after the other; the one that
    fails is the last. ``desired`` and ``apply`` are not asked for.

    ``sentences``: the messages of the tasks are sentences, and all of them are shown.
    """

    sentences = False

    def tasks(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> List[Task]:
        """What there is to do, nothing where all is as desired; also asked once it was done."""
        raise NotImplementedError

    def require(self, host: "HostReader", found: Optional[Mapping[str, Any]]) -> None:
        """``Missing`` for what keeps the tasks from being done, before the first one begins."""

    def observed(self, found: Optional[Mapping[str, Any]]) -> Any:
        """What a plan file compares, by property."""
        return None
