"""The program of ccm.pyz: unpacks the wheels that it carries for this Python, and starts ccm.

They are unpacked once, below the user's cache directory, into a directory named by their digest.
Anyone who can write there can run code as this user. So the directory must belong to this user,
below directories that nobody else can change, and each start checks all of it. Otherwise the wheels
are unpacked for one run.

Python 3.6 can read this file, so an old version reports what ccm needs.
"""

import atexit
import contextlib
import io
import json
import os
import shutil
import stat
import sys
import tempfile
import time
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Index = dict[str, Any]
    """What `build.py` says of one Python: `sha256`, `wheels`, and `files` with their sizes."""

_PYTHON = ".".join(str(part) for part in sys.version_info[:2])

ABANDONED_SECONDS = 3600.0
"""Seconds after which an unfinished directory of another process counts as abandoned."""


class UnusableError(Exception):
    """Why a directory is not to be used."""


def main() -> int:
    """Start ccm and return its exit code."""
    archive = os.path.dirname(os.path.abspath(__file__))
    with zipfile.ZipFile(archive) as carried:
        index = _index(carried)
        if index is None:
            return 2
        directory = _libraries(carried, index)
    # It runs alone: what is installed for this Python, such as plugins of pytest, is not for it.
    others = [p for p in sys.path[1:] if not p.endswith(("site-packages", "dist-packages"))]
    sys.path[:] = [directory, *others]
    from orchestrator.cli.app import main as ccm

    return ccm()


def _index(carried: zipfile.ZipFile) -> "Index | None":
    """What this Python needs; None, and said so, where there is nothing for it."""
    name = f"python{_PYTHON}.json"
    pythons = sorted(
        (name[6:-5] for name in carried.namelist() if name.startswith("python")),
        key=lambda version: [int(part) for part in version.split(".")],
    )
    machine = os.uname().machine if sys.platform.startswith("linux") else sys.platform
    if name in carried.namelist() and machine == "x86_64" and _has_glibc():
        index: Index = json.loads(carried.read(name).decode())
        return index
    _say(
        f"error: this file is for Python {', '.join(pythons)} on Linux x86-64 with glibc,"
        f" and this is Python {_PYTHON} on {machine}\n"
        "  start it with one of those, or install ccm with: pip install ccm-push"
    )
    return None


def _has_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (OSError, ValueError):
        return False


def _say(text: str) -> None:
    sys.stderr.write(f"ccm: {text}\n")


def _libraries(carried: zipfile.ZipFile, index: "Index") -> str:
    """The directory with the unpacked wheels: the cache's, else one for this run."""
    try:
        directory = os.path.join(_cache(), index["sha256"])
        if not _is_whole(directory, index["files"]):
            _renew(directory, carried, index)
        return directory
    except (OSError, UnusableError) as error:
        _say(f"warning: {error}: the libraries are unpacked for this run only")
    directory = tempfile.mkdtemp(prefix="ccm-pyz-")
    atexit.register(_remove, directory, os.getpid())
    _unpack(directory, carried, index)
    return directory


def _remove(directory: str, process: int) -> None:
    if os.getpid() == process:  # not in a child
        shutil.rmtree(directory, ignore_errors=True)


def _cache() -> str:
    """The cache directory, created if missing; UnusableError if another user could write to it."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    top = given if os.path.isabs(given) else os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(top):
        raise UnusableError("this user has no home")
    top = os.path.realpath(top)
    _check_parents(top)
    os.makedirs(top, mode=0o700, exist_ok=True)
    for name, forbidden in (("ccm", 0o022), ("pyz", 0o077)):
        top = os.path.join(top, name)
        with contextlib.suppress(FileExistsError):
            os.mkdir(top, 0o700)
        _check(top, stat.S_ISDIR, forbidden)
    return top


def _check_parents(path: str) -> None:
    """Refuse a path one of whose directories another user owns or may write to, if it is not
    sticky.
    """
    while path != os.path.dirname(path):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            status = None
        if status is not None:
            if status.st_uid not in (0, os.geteuid()):
                raise UnusableError(f"{path} belongs to another user")
            if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
                raise UnusableError(f"other users may write to {path}")
        path = os.path.dirname(path)


def _check(path: str, is_kind: "Callable[[int], bool]", forbidden: int) -> os.stat_result:
    """Refuse what is of another kind (a link, too), another user's, or has a forbidden mode bit."""
    status = os.lstat(path)
    if not is_kind(status.st_mode):
        raise UnusableError(f"{path} is not what ccm.pyz made")
    if status.st_uid != os.geteuid():
        raise UnusableError(f"{path} belongs to another user")
    if status.st_mode & forbidden:
        raise UnusableError(f"{path} has mode {stat.S_IMODE(status.st_mode):04o}")
    return status


def _is_whole(directory: str, files: "dict[str, int]") -> bool:
    """Whether all files are there as they were unpacked, of this user and no links."""
    try:
        for path in {directory}.union(*(_directories(directory, name) for name in files)):
            _check(path, stat.S_ISDIR, 0o077)
        for name, size in files.items():
            if _check(os.path.join(directory, name), stat.S_ISREG, 0o077).st_size != size:
                return False
    except (OSError, UnusableError):
        return False
    return True


def _directories(directory: str, name: str) -> "list[str]":
    """Every directory between the top one and a file."""
    parts = name.split("/")[:-1]
    return [os.path.join(directory, *parts[: end + 1]) for end in range(len(parts))]


def _renew(directory: str, carried: zipfile.ZipFile, index: "Index") -> None:
    """Replace a directory atomically."""
    top = os.path.dirname(directory)
    _sweep(top)
    new = tempfile.mkdtemp(prefix=".new-", dir=top)
    try:
        _unpack(new, carried, index)
        while True:
            try:
                os.rename(new, directory)
                return
            except OSError:
                # Another process was quicker, or what is there is broken.
                if _is_whole(directory, index["files"]):
                    return
                os.rename(directory, tempfile.mkdtemp(prefix=".old-", dir=top) + "/broken")
    finally:
        shutil.rmtree(new, ignore_errors=True)
        _sweep(top, ".old-", 0.0)


def _sweep(top: str, prefix: str = ".new-", seconds: float = ABANDONED_SECONDS) -> None:
    """Remove what was not finished, or is no longer of use."""
    for name in os.listdir(top):
        path = os.path.join(top, name)
        with contextlib.suppress(OSError):
            if name.startswith(prefix) and time.time() - os.lstat(path).st_mtime >= seconds:
                shutil.rmtree(path, ignore_errors=True)


def _unpack(directory: str, carried: zipfile.ZipFile, index: "Index") -> None:
    mask = os.umask(0o077)
    try:
        for name in index["wheels"]:
            with zipfile.ZipFile(io.BytesIO(carried.read("wheels/" + name))) as wheel:
                wheel.extractall(directory)
    finally:
        os.umask(mask)


if __name__ == "__main__":
    sys.exit(main())
