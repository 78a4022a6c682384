"""Keeps paths out of the way until it is clear whether they go (target)."""

import os
from contextlib import contextmanager
from typing import Iterator, List, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.directory_syncs import sync_now
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.files import Files
from remote_runtime.system.walk import Place

_OPEN = (getattr(os, "O_PATH", 0) or os.O_RDONLY) | os.O_NOFOLLOW


@contextmanager
def without(files: Files, paths: Sequence[str]) -> Iterator[None]:
    """Rename files and directories; remove them after the block, or put them back if it fails.

    The journal names them, so that the next run removes what a killed run leaves.
    """
    for path in paths:
        files.obstacles(path).removing(tree=_is_directory(files, path))
    away: List[Tuple[Place, Place]] = []
    try:
        for path in paths:
            away.append(_renamed(files, path))
        yield
    except BaseException:
        for place, aside in reversed(away):
            _rename(aside, place)
            files.staged(aside.name)
        raise
    finally:
        files.walker.forget()
    from remote_runtime.system.remove_tree import clear

    for _, aside in away:
        if _is_directory(files, aside.path):
            clear(aside)
        else:
            files.remove(aside.path)
        files.staged(aside.name)


def _is_directory(files: Files, path: str) -> bool:
    status = files.status(path)
    return status is not None and status.kind == "directory"


def _renamed(files: Files, path: str) -> Tuple[Place, Place]:
    """Where a path was and is now."""
    place = files.place(path, "remove")
    try:
        opened = os.open(place.name, _OPEN, dir_fd=place.directory.descriptor)
    except OSError as error:
        raise failure("remove", path, error) from error
    aside = Place(place.directory, files.stage(place.directory.path))
    try:
        files.unfinished.made(opened)
        _rename(place, aside)
    except ResourceError:
        files.staged(aside.name)
        raise
    finally:
        os.close(opened)
    return place, aside


def _rename(old: Place, new: Place) -> None:
    at = old.directory.descriptor
    try:
        os.rename(old.name, new.name, src_dir_fd=at, dst_dir_fd=at)
        sync_now(at)
    except OSError as error:
        raise failure("rename", old.path, error) from error
