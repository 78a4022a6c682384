"""Keeps files that are replaced, beside their place (target; imported only for ``backup``).

The name is GNU's of numbered backups behind a dot: ``.motd.~3~``. Programs that read a whole
directory pass over it: it begins with a dot (``include conf.d/*``), has a dot in it (run-parts,
cron.d, sudoers.d), ends in a tilde (cron.d, sudoers.d, logrotate.d), and in no suffix of theirs.
"""

import os
import re
from typing import TYPE_CHECKING, List, Sequence, Tuple

from remote_runtime.base import Change, PathEffect
from remote_runtime.changes import told_by_size
from remote_runtime.resources.file.content import Local
from remote_runtime.system.attributes import Attributes

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.paths import Status

MOST = 5  # of one file
_NUMBER = re.compile(r"~([0-9]{1,18})~\Z")
_AS_ANOTHER = 0o6000


def number_of(name: str, of: str) -> int:
    """The number of the backup of a file called ``of`` that has this name; 0 for another file."""
    start = ".%s." % of
    found = _NUMBER.match(name[len(start) :]) if name.startswith(start) else None
    return int(found.group(1)) if found is not None else 0


class Backup(object):
    """The one that is made before the file at ``path`` is replaced.

    None is made if the newest one has the same content. Only the newest ``MOST`` stay.
    """

    def __init__(self, context: "Context", path: str, status: "Status") -> None:
        self._context = context
        self._path, self._status = path, status
        directory, name = os.path.split(path)
        found = self._existing(directory, name)
        self._made = ""
        if not found or not self._is_same(found[-1][1]):
            number = found[-1][0] + 1 if found else 1
            self._made = os.path.join(directory, ".%s.~%d~" % (name, number))
        kept = MOST - 1 if self._made else MOST
        self._dropped = [old for _, old in found[: max(0, len(found) - kept)]]

    def _existing(self, directory: str, name: str) -> List[Tuple[int, str]]:
        """The backups with their numbers, the oldest first."""
        files = self._context.files
        found = []
        for entry in files.entries(directory + "/."):  # a link to a directory, too
            number = number_of(entry, name)
            if number:
                path = os.path.join(directory, entry)
                status = files.status(path)
                if status is not None and status.kind == "file":
                    found.append((number, path))
        return sorted(found)

    def _is_same(self, newest: str) -> bool:
        files = self._context.files
        status = files.status(newest)
        if status is None or status.size != self._status.size:
            return False
        return files.sha256(newest, status) == files.sha256(self._path, self._status)

    @property
    def changes(self) -> List[Change]:
        """The records of what comes and goes."""
        made = [Change("backup", None, self._made)] if self._made else []
        return made + [Change(path, "file", "absent") for path in self._dropped]

    def effects(self) -> Sequence[PathEffect]:
        """What will be there, with the content that the file has now."""
        gone = [PathEffect(path, "absent") for path in self._dropped]
        if not self._made:
            return gone
        old = self._status
        known = self._context.noop and not told_by_size(old.size, None)
        content = Local(self._path, self._context) if known else None
        mode = old.mode & ~_AS_ANOTHER
        kept = PathEffect(
            self._made, "file", mode=mode, uid=old.uid, gid=old.gid, content=content, firm=False
        )
        return [kept, *gone]

    def rehearse(self, size: int) -> None:
        """``ResourceError`` where it could not be made beside a new file of ``size`` bytes."""
        files, old = self._context.files, self._status
        if self._made:
            place = files.obstacles(self._made)
            place.writing(size + old.size, old.uid, old.gid, old.mode & ~_AS_ANOTHER)
        for path in self._dropped:
            files.obstacles(path).removing()

    def make(self) -> None:
        """Make it, and remove the oldest ones. ``ResourceError``"""
        if self._made:
            self._copy()
            self._context.changed_paths.add(self._made)
        for path in self._dropped:
            if self._context.files.status(path) is not None:
                self._context.files.remove(path)
            self._context.changed_paths.add(path)

    def _copy(self) -> None:
        files = self._context.files
        old = files.opened(self._path, "read")
        try:
            temporary = files.temporary(self._made)
            try:
                while True:
                    self._context.check_cancelled()
                    block = os.read(old, 256 << 10)
                    if not block:
                        break
                    temporary.write(block)
                temporary.dress_as(old, Attributes(self._context.commands))
                temporary.sync()
                temporary.commit()
            finally:
                temporary.discard()
        finally:
            os.close(old)
