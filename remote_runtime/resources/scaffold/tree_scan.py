"""What is in the directory of a scaffold (target). Symlinks in it are never followed."""

import os
from typing import Dict, Iterator, List, Optional, Tuple

from remote_runtime.base import Missing
from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.resources.scaffold.tree import Tree, Wanted, parents
from remote_runtime.system.files import Status

_PROPERTIES = ("", "ensure", "owner", "group", "mode", "provider")
_WORDS = {"symlink": "a symlink", "file": "a file", "directory": "a directory"}


class Look(object):
    """One look at a directory and what the scaffold has in it; ``unmet`` says what is in the way.

    With ``purge`` a file where the scaffold has a directory counts as gone.
    """

    def __init__(self, context: Context, root: str, purge: bool = False) -> None:
        self._context = context
        self._files = context.files
        self.root = root
        self.unmet: List[Missing] = []
        self._purge = purge
        self._directories: Dict[str, bool] = {}
        above = parent_in_the_way(context, root)
        if above is not None:
            self.unmet.append(above)
        self.exists = above is None and self._is_directory("", root)

    def full(self, path: str) -> str:
        """The absolute path."""
        return os.path.join(self.root, path)

    def status(self, path: str) -> Optional[Status]:
        """What is at the path of a file; None where there is nothing that counts."""
        if not self.directory(os.path.dirname(path)):
            return None
        return self._files.status(self.full(path))

    def directory(self, path: str) -> bool:
        """Whether a directory is there, with all above it."""
        if not path:
            return self.exists
        known = self._directories.get(path)
        if known is None:
            above = self.directory(os.path.dirname(path))
            known = above and self._is_directory(path, self.full(path))
            self._directories[path] = known
        return known

    def _is_directory(self, path: str, full: str) -> bool:
        found = self._files.status(full)
        if found is None:
            return False
        if found.kind == "directory":
            return True
        if self._purge and path:
            return False
        what = _WORDS.get(found.kind, "a device, socket or pipe")
        self.in_the_way(full, "%s is %s, not a directory" % (full, what))
        return False

    def in_the_way(self, full: str, message: str) -> None:
        """Note what must go first."""
        hint = "use another directory; ccm does not change the existing file"
        self.unmet.append(Missing(message, hint=hint))

    def refuse(self, wanted: Wanted, found: Status) -> None:
        """Note what is in the way of a file."""
        full = self.full(wanted.path)
        if found.kind == "directory":
            self.in_the_way(
                full, ("%s is a directory, but the scaffold has a file with this path") % full
            )
        elif found.kind == "other":
            self.in_the_way(full, "%s is a device, socket or pipe; it was not changed" % full)

    def ensure_inside(self, path: str) -> None:
        """Look again, right before something at ``path`` is changed, that no directory on the way
        became a symlink since: whoever owns the directory could lead the write elsewhere."""
        for above in ["", *parents(path)]:
            full = self.full(above) if above else self.root
            found = self._files.status(full)
            if found is not None and found.kind != "directory":
                raise ResourceError(
                    "%s was replaced during the run" % full,
                    kind="resource.scaffold.moved",
                    hint="find out what changes it; nothing was written to it",
                )

    def missing_directories(self, wanted: List[str], files: List[Wanted]) -> List[str]:
        """The directories to be created below this one, the outer ones first."""
        needed = set(wanted)
        for path in wanted + [file.path for file in files]:
            needed.update(parents(path))
        return sorted(path for path in needed if not self.directory(path))

    def extra(self, tree: Tree) -> List[str]:
        """The files that are not part of the scaffold, sorted; other file systems are left out."""
        known = {file.path for file in tree.files}
        return [
            path for path, is_directory in self._all() if not is_directory and path not in known
        ]

    def is_directory(self, path: str) -> bool:
        """Whether a directory is at this very path, whatever is above it."""
        found = self._files.status(self.full(path) if path else self.root)
        return found is not None and found.kind == "directory"

    def names(self, path: str) -> List[str]:
        """What is right in a directory, as paths below the scaffold's."""
        full = self.full(path) if path else self.root
        return [os.path.join(path, name) for name in self._files.entries(full)]

    def _all(self) -> List[Tuple[str, bool]]:
        """Every path below the directory, and whether it is a directory itself."""
        found: List[Tuple[str, bool]] = []
        if not self.exists:
            return found
        top = self._files.status(self.root)
        waiting = [""]  # not recursive: whoever may write there decides how deep it is
        while waiting:
            self._context.check_cancelled()
            at = waiting.pop()
            for path, status in self._entries(at):
                is_directory = status.kind == "directory"
                found.append((path, is_directory))
                if is_directory and top is not None and status.device == top.device:
                    waiting.append(path)
        return sorted(found)

    def _entries(self, at: str) -> Iterator[Tuple[str, Status]]:
        for name in self._files.entries(self.full(at) if at else self.root):
            path = os.path.join(at, name)
            status = self._files.status(self.full(path))
            if status is not None:
                yield path, status


def shown(path: str) -> str:
    """A path below the directory for people: never the name of a property, bytes that are no UTF-8
    as escapes."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "./" + text if text in _PROPERTIES else text


def parent_in_the_way(context: Context, root: str) -> Optional[Missing]:
    """What keeps the directory from being created: something above it that is no directory."""
    above = os.path.dirname(root)
    while not context.files.is_there(above):
        above = os.path.dirname(above)
    if context.files.is_directory(above):
        return None
    return Missing(
        "%s is not a directory" % above,
        hint="use another directory; ccm does not change the existing file",
    )
