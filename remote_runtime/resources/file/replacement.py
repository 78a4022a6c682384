"""The changes of replacing a file's content, and the files that are never replaced (target)."""

from typing import TYPE_CHECKING, List, Optional

from remote_runtime.base import Change
from remote_runtime.changes import HASHED, differs_by_size
from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import HostReader


def refuse(path: str, node: "Optional[Node]", bare: bool, stays: bool = False) -> None:
    """``ResourceError`` if something at the path must not be replaced; ``bare``: only its
    attributes are managed, and ``stays`` means that it is kept because of ``replace: false``.
    """
    if node is None or node.kind == "file":
        return
    if node.kind == "directory":
        raise ResourceError(
            "%s is a directory, not a file" % path,
            hint="use another path, or manage the directory with ensure: directory",
        )
    if node.kind == "other":
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
    host: "HostReader", path: str, node: "Optional[Node]", content: "Optional[Content]"
) -> List[Change]:
    """The records of the new content, None if it is unknown; [] if the content is the same."""
    old = None
    if node is not None and node.kind == "file":
        old = "%d bytes" % node.size
        if not differs_by_size(node.size, content.size if content is not None else None):
            old = HASHED + host.files.digest(path, known=node)
    new = HASHED + content.sha256 if content is not None else None
    if old is not None and old == new:
        return []
    changes = []
    if node is None:
        changes.append(Change("ensure", "absent", "present"))
    elif node.kind == "symlink":
        changes.append(Change("type", "symlink", "file"))
    changes.append(Change("content", old, new))
    return changes
