"""Writes the members of an archive into a staging directory, then moves them into place (target).

The staging directory is inside the destination and belongs only to us. Everything in it is reached
through its descriptor, so users who can write nearby cannot redirect us. Each move is one rename of
data that is already on disk, so no file in place is empty after a power failure.
"""

import errno
import os
import stat
from typing import Callable, Dict, List, Set, Tuple

from remote_runtime.archives.member_filter import (
    BLOCK,
    DIRECTORY,
    FILE,
    HARDLINK,
    SYMLINK,
    Member,
    refusal,
)
from remote_runtime.system.paths import write_all
from remote_runtime.system.pending_fsyncs import begin_sync, sync_files, sync_now
from remote_runtime.system.remove_tree import clear
from remote_runtime.system.walk import Directory, Place

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def refuse_obstacles(archive: str, parent: Directory, kinds: Dict[str, str]) -> None:
    """Refuse an archive for which something below ``parent`` would have to be removed first."""
    absent: Set[str] = set()
    for path in sorted(kinds):
        if os.path.dirname(path) in absent:
            absent.add(path)
            continue
        try:
            mode = os.stat(path, dir_fd=parent.descriptor, follow_symlinks=False).st_mode
        except FileNotFoundError:
            absent.add(path)
            continue
        directory = kinds[path] == DIRECTORY
        if directory != stat.S_ISDIR(mode):
            there = "symlink" if stat.S_ISLNK(mode) else "directory" if not directory else "file"
            raise refusal(
                archive,
                "%s is a %s, but in the archive it is a %s"
                % (os.path.join(parent.path, path), there, kinds[path]),
                hint="extract into another directory; ccm does not change the existing path",
            )


def file_mode(mode: int) -> int:
    """Return the mode of an extracted file: no special bits, and writable only by its owner."""
    mode = mode & 0o755 | 0o600
    return mode if mode & 0o100 else mode & ~0o011


def directory_mode(mode: int) -> int:
    """Do the same for a directory, which its owner may enter and change."""
    return mode & 0o755 | 0o700


