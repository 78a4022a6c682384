"""What replacing the content of a file changes, and what is never replaced (target)."""

from typing import TYPE_CHECKING, List, Optional

from remote_runtime.base import Change, Item
from remote_runtime.changes import HASHED, content_before
from remote_runtime.content import Content
from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.paths import Status


def refuse(path: str, status: "Optional[Status]", bare: bool, stays: bool = False) -> None:
    """``ResourceError`` for what is at the path and is left alone; ``bare``: only its attributes
    are managed, where it ``stays`` because of ``replace: false``.
    """
    if status is None or status.kind == "file":
        return
    if status.kind == "directory":
        raise ResourceError(
            "%s is a directory, not a file" % path,
            hint="use another path, or manage the directory with ensure: directory",
        )
    if status.kind == "other":
        raise ResourceError("%s is a device, socket or pipe; it was not changed" % path)
    if stays:
        raise ResourceError(
            "%s is a symlink, and replace is false" % path,
            hint="manage its target, or set replace to true to replace the link",
        )
    if bare:
        raise ResourceError(
            "%s is a symlink; ccm does not manage its attributes without content" % path,
            hint="manage its target, or set content to replace the link",
        )


def changes(
    context: "Context",
    item: Item,
    *,
    status: "Optional[Status]",
    content: Optional[Content],
    mode: int,
) -> List[Change]:
    """The records of the new content, None for one that is not known; [] for the same content."""
    old = None
    if status is not None and status.kind == "file":
        size = content.size if content is not None else None
        old = content_before(context.files, item.name, status, size)
    new = HASHED + content.sha256 if content is not None else None
    if old is not None and old == new:
        return []
    found = []
    if status is None:
        found.append(Change("ensure", "absent", "present"))
    elif status.kind == "symlink":
        found.append(Change("type", "symlink", "file"))
    diff = None
    if content is not None:
        from remote_runtime.resources.file import diffs

        diff = diffs.diff(context, item, status=status, content=content, mode=mode)
    found.append(Change("content", old, new, diff))
    return found
