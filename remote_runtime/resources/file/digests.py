"""What of a file a kept plan is held to, and what a drift is told by (target)."""

from typing import TYPE_CHECKING, Any, Optional

from remote_runtime.base import PathType, Properties
from remote_runtime.changes import HASHED, content_before, told_by_size
from remote_runtime.plans.observed import attributes_of, of_path

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.files import Status


def observation(resource: PathType, status: "Optional[Status]") -> Any:
    """The attributes; of a file that is to go what it holds, too."""
    if resource.ensure != "absent" or status is None or status.kind != "file":
        return attributes_of(status)
    held = content_before(resource.context.files, resource.name, status, None)
    if held.startswith(HASHED):
        held = held[len(HASHED) :]
    else:
        held += " of %d" % status.mtime
    return dict(attributes_of(status), content=held)


def remembered(resource: PathType) -> Properties:
    """The state but for its time; a content that the resource has no say in may change."""
    state = resource.observe() if resource.state_left is None else resource.state_left
    status: "Optional[Status]" = state.status
    kept = resource.properties.get("replace") is False
    said = [None if kept else resource.properties.get(key) for key in ("content", "source")]
    its_own = any(value is not None for value in said)
    large = status is not None and told_by_size(status, _size(said, resource.context))
    path = resource.name
    found = of_path(resource.context, path, status, hashed=its_own and not large)
    left_out = ("mtime",) if its_own else ("mtime", "size")
    return {"ensure": state.ensure, **{k: v for k, v in found.items() if k not in left_out}}


def _size(said: Any, context: "Context") -> Optional[int]:
    content, source = said
    for value in said:
        if isinstance(value, dict):
            return int(value["size"])
    if content is not None:
        return len(str(content).encode("utf-8", "replace"))
    found = None if source is None else context.files.status(str(source), follow=True)
    return None if found is None else found.size