class Staging(object):
    """A directory in preparation below ``parent``; always ``discard`` it at the end.

    ``made`` is called with the open directory while it is empty.
    """

    def __init__(self, parent: Directory, name: str, note_size: Callable[[int], None]) -> None:
        self._place = Place(parent, name)
        self._parent = parent.descriptor
        os.mkdir(self._place.name, 0o700, dir_fd=self._parent)
        self._top = os.open(self._place.name, _DIRECTORY, dir_fd=self._parent)
        if not _is_ours(self._top):
            os.close(self._top)
            raise OSError(errno.ESTALE, "a new directory was replaced during the extraction")
        note_size(self._top)
        self._directories: Dict[str, Tuple[int, float]] = {}
        self._known: Set[str] = {""}
        self._files: Set[str] = set()

    def add(self, path: str, member: Member, linked: str, heartbeat: Callable[[int], None]) -> None:
        """Write one admitted member; ``linked`` is the target of a hard link; ``heartbeat``
        gets bytes.
        """
        if member.kind == DIRECTORY:
            self._make(path)
            self._directories[path] = (directory_mode(member.mode), member.mtime)
            return
        self._make(os.path.dirname(path))
        if member.kind == HARDLINK and linked == path:
            return
        try:
            self._put(path, member, linked, heartbeat)
        except FileExistsError:  # an archive may hold a path twice; the last one counts
            os.unlink(path, dir_fd=self._top)
            self._files.discard(path)
            self._put(path, member, linked, heartbeat)

    def _put(
        self, path: str, member: Member, linked: str, heartbeat: Callable[[int], None]
    ) -> None:
        if member.kind == FILE:
            self._write(path, member, heartbeat)
        elif member.kind == SYMLINK:
            os.symlink(member.link, path, dir_fd=self._top)
        else:
            os.link(linked, path, src_dir_fd=self._top, dst_dir_fd=self._top, follow_symlinks=False)
            if linked in self._files:  # which may be replaced later
                self._files.add(path)

    def _make(self, path: str) -> None:
        """Create a directory and its parents, which the archive need not contain."""
        if path in self._known:
            return
        self._make(os.path.dirname(path))
        os.mkdir(path, 0o755, dir_fd=self._top)
        self._known.add(path)

    def _write(self, path: str, member: Member, heartbeat: Callable[[int], None]) -> None:
        descriptor = os.open(path, _NEW_FILE, 0o600, dir_fd=self._top)
        try:
            written = 0
            with member.content() as content:
                while True:
                    data = content.read(BLOCK)
                    if not data:
                        break
                    written += len(data)
                    heartbeat(len(data))
                    write_all(descriptor, data)
            if written != member.size:
                raise ValueError(
                    "member %r has only %d of its %d bytes" % (member.name, written, member.size)
                )
            os.fchmod(descriptor, file_mode(member.mode))
            _set_time(descriptor, member.mtime)
            begin_sync(descriptor, written)
            self._files.add(path)
        finally:
            os.close(descriptor)

    def finish(self, heartbeat: Callable[[int], None]) -> None:
        """Set the modes and times of the directories, inner ones first, and return once everything
        is on disk.
        """
        sync_files(self._top, sorted(self._files), lambda: heartbeat(0))
        for path in sorted(self._known, reverse=True):
            descriptor = os.open(path or ".", _DIRECTORY, dir_fd=self._top)
            try:
                if path in self._directories:
                    mode, mtime = self._directories[path]
                    os.fchmod(descriptor, mode)
                    _set_time(descriptor, mtime)
                sync_now(descriptor)
            finally:
                os.close(descriptor)
            heartbeat(0)

    def move(self, last: str, sync: Callable[[int], None]) -> List[str]:
        """Move everything into place; return the relative paths that were moved.

        The parts of the relative path ``last`` are moved after everything else. Existing
        directories keep their attributes and are filled. ``sync`` is called with each open
        directory that was filled.
        """
        moved: List[str] = []
        self._merge(self._top, self._parent, at="", last=last, moved=moved, sync=sync)
        return moved

    def _merge(
        self,
        ours: int,
        theirs: int,
        *,
        at: str,
        last: str,
        moved: List[str],
        sync: Callable[[int], None],
    ) -> None:
        def leads_to_last(name: str) -> bool:
            return (last + "/").startswith(os.path.join(at, name) + "/")

        for name in sorted(os.listdir(ours), key=lambda name: (leads_to_last(name), name)):
            path = os.path.join(at, name)
            if not _is_directory(name, ours) or not _exists(name, theirs):
                os.rename(name, name, src_dir_fd=ours, dst_dir_fd=theirs)
                moved.append(path)
                continue
            inner = os.open(name, _DIRECTORY, dir_fd=ours)
            try:
                outer = os.open(name, _DIRECTORY, dir_fd=theirs)
                try:
                    self._merge(inner, outer, at=path, last=last, moved=moved, sync=sync)
                finally:
                    os.close(outer)
            finally:
                os.close(inner)
        sync(theirs)

    def discard(self) -> None:
        """Remove the rest of the directory."""
        try:
            clear(self._place, self._top)
        finally:
            os.close(self._top)


def _is_ours(directory: int) -> bool:
    """Return whether the directory has the owner and mode that we set, so nobody else can put a
    link in it.
    """
    status = os.fstat(directory)
    own = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return own and not os.listdir(directory)


def _is_directory(name: str, within: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=within, follow_symlinks=False).st_mode)


def _exists(name: str, within: int) -> bool:
    try:
        os.stat(name, dir_fd=within, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _set_time(descriptor: int, mtime: float) -> None:
    try:
        os.utime(descriptor, (mtime, mtime))
    except (OverflowError, ValueError):
        pass  # a time that this file system cannot hold; that of now stays
