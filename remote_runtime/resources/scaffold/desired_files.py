"""The desired files of a scaffold, as listed in the plan (target)."""

import os
from typing import Any, Dict, List, NamedTuple

from remote_runtime.content import Content
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import HostReader


class PlannedFile(NamedTuple):
    """One file: its path in the directory, its content, and whether it is executable."""

    path: str
    content: Content
    executable: bool


class Tree(NamedTuple):
    """A tree; ``directories`` are those that no file requires."""

    files: List[PlannedFile]
    directories: List[str]


def tree_of(source: Any, host: HostReader) -> Tree:
    """The tree in a plan. ``ResourceError`` if it leads outside its directory."""
    if not isinstance(source, dict) or "$tree" not in source:
        raise ResourceError("the plan contains no files for this scaffold")
    files = [
        PlannedFile(_inside(entry["path"]), host.contents.of(entry), bool(entry.get("executable")))
        for entry in source.get("files", [])
    ]
    return Tree(files, [_inside(path) for path in source.get("directories", [])])


def entries(source: Any) -> List[Dict[str, Any]]:
    """Return the files in the plan; none if there is no tree."""
    files = source.get("files", []) if isinstance(source, dict) else []
    return list(files)


def _inside(path: str) -> str:
    """Return the path if it is inside; the controller has checked this, but the write must not
    depend on that check.
    """
    parts = path.split("/")
    if not path or "\0" in path or os.path.isabs(path) or {"", ".", ".."}.intersection(parts):
        raise ResourceError("the path %r leads outside the scaffold" % path)
    return path
