"""Files that are replaced atomically (controller)."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o600, *, durable: bool = False) -> Iterator[BinaryIO]:
    """A new file, which replaces the one at ``path`` once it is complete.

    It is written next to that file under a hidden name, and removed on failure. ``durable``: it
    also survives a power failure. A device or a pipe at ``path``, such as /dev/null, is written to
    directly and kept. OSError.
    """
    if _is_device(path):
        with path.open("wb") as out:
            yield out
        return
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            if durable:
                os.fsync(handle)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def unwritable(path: str) -> str:
    """The reason why ``replacing`` cannot write a file, as far as it can be known before; "" if
    nothing prevents it."""
    directory = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        return "it is a directory"
    if not os.path.isdir(directory):
        return f"the directory {directory} does not exist"
    if not os.access(directory, os.W_OK | os.X_OK) and not _is_device(Path(path)):
        return f"the directory {directory} is not writable"
    return ""


def _is_device(path: Path) -> bool:
    """Whether a path, or the target of a link there, cannot be replaced like a file."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISFIFO(mode)
