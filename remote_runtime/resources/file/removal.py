"""Removes a path (target)."""

from typing import TYPE_CHECKING, List, Optional, Tuple

from remote_runtime.base import Change, Missing, Properties
from remote_runtime.tasks import Task

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import Host, HostReader


def tasks(
    host: "HostReader", path: str, properties: Properties, node: "Optional[Node]"
) -> Tuple[List[Task], List[Missing]]:
    """Return the tasks that remove the path, and the obstacles, such as a non-empty directory
    without force.
    """
    if node is None:
        return [], []
    if node.kind != "directory":
        return [removing(path, force=properties.get("force") is True)], []
    change = Change("ensure", "directory", "absent")
    if properties.get("force") is True:

        def remove_tree(host: "Host") -> None:
            host.files.remove_tree(path)

        return [Task("Would have recursively removed the directory", remove_tree, [change])], []

    def remove(host: "Host") -> None:
        host.files.rmdir(path)

    unmet = []
    remaining_names = host.files.remaining(path)
    if remaining_names:
        unmet.append(
            Missing(
                "the directory %s is not empty: it contains %s" % (path, _some(remaining_names)),
                hint="`ccm docs file` describes the removal of directories with their contents",
            )
        )
    return [Task("Would have removed the directory", remove, [change])], unmet


def removing(path: str, force: bool = False) -> Task:
    """The removal of a path that is not a directory, or whose kind is unknown."""

    def remove(host: "Host") -> None:
        if not force:
            require_access(host, path)
        host.files.unlink(path)

    return Task("Would have removed the file", remove, [Change("ensure", "present", "absent")])


def require_access(host: "HostReader", path: str) -> None:
    """``ResourceError`` if the login of this run needs the file."""
    from remote_runtime.host import lockout

    if lockout.may_matter(path):
        node = host.files.stat(path)
        known = node is not None and node.kind == "file"
        lockout.require_access(host, path, host.files.read(path) if known else b"", b"")


def _some(entries: List[str]) -> str:
    names = ", ".join(entries[:3])
    return names if len(entries) <= 3 else "%s and %d more" % (names, len(entries) - 3)
