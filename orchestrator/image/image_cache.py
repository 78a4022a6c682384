"""Keeps built images in the cache directory, so that a run does not build them (controller).

A file is 32 bytes of SHA-256 and the content that they are the hash of. The directory has mode
0700. It and the one above must belong to this user; if they cannot be used, images are built each
time.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from orchestrator.support.atomic_file import replacing
from orchestrator.support.hashing import sha256
from remote_runtime.version import VERSION

KEPT = 15


def key(files: Iterable[str], contents: Mapping[str, bytes]) -> str:
    """A name for the state of the sources, based on the paths, sizes and modification times of
    files.
    """
    states = [VERSION]
    for path in files:
        found = os.stat(path)
        states.append(f"{path}\0{found.st_size}\0{found.st_mtime_ns}\n")
    digest = sha256("".join(states).encode())
    for name, content in contents.items():
        digest.update(f"{name}\0{len(content)}\n".encode() + content)
    return digest.hexdigest()[:32]


def load(name: str) -> bytes | None:
    """The content stored under the name; None if it is missing or incomplete."""
    directory = _directory()
    if directory is None:
        return None
    try:
        data = (directory / name).read_bytes()
    except OSError:
        return None
    content = data[32:]
    return content if sha256(content).digest() == data[:32] else None


def save(contents: Mapping[str, bytes]) -> None:
    """Store the contents under their names; a cache directory that cannot be written to is not an
    error.
    """
    directory = _directory()
    if directory is None:
        return
    with contextlib.suppress(OSError):
        for name, content in contents.items():
            with replacing(directory / name) as out:
                out.write(sha256(content).digest() + content)
        _prune(directory)


def _directory() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME", "")
    parent = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    directory = parent / "ccm" / "image"
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        found = (directory.parent.stat(), directory.lstat())
    except (OSError, RuntimeError):
        return None
    is_own = all(one.st_uid == os.geteuid() and not one.st_mode & 0o022 for one in found)
    return directory if is_own else None


def _prune(directory: Path) -> None:
    files = sorted(directory.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[KEPT:]:
        path.unlink(missing_ok=True)
