"""Keeps replaced files next to their original path (target; imported only for ``backup``).

The name is that of GNU's numbered backups after a dot: ``.motd.~3~``. Programs that read a whole
directory skip it, because it begins with a dot (``include conf.d/*``), contains a dot (run-parts,
cron.d, sudoers.d), ends in a tilde (cron.d, sudoers.d, logrotate.d), and does not have one of their
suffixes.
"""

import os
import re
from typing import TYPE_CHECKING, List, Tuple

from remote_runtime.base import Change

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import Host, HostReader

MAX_BACKUPS = 5  # of one file
_NUMBER = re.compile(r"~([0-9]{1,18})~\Z")


def number_of(name: str, of: str) -> int:
    """The number of the backup of a file called ``of`` with this name; 0 for other files."""
    start = ".%s." % of
    match = _NUMBER.match(name[len(start) :]) if name.startswith(start) else None
    return int(match.group(1)) if match is not None else 0


class Backup(object):
    """The backup that is made before the file at ``path`` is replaced.

    None is made if the newest one has the same content. Only the newest ``MAX_BACKUPS`` are kept.
    """

    def __init__(self, host: "HostReader", path: str, node: "Node") -> None:
        self._path = path
        directory, name = os.path.split(path)
        backups = _existing(host, directory, name)
        self._made = ""
        if not backups or not _is_same(host, backups[-1][1], path, node):
            number = backups[-1][0] + 1 if backups else 1
            self._made = os.path.join(directory, ".%s.~%d~" % (name, number))
        limit = MAX_BACKUPS - 1 if self._made else MAX_BACKUPS
        self._dropped = [old for _, old in backups[: max(0, len(backups) - limit)]]

    @property
    def changes(self) -> List[Change]:
        """The records of added and removed backups."""
        changes = [Change("backup", None, self._made)] if self._made else []
        return changes + [Change(path, "file", "absent") for path in self._dropped]

    def make(self, host: "Host") -> None:
        """Make the backup, and remove the oldest ones. ``ResourceError``"""
        if self._made:
            host.files.back_up(self._path, self._made)
        for path in self._dropped:
            host.files.unlink(path)


def _existing(host: "HostReader", directory: str, name: str) -> List[Tuple[int, str]]:
    """The backups with their numbers, the oldest first."""
    result = []
    for entry in host.files.entries(directory + "/."):  # a link to a directory, too
        number = number_of(entry, name)
        if number:
            path = os.path.join(directory, entry)
            node = host.files.lstat(path)
            if node is not None and node.kind == "file":
                result.append((number, path))
    return sorted(result)


def _is_same(host: "HostReader", newest: str, path: str, node: "Node") -> bool:
    status = host.files.lstat(newest)
    if status is None or status.size != node.size:
        return False
    return host.files.digest(newest, known=status) == host.files.digest(path, known=node)
