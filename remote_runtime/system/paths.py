"""Paths as written, the status of paths, and paths below a directory (target)."""

import os
import stat
from typing import Any, Callable, Iterable, Iterator, List, NamedTuple, Tuple

from remote_runtime.errors import ResourceError

_MAX_LENGTH = 3800  # bytes of a path to which a name can still be added
_MAX_NAME_LENGTH = 255  # bytes
_MAX_PATH_LENGTH = 4095
MAX_LINKS = 40  # symlinks on the way to one path, as in Linux
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}


class Status(NamedTuple):
    """The result of ``lstat`` for a path; ``mode`` includes the special bits."""

    kind: str  # file, directory, symlink or other
    mode: int
    uid: int
    gid: int
    size: int
    mtime: int  # seconds since the epoch
    identity: Tuple[int, ...]  # changes whenever the content does
    target: str = ""  # the text of a symlink, if the ports of the host report it

    @property
    def device(self) -> int:
        """The number of the file system."""
        return self.identity[0]


def status_of(stat_result: os.stat_result) -> Status:
    """Return the status of a path from the system's result."""
    mode, mtime = stat_result.st_mode, int(stat_result.st_mtime)
    kind = _KINDS.get(mode & ~0o7777, "other")
    return Status(
        kind,
        mode & 0o7777,
        stat_result.st_uid,
        stat_result.st_gid,
        stat_result.st_size,
        mtime,
        stamp(stat_result),
    )


def stamp(stat_result: os.stat_result) -> Tuple[int, ...]:
    """Values that change if a file changes or another file replaces it."""
    return (
        stat_result.st_dev,
        stat_result.st_ino,
        stat_result.st_size,
        stat_result.st_mtime_ns,
        stat_result.st_ctime_ns,
    )


def content_of(path: str) -> bytes:
    """The content of a small file of the system, empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def joined(blocks: Iterable[bytes], path: str, limit: int) -> bytes:
    """The bytes of a file; ``ResourceError`` for more than ``limit``."""
    data = b""
    for block in blocks:
        data += block
        if len(data) > limit:
            raise ResourceError(
                "%s is larger than %d bytes" % (path, limit), kind="resource.file.size"
            )
    return data


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes: the system may take less at a time. ``OSError``"""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def parents(path: str) -> List[str]:
    """The directories above a relative path, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def is_within(path: str, directory: str) -> bool:
    """Return whether a path is that directory or is below it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def resolved(path: str, target_of: Callable[[str], str]) -> str:
    """A path without symlinks, as far as it exists; ``target_of`` returns the text of a symlink,
    "" for anything else."""
    done, todo, links = "/", path.split("/"), 0
    while todo:
        name = todo.pop(0)
        if name == "..":
            done = os.path.dirname(done)
        elif name not in ("", "."):
            full = os.path.join(done, name)
            target = target_of(full) if links < MAX_LINKS else ""
            if target:
                links += 1
                todo[:0] = target.split("/")
                done = "/" if target.startswith("/") else done
            else:
                done = full
    return done


def links(path: str) -> List[str]:
    """Every link of the host on the way from a path to its end, with the location of each."""
    result: List[str] = []

    def target_of(full: str) -> str:
        try:
            target = os.readlink(full)
        except OSError:
            return ""
        result.append(full)
        return target

    resolved(path, target_of)
    return result


def is_too_long(path: str) -> bool:
    """Return whether a path is longer than the system allows."""
    return len(path) * 4 > _MAX_PATH_LENGTH and len(os.fsencode(path)) > _MAX_PATH_LENGTH


def has_long_name(path: str) -> bool:
    """Return whether one of a path's names is longer than any directory allows."""
    return any(len(name) > _MAX_NAME_LENGTH for name in os.fsencode(path).split(b"/"))


def _pass_over(error: OSError) -> None:
    """Ignore a directory that cannot be listed."""


def _is_directory(entry: Any) -> bool:
    """Return whether it is a directory, or a link to one."""
    try:
        return bool(entry.is_dir())
    except OSError:
        return False  # a link in a circle


def walk(
    top: str, unlisted: Callable[[OSError], None] = _pass_over
) -> Iterator[Tuple[str, List[str], List[str]]]:
    """Like ``os.walk``, but without recursion: before Python 3.12, that function recurses for each
    level, and the owner of a directory may have created thousands of levels. Levels that no path
    can reach are skipped.
    """
    pending = [top]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(directory) as scanned:
                entries = [(one.name, _is_directory(one), one.is_symlink()) for one in scanned]
        except OSError as error:
            unlisted(error)
            continue
        directories = [name for name, is_directory, _ in entries if is_directory]
        yield (
            directory,
            directories,
            [name for name, is_directory, _ in entries if not is_directory],
        )
        if len(os.fsencode(directory)) <= _MAX_LENGTH:
            below = [
                name for name, is_directory, is_link in entries if is_directory and not is_link
            ]
            pending += [os.path.join(directory, name) for name in reversed(below)]
