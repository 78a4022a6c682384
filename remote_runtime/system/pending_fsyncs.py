"""Syncs directories in which names were added or removed, and files with new attributes (target).

Such a change takes effect immediately; to survive a power failure, it needs a sync, which waits for
the disk. Changes that are reported together share a sync.
"""

import errno
import os
import stat
from _thread import allocate_lock
from typing import Callable, Dict, List, Sequence, Tuple

from remote_runtime.stdlib_light.threads import Thread

_LIMIT = 64  # descriptors that wait
_AT_ONCE = 16  # files that are synced at a time
_BEAT = 0.5  # seconds
_FILE = os.O_RDONLY | os.O_NOFOLLOW
_UNREADABLE = -1  # a directory that may be written, not read: all that waits for a disk is synced
_KNOWS_NONE = (errno.EINVAL, errno.EOPNOTSUPP)  # a file system that syncs no directories


def begin_sync(descriptor: int, size: int) -> None:
    """Make the system start writing an open file to disk, so that several files share a sync.

    ``size`` is the size of the file in bytes.
    """
    if not hasattr(os, "posix_fadvise"):
        return  # macOS
    try:
        # All but its last byte: a completely written page stays in memory.
        os.posix_fadvise(descriptor, 0, max(1, size - 1), os.POSIX_FADV_DONTNEED)
    except OSError:
        pass  # the sync does it


def sync_now(directory: int) -> None:
    """Make changes in this open directory, or to this open file, durable. ``OSError``"""
    _sync(_opened(directory))


def sync_files(at: int, paths: Sequence[str], heartbeat: Callable[[], None]) -> None:
    """Return once these files in the open directory ``at`` are on disk.

    ``OSError`` Many are synced in parallel, because a disk writes its cache once for all waiting
    threads. ``heartbeat`` is called in the meantime.
    """
    waiting = list(paths)
    failed: List[OSError] = []

    def work() -> None:
        while waiting and not failed:
            try:
                _sync_file(waiting.pop(), at)
            except OSError as error:
                failed.append(error)
            except IndexError:
                return  # another thread took the last one

    threads = _started(work, min(len(waiting), _AT_ONCE))
    try:
        if not threads:
            work()
        _join(threads, heartbeat)
    finally:
        del waiting[:]  # ``beat`` may have ended it
        _join(threads, lambda: None)
    if failed:
        raise failed[0]


def _sync_file(path: str, at: int) -> None:
    descriptor = os.open(path, _FILE, dir_fd=at)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _started(work: Callable[[], None], count: int) -> List[Thread]:
    """Start this number of threads, or as many as possible."""
    threads: List[Thread] = []
    for _ in range(count if count > 1 else 0):
        thread = Thread(work)
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    return threads


def _join(threads: Sequence[Thread], heartbeat: Callable[[], None]) -> None:
    for thread in threads:
        while not thread.join(_BEAT):
            heartbeat()


class DirectorySyncs(object):
    """Directories and files that wait to be synced, each once; one thread adds entries, any thread
    may sync.
    """

    def __init__(self) -> None:
        self._waiting: Dict[Tuple[int, int], int] = {}
        self._lock = allocate_lock()

    def add(self, directory: int) -> None:
        """Record that a name in this open directory, or the attributes of this file, changed.
        ``OSError``
        """
        status = os.fstat(directory)
        key = (status.st_dev, status.st_ino)
        if key not in self._waiting:  # one that is there is synced after this change
            self._waiting[key] = _opened(directory)
        if len(self._waiting) >= _LIMIT:
            self.sync()

    def sync(self) -> None:
        """Sync everything that was added before; raise the first ``OSError`` after trying each."""
        failed = None
        with self._lock:
            for key in list(self._waiting):  # without later ones, or it might never end
                try:
                    _sync(self._waiting.pop(key))
                except OSError as error:
                    failed = failed or error
        if failed is not None:
            raise failed

    def sync_while(self, heartbeat: Callable[[], None], seconds: float) -> None:
        """Sync like ``sync``, and call ``heartbeat`` at regular intervals, because disks can be
        slow.
        """
        if not (self._waiting or self._lock.locked()):
            return
        failed: List[OSError] = []

        def sync() -> None:
            try:
                self.sync()
            except OSError as error:
                failed.append(error)

        syncing = Thread(sync)
        try:
            syncing.start()
        except RuntimeError:  # there may be no more threads: without a beat, then
            return self.sync()
        while not syncing.join(seconds):
            heartbeat()
        if failed:
            raise failed[0]
        return None


def _opened(directory: int) -> int:
    """A descriptor for syncing it, or ``_UNREADABLE``. ``OSError``"""
    if not stat.S_ISDIR(os.fstat(directory).st_mode):
        return os.dup(directory)
    try:
        return os.open(".", os.O_RDONLY, dir_fd=directory)
    except PermissionError:
        return _UNREADABLE


def _sync(descriptor: int) -> None:
    if descriptor == _UNREADABLE:
        os.sync()
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _KNOWS_NONE:
            raise
    finally:
        os.close(descriptor)
