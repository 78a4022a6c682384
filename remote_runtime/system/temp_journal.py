"""Records the temporary files of a run, so that the next run can remove them (target).

A killed run removes nothing. Each run therefore has a journal, ``unfinished/PID-START-TOKEN`` in
the state directory, which is written before the first temporary file and removed after the last
one. It names their directories; their names contain the run's token. Other users who can write
there may create such names, too: files are only unlinked, and only directories with a recorded
inode lose their content.

Each line is JSON: the system's boot first, then the path of a directory, or the device and inode of
a directory of ours, or a path that is removed with its user, or the same path without a user, which
means that it is settled. The number of a device is valid until the next boot; after that, the inode
is used, on the file system of the directory. An incomplete line is ignored.
"""

import os
import stat
from typing import Any, Callable, Dict, List, Set, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.stdlib_light import json_text
from remote_runtime.system.process import process_identity
from remote_runtime.system.state_directory import JOURNALS

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_ITSELF = (getattr(os, "O_PATH", 0) or os.O_RDONLY) | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_ANY = -1  # device
_UNKNOWN = 0  # the start of a process, if the system does not report it

Warn = Callable[[str], None]


class TempJournal(object):
    """The journal of this run.

    If it cannot be written, ``warn`` is called once. Without a ``state`` directory, nothing is
    recorded.
    """

    def __init__(self, state: str, warn: Warn) -> None:
        self._journals = os.path.join(state, JOURNALS) if state else ""
        self._warn = warn
        self._token = _random(8)
        self._path = ""
        self._descriptor = -1
        self._noted: Set[str] = set()
        self._leaving: Set[str] = set()

    def name(self, directory: str) -> str:
        """The end of the name of a new file in this directory, a path without links."""
        if directory not in self._noted:
            self._noted.add(directory)
            self._note(directory)
        return "ccm-%s-%s" % (self._token, _random(6))

    def made(self, directory: int) -> None:
        """Record that the new path is this open directory, which is still empty."""
        status = os.fstat(directory)
        self._note([status.st_dev, status.st_ino])

    def leaves(self, user: str, path: str, opened: int) -> None:
        """Record that this open path of a user is removed with the user: if this run does not
        remove it, the next one does if the user is gone. The path has no links.
        """
        status = os.fstat(opened)
        self._leaving.add(path)
        known = {"is": [status.st_dev, status.st_ino], "uid": status.st_uid}
        self._note(dict(known, user=user, path=path))

    def settled(self, path: str) -> None:
        """Record that such a path is removed, or is kept with its user."""
        self._leaving.discard(path)
        self._note({"path": path})

    def close(self) -> None:
        """Remove the journal if nothing that the run started is left."""
        if self._descriptor >= 0 and not self._leaving:
            os.close(self._descriptor)
            self._descriptor = -1
            _forget(self._path)

    def _note(self, what: Any) -> None:
        """Append a line, and return once it is on disk."""
        if not self._journals:
            return
        try:
            if self._descriptor < 0:
                self._descriptor = self._create()
            os.write(self._descriptor, (json_text.dumps(what) + "\n").encode("ascii"))
            os.fsync(self._descriptor)
        except OSError as error:
            self._warn(
                "if this run is killed, the next run cannot remove its temporary files: "
                "could not write to %s: %s" % (self._journals, error.strerror)
            )
            self._journals = ""

    def _create(self) -> int:
        state = os.path.dirname(self._journals)
        os.makedirs(state, 0o700, exist_ok=True)
        os.chmod(state, 0o700)
        os.makedirs(self._journals, 0o700, exist_ok=True)
        own = process_identity.find(os.getpid())
        name = "%d-%d-%s" % (os.getpid(), own.start if own is not None else _UNKNOWN, self._token)
        self._path = os.path.join(self._journals, name)
        descriptor = os.open(self._path, _NEW | os.O_APPEND, 0o600)
        os.write(descriptor, (json_text.dumps(process_identity.boot()) + "\n").encode("ascii"))
        directory = os.open(self._journals, _DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        return descriptor


def sweep(journal: str, warn: Warn) -> List[str]:
    """Remove everything that a killed run has left, and its journal; return the removed paths."""
    name = os.path.basename(journal)
    pid, _, rest = name.partition("-")
    start, _, token = rest.partition("-")
    if not (pid.isdigit() and start.isdigit() and len(token) == 16):
        return []
    try:
        lines = _lines(journal)
    except (OSError, ValueError):
        return []
    if int(start) == _UNKNOWN or _runs(int(pid), int(start), lines):
        return []
    owned = {(line[0], line[1]) for line in lines if isinstance(line, list) and len(line) == 2}
    if lines[:1] != [process_identity.boot()]:  # a disk may have another number since
        owned = {(_ANY, inode) for _, inode in owned}
    removed: List[str] = []
    whole = True
    for directory in [line for line in lines[1:] if isinstance(line, str)]:
        try:
            removed += _swept(directory, "ccm-%s-" % token, owned)
        except FileNotFoundError:
            continue  # the directory itself is gone
        except OSError as error:
            whole = False
            warn(
                "could not remove temporary files of a killed run in %s: %s"
                % (directory, error.strerror)
            )
    for path, line in _leaving(lines).items():
        try:
            removed += _left(path, line, lines[:1] == [process_identity.boot()])
        except FileNotFoundError:
            continue
        except (OSError, ResourceError) as error:
            whole = False
            warn("could not remove %s of the removed user %s: %s" % (path, line["user"], error))
    if whole:
        _forget(journal)
    return removed


def _runs(pid: int, start: int, lines: List[Any]) -> bool:
    process = process_identity.find(pid)
    same_boot = lines[:1] in ([], [process_identity.boot()])
    return process is not None and process.start == start and same_boot


def _lines(journal: str) -> List[Any]:
    descriptor = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return []
        text = file.read().decode("ascii")
    return [json_text.loads(line) for line in text.split("\n")[:-1]]


def _swept(directory: str, mark: str, owned: Set[Tuple[int, int]]) -> List[str]:
    """Remove the entries of a directory that have the mark."""
    removed = []
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in os.listdir(at):
            if mark in name and _remove(name, at, owned):
                removed.append(os.path.join(directory, name))
    finally:
        os.close(at)
    return removed


def _leaving(lines: List[Any]) -> Dict[str, Dict[str, Any]]:
    """Return the lines of the paths that are removed with their user, by path."""
    by_path = {line["path"]: line for line in lines if isinstance(line, dict)}
    return {path: line for path, line in by_path.items() if "user" in line}


def _left(path: str, line: Dict[str, Any], same_boot: bool) -> List[str]:
    """Remove the files that a user has left, except those that now belong to another user."""
    from remote_runtime.system.pending_fsyncs import sync_now
    from remote_runtime.system.remove_tree import clear
    from remote_runtime.system.walk import Walker

    if _has_owner(path, line["user"], line["uid"]):
        return []
    place = Walker().place(path)
    at = place.directory.descriptor
    opened = os.open(place.name, _ITSELF, dir_fd=at)
    try:
        status = os.fstat(opened)
        device = line["is"][0] if same_boot else os.fstat(at).st_dev
        if [status.st_dev, status.st_ino, status.st_uid] != [device, line["is"][1], line["uid"]]:
            return []
        if stat.S_ISDIR(status.st_mode):
            clear(place, opened)
        else:
            os.unlink(place.name, dir_fd=at)
        sync_now(at)
        return [path]
    finally:
        os.close(opened)


def _has_owner(path: str, name: str, uid: int) -> bool:
    """Return whether a user has this name or UID, or a home directory at or below the path; True if
    the users cannot be read.
    """
    import pwd

    users = pwd.getpwall()
    try:
        users.append(pwd.getpwnam(name))  # of a directory service that lists nobody
    except KeyError:
        pass
    inside = os.path.join(os.path.realpath(path), "")
    return not users or any(
        user.pw_uid == uid
        or user.pw_name == name
        or os.path.join(os.path.realpath(user.pw_dir), "").startswith(inside)
        for user in users
    )


def _remove(name: str, at: int, owned: Set[Tuple[int, int]]) -> bool:
    """Remove a name in a directory; the content of a directory is removed only if that is
    ``owned``.
    """
    if not _is_directory(name, at):
        os.unlink(name, dir_fd=at)
        return True
    inner = os.open(name, _DIRECTORY, dir_fd=at)
    try:
        status = os.fstat(inner)
        beside = status.st_dev == os.fstat(at).st_dev
        if (status.st_dev, status.st_ino) in owned or (beside and (_ANY, status.st_ino) in owned):
            _empty(inner)
        elif os.listdir(inner):
            return False  # another user's, with our name
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=at)
    return True


def _empty(top: int) -> None:
    """Remove everything in a directory, regardless of depth: nested directories are moved
    up first.
    """
    waiting = os.listdir(top)
    while waiting:
        name = waiting.pop()
        if not _is_directory(name, top):
            os.unlink(name, dir_fd=top)
            continue
        inner = os.open(name, _DIRECTORY, dir_fd=top)
        try:
            for below in os.listdir(inner):
                if _is_directory(below, inner):
                    waiting.append(_random(8))
                    os.rename(below, waiting[-1], src_dir_fd=inner, dst_dir_fd=top)
                else:
                    os.unlink(below, dir_fd=inner)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)


def _is_directory(name: str, at: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)


def _forget(journal: str) -> None:
    try:
        os.unlink(journal)
    except OSError:
        pass  # the next run tries again


def _random(size: int) -> str:
    return os.urandom(size).hex()
