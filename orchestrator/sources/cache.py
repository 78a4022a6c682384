"""The controller's cache of downloads with a digest, indexed by the digest."""

import contextlib
import hashlib
import os
import time
from pathlib import Path

from orchestrator.support.atomic_file import replacing
from orchestrator.support.state_directory import make_private, state_directory

MAX_FILES = 100
"""The number of entries; the least recently used ones are removed."""
_DAY = 86_400.0


def cache_directory() -> Path:
    """The directory of the cache, which may not exist yet."""
    return state_directory() / "sources"


def cached(digest: str, maximum: int) -> bytes | None:
    """The bytes with this SHA-256; None if they are not cached, or larger than ``maximum``."""
    path = cache_directory() / digest
    try:
        with open(path, "rb") as file:
            data = file.read(maximum + 1)
        os.utime(path)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == digest else None


def store(digest: str, data: bytes) -> None:
    """Cache bytes under their SHA-256. A failure is not an error: they are downloaded again."""
    with contextlib.suppress(OSError):
        directory = make_private(cache_directory())
        with replacing(directory / digest) as out:
            out.write(data)
        prune(directory)


def prune(directory: Path) -> None:
    """Remove files beyond ``MAX_FILES`` that were not used for a day. OSError."""
    entries = sorted(
        (
            (entry.stat(follow_symlinks=False).st_mtime, entry.path)
            for entry in os.scandir(directory)
        ),
        reverse=True,
    )
    for used, path in entries[MAX_FILES:]:
        if used > time.time() - _DAY:
            continue  # another run may be reading it
        if os.path.isdir(path):
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
