"""Reads an untrusted archive of manifests, and writes it into a directory (controller)."""

import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from orchestrator.sources.address import SourceError
from orchestrator.support.plain_text import one_line
from remote_runtime.archives.member_filter import DIRECTORY, FILE, Member
from remote_runtime.archives.member_reader import members

MAX_UNPACKED = 64 << 20
MAX_MEMBERS = 10_000
_MAX_PART_LENGTH, _MAX_PATH_LENGTH = 255, 1024  # bytes
_HEADERS = 3 * 512 * MAX_MEMBERS

# What a broken archive raises.
_BROKEN = (
    tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError,
)  # fmt: skip


class File(NamedTuple):
    """A file of an archive."""

    data: bytes
    is_program: bool


def files_of(data: bytes, display_name: str) -> dict[str, File]:
    """The files of a gzip-compressed tar archive by their paths; SourceError.

    Only files and directories below the archive's own directory are accepted.
    """
    found: dict[str, File] = {}
    left = MAX_UNPACKED
    try:
        for number, member in enumerate(_members(data, display_name)):
            if number >= MAX_MEMBERS:
                raise _refused(display_name, f"it has more than {MAX_MEMBERS:,} members")
            path = _path(member, display_name)
            left -= member.size
            if left < 0:
                raise _too_large(display_name)
            if member.kind == DIRECTORY:
                continue
            if path in found or not path:
                raise _refused(
                    display_name, f"{one_line(path, 80)!r} is in it twice or has no name"
                )
            found[path] = File(member.content().read(member.size), bool(member.mode & 0o100))
            if len(found[path].data) != member.size:
                raise EOFError
    except _BROKEN as error:
        raise _refused(display_name, "it is not a complete gzip-compressed tar archive") from error
    for path in found:
        for above in _above(path):
            if above in found:
                raise _refused(
                    display_name, f"{one_line(above, 80)!r} is both a file and a directory"
                )
    return found


def _members(data: bytes, display_name: str) -> Iterator[Member]:
    """The members of an archive, each with its content, which is read before the next one."""
    maximum = MAX_UNPACKED + _HEADERS
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        unpacked = file.read(maximum + 1)
    if len(unpacked) > maximum:
        raise _too_large(display_name)
    return members(
        "tar", io.BytesIO(unpacked), heartbeat=lambda: None, maximum=maximum, most=MAX_MEMBERS
    )


def write(files: Mapping[str, File], directory: Path) -> None:
    """Write the files into a new directory. OSError."""
    directory.mkdir(mode=0o700)
    for name, file in files.items():
        path = directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "xb") as out:
            out.write(file.data)
        path.chmod(0o500 if file.is_program else 0o400)


def is_below(files: Mapping[str, File], directory: Path) -> bool:
    """Whether a directory has exactly these files, unchanged."""
    seen = set()
    for parent, directories, names in os.walk(directory):
        for name in [*names, *directories]:
            path = Path(parent, name)
            if path.is_symlink():
                return False
            if name in names:
                seen.add(path.relative_to(directory).as_posix())
    try:
        return seen == set(files) and all(
            (directory / name).read_bytes() == file.data for name, file in files.items()
        )
    except OSError:
        return False


def _path(member: Member, display_name: str) -> str:
    """Return the clean path of a member; SourceError if it is refused."""
    name = one_line(member.name, 80)
    if member.kind not in (FILE, DIRECTORY):
        raise _refused(display_name, f"{name!r} is neither a file nor a directory")
    if member.size < 0:
        raise EOFError
    parts = [part for part in member.name.split("/") if part not in ("", ".")]
    if member.name.startswith("/") or ".." in parts:
        raise _refused(display_name, f"{name!r} points outside of it")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError as error:
        raise _refused(display_name, f"{name!r} is not a UTF-8 name") from error
    if max(sizes, default=0) > _MAX_PART_LENGTH or sum(sizes) + len(sizes) > _MAX_PATH_LENGTH:
        raise _refused(display_name, f"the name {name!r} is too long")
    if not "".join(parts).isprintable():
        raise _refused(display_name, f"{name!r} has a control character")
    return "/".join(parts)


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _too_large(display_name: str) -> SourceError:
    return _refused(display_name, f"it unpacks to more than {MAX_UNPACKED >> 20} MiB")


def _refused(display_name: str, reason: str) -> SourceError:
    hint = "create it with: tar czf NAME.tar.gz -C DIR ."
    return SourceError(f"the archive {display_name} is refused: {reason}", hint=hint)
