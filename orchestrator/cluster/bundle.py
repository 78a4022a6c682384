"""Packs the files of a site into one archive, and unpacks it (both sides).

A file that a manifest names is included wherever it is. So is everything in the directory of the
manifest, because a name may depend on facts.
"""

import io
import os
import stat
import tarfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from orchestrator.cluster.private_files import PrivateFiles
from remote_runtime.errors import UsageError

MAX_FILES = 20_000
MAX_BYTES = 256 << 20
_NOT_A_SITE = {".git", ".hg", ".svn", ".ssh", ".gnupg", "__pycache__", ".venv", "node_modules"}


def pack(
    directories: Iterable[Path],
    named: Iterable[Path],
    without: Collection[Path] = (),
    private: PrivateFiles | None = None,
) -> bytes:
    """Pack the files below the directories, and the named ones, each by its absolute path.

    Unnamed files with a private key are omitted, and so are files and directories in ``without``;
    ``private`` records them. UsageError for a directory that cannot be a site or is too large.
    """
    private = private or PrivateFiles(without)
    out = io.BytesIO()
    left = MAX_BYTES
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in _collected(directories, named, private):
            left -= _add(archive, member)
            if left < 0:
                raise UsageError(
                    f"the files of the site are larger than {MAX_BYTES >> 20} MiB",
                    hint="let hosts download large files (archive), or use another --engine",
                )
    return out.getvalue()


class _Member(NamedTuple):
    """A file by its name in the bundle; ``link`` is set if it is sent as a link to another file."""

    name: str
    path: Path
    link: str | None


def _collected(
    directories: Iterable[Path], named: Iterable[Path], private: PrivateFiles
) -> Iterator[_Member]:
    """The files of a site, by name; UsageError."""
    found: dict[str, Path] = {}
    links: dict[str, str] = {}
    contents = {os.path.abspath(path) for path in named}
    places = sorted({Path(os.path.abspath(directory)) for directory in directories})
    for directory in places:
        _check_directory(directory)
        for path in _below(directory, private):
            if not path.is_symlink() and path.is_file() and private.is_private(path):
                continue
            inside = _place_inside(path, places) if path.is_symlink() else None
            if inside is not None:
                links[str(path)] = os.path.relpath(inside, path.parent)
            elif path.is_symlink():
                target = Path(os.path.realpath(path))
                if not target.is_file() or private.is_private(path):
                    continue
                contents.add(str(path))
            found[str(path)] = path
            _check_number(found, directory)
    for name in contents:
        if os.path.isfile(name):
            found[_unlinked(name, links, places)] = Path(name)
    contents = {_unlinked(name, links, places) for name in contents}
    for name, path in sorted(found.items()):
        yield _Member(name, path, None if name in contents else links.get(name))


def unpack(data: bytes, root: Path) -> None:
    """Write the files into our own directory, each at its path. ValueError, OSError."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            parts = member.name.split("/")
            if ".." in parts or member.name.startswith("/"):
                raise ValueError(f"{member.name} points outside the directory")
            path = root / member.name
            path.parent.mkdir(parents=True, exist_ok=True)
            if member.issym():
                os.symlink(member.linkname, path)
            elif member.isreg():
                stream = archive.extractfile(member)
                assert stream is not None
                with open(path, "xb") as file:
                    file.write(stream.read())
                path.chmod(0o700 if member.mode & 0o100 else 0o600)


def _check_directory(directory: Path) -> None:
    home, real = (Path(os.path.realpath(path)) for path in (Path.home(), directory))
    if real in (home, *home.parents):
        where = directory if directory == real else f"{directory}, which points to {real}"
        raise UsageError(
            f"the manifest is in {where}; the complete directory would be sent to the workers",
            hint="keep manifests and the files that they use in a separate directory",
        )


def _check_number(found: Collection[str], directory: Path) -> None:
    if len(found) > MAX_FILES:
        raise UsageError(
            (
                f"{directory} contains more than {MAX_FILES:,} files; all of them would be sent "
                "to the workers"
            ),
            hint="keep manifests and the files that they use in a separate directory",
        )


def _below(directory: Path, private: PrivateFiles) -> Iterator[Path]:
    for parent, directories, names in os.walk(directory):
        here = Path(parent)
        links = [name for name in directories if (here / name).is_symlink()]
        inside = sorted(set(directories) - set(links) - _NOT_A_SITE)
        directories[:] = [name for name in inside if not private.is_private_directory(here / name)]
        yield from (here / name for name in sorted([*names, *links]))


def _place_inside(path: Path, directories: Iterable[Path]) -> Path | None:
    """The path below one of the directories to which it leads; None if it leads outside."""
    real = os.path.realpath(path)
    for directory in directories:
        root = os.path.realpath(directory)
        if real == root or real.startswith(f"{root}/"):
            return directory / os.path.relpath(real, root)
    return None


def _unlinked(name: str, links: Collection[str], directories: Iterable[Path]) -> str:
    """The name of a file with links to directories resolved if these directories are included."""
    path = Path(name)
    if not any(str(parent) in links for parent in path.parents):
        return name
    place = _place_inside(path.parent, directories)
    return name if place is None else str(place / path.name)


def _add(archive: tarfile.TarFile, what: _Member) -> int:
    """Add a file, or a link to another one; return its size. UsageError."""
    path = what.path
    member = tarfile.TarInfo(what.name.lstrip("/"))
    if what.link is not None:
        member.type, member.linkname = tarfile.SYMTYPE, what.link
        archive.addfile(member)
        return 0
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            return found.st_size if stat.S_ISREG(found.st_mode) else 0
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    member.size, member.mode = len(data), 0o755 if found.st_mode & 0o100 else 0o644
    archive.addfile(member, io.BytesIO(data))
    return len(data)
