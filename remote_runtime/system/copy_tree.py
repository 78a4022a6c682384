"""Builds directories next to their destination and renames them (target); imported only when
needed.
"""

import errno
import os
from typing import TYPE_CHECKING, Callable, Tuple

from remote_runtime.system.errno_messages import failure
from remote_runtime.system.paths import write_all
from remote_runtime.system.pending_fsyncs import sync_now
from remote_runtime.system.walk import Place

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_MAKING = "create the directory"


def copy(files: "Files", source: str, *, path: str, mode: int, uid: int, gid: int) -> None:
    """Create a directory at ``path`` with the content of ``source``, which may be missing.

    It is built next to its destination, recorded in the journal, and renamed. ``ResourceError``
    """

    def fill(directory: int, staged: str) -> None:
        _fill(files, source, directory, (uid, gid))
        os.fchown(directory, uid, gid)

    build(files, fill, path=path, mode=mode)


def build(files: "Files", fill: Callable[[int, str], None], *, path: str, mode: int) -> None:
    """Create a directory at ``path``, which is free or an empty directory.

    ``fill`` receives the descriptor and the path of the new directory next to it, which only its
    owner can read. ``mode`` is the mode of the complete directory.
    """
    place = files.place(path, _MAKING)
    at = place.directory.descriptor
    name = files.stage(place.directory.path)
    staged = Place(place.directory, name)
    try:
        os.mkdir(name, 0o700, dir_fd=at)
        directory = os.open(name, _DIRECTORY, dir_fd=at)
        try:
            _require_new(directory)
            try:
                files.unfinished.made(directory)
                fill(directory, staged.path)
                os.fchmod(directory, mode)
                os.fsync(directory)
                os.rename(name, place.name, src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                from remote_runtime.system.remove_tree import clear

                clear(staged, directory)
                raise
        finally:
            os.close(directory)
        (files.sync_directory or sync_now)(at)
    except OSError as error:
        raise failure(_MAKING, path, error) from error
    finally:
        files.staged(name)


def _require_new(directory: int) -> None:
    """``OSError`` if another user has replaced the new directory."""
    if os.fstat(directory).st_uid != os.geteuid() or os.listdir(directory):
        raise OSError(errno.ESTALE, "the new directory was replaced by another one")


def _fill(files: "Files", source: str, directory: int, owner: Tuple[int, int]) -> None:
    found = files.status(source, follow=True)
    for name in files.entries(source) if found is not None and found.kind == "directory" else ():
        path = os.path.join(source, name)
        status = files.status(path)
        if status is None:
            continue  # another process has removed it in the meantime
        if status.kind == "symlink":
            os.symlink(files.link(path), name, dir_fd=directory)
            os.chown(name, *owner, dir_fd=directory, follow_symlinks=False)
        elif status.kind in ("file", "directory"):
            flags = _DIRECTORY if status.kind == "directory" else _NEW
            if status.kind == "directory":
                os.mkdir(name, 0o700, dir_fd=directory)
            made = os.open(name, flags, 0o600, dir_fd=directory)
            try:
                if status.kind == "directory":
                    _fill(files, path, made, owner)
                else:
                    for block in files.blocks(path):
                        write_all(made, block)
                os.fchown(made, *owner)
                os.fchmod(made, status.mode)
                os.fsync(made)
            finally:
                os.close(made)
