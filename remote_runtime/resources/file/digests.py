"""What of a file a kept plan is held to, and what a drift is told by (target)."""

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence

from remote_runtime.base import Action, PathEffect, PathType, Properties
from remote_runtime.changes import HASHED, content_before, told_by_size
from remote_runtime.plans.observed_state import attributes_of, of_path

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.paths import Status


def observation(resource: PathType, state: Any) -> Any:
    """The attributes; of a file that is to go what it holds, too, and what differs below."""
    status: "Optional[Status]" = state.status
    below = differences(resource, state)
    if below:
        return dict(attributes_of(status), **below)
    if resource.ensure != "absent" or status is None or status.kind != "file":
        return attributes_of(status)
    held = content_before(resource.context.files, resource.name, status, None)
    if held.startswith(HASHED):
        held = held[len(HASHED) :]
    else:
        held += " of %d" % status.mtime
    return dict(attributes_of(status), content=held)


def drift_state(resource: PathType) -> Properties:
    """The state but for its time; a content that the resource has no say in may change."""
    state = resource.observe() if resource.state_left is None else resource.state_left
    status: "Optional[Status]" = state.status
    kept = resource.properties.get("replace") is False
    said = [None if kept else resource.properties.get(key) for key in ("content", "source")]
    its_own = any(value is not None for value in said)
    large = status is not None and told_by_size(status.size, _size(said, resource.context))
    path = resource.name
    found = of_path(resource.context, path, status, hashed=its_own and not large)
    left_out = ("mtime",) if its_own else ("mtime", "size")
    found = {k: v for k, v in found.items() if k not in left_out}
    return {"ensure": state.ensure, **found, **differences(resource, state)}


def differences(resource: PathType, state: Any) -> Dict[str, Any]:
    """What is not as desired below a directory, if that is managed."""
    below = getattr(state, "below", None)
    if below is None:
        return {}
    accounts, given = resource.context.accounts, resource.properties
    uid = accounts.number("user", str(given.get("owner", "")))
    gid = accounts.number("group", str(given.get("group", "")))
    found: Dict[str, Any] = below.differences(
        -1 if uid is None else uid, -1 if gid is None else gid
    )
    return found


def provenance(resource: PathType, actions: Sequence[Action]) -> Dict[str, str]:
    """Who changed what differs below a directory; {} where nothing does."""
    effects = [one for action in actions for one in action.effects or ()]
    paths = [one.path for one in effects if isinstance(one, PathEffect)]
    if resource.ensure != "directory" or all(path == resource.name for path in paths):
        return {}
    from remote_runtime.plans.observed_state import newest_traces

    return newest_traces(resource.context, paths)


def _size(said: Any, context: "Context") -> Optional[int]:
    content, source = said
    for value in said:
        if isinstance(value, dict):
            return int(value["size"])
    if content is not None:
        return len(str(content).encode("utf-8", "replace"))
    found = None if source is None else context.files.status(str(source), follow=True)
    return None if found is None else found.size
