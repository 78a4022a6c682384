"""Files that are replaced atomically (controller)."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from orchestrator.support.line_file import FULL


@contextlib.contextmanager
def replacing(
    path: Path, mode: int = 0o600, *, durable: bool = False, is_new: bool = False
) -> Iterator[BinaryIO]:
    """A new file, which replaces the one at ``path`` once it is complete.

    It gets its name then, so nothing is left of it even if ccm is killed. Where the file system
    cannot do this, it is written next to that file under a hidden name, and removed on failure.
    ``durable``: it also survives a power failure. ``is_new``: FileExistsError if the file exists. A
    device or a pipe at ``path``, such as /dev/null, is written to directly and kept. OSErrors of
    writing name ``path``.
    """
    if not is_new and _is_device(path):
        with path.open("wb") as out:
            yield out
        return
    temporary = str(path.absolute().with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.new"))
    try:
        handle, source = _created(temporary, mode)
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            if durable:
                os.fsync(handle)
            if is_new:
                _link(handle, source, path)
            elif source == temporary or not _is_linked(handle, source, path, temporary):
                os.replace(temporary, path)
    except OSError as error:
        if error.errno in FULL or error.filename == temporary:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _created(temporary: str, mode: int) -> tuple[int, str]:
    """A new file in the directory of ``temporary``, and a path of it: ``temporary`` if it needs a
    name."""
    with contextlib.suppress(OSError, AttributeError):  # not every system has it
        handle = os.open(os.path.dirname(temporary), os.O_WRONLY | os.O_TMPFILE, mode)
        source = f"/proc/self/fd/{handle}"
        if os.path.exists(source):
            return handle, source
        os.close(handle)
    return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), temporary


def _link(handle: int, source: str, path: Path | str) -> None:
    # With a descriptor, which an absolute path ignores, os.link follows symlinks.
    os.link(source, path, src_dir_fd=handle)


def _is_linked(handle: int, source: str, path: Path, temporary: str) -> bool:
    """Give an unnamed file its name; False if that exists, and the temporary name is used."""
    try:
        _link(handle, source, path)
    except FileExistsError:
        _link(handle, source, temporary)
        return False
    return True


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


def error_text(error: OSError) -> str:
    """The file of the error, and the reason of the system."""
    return ": ".join(str(part) for part in (error.filename, error.strerror) if part) or str(error)


def _is_device(path: Path) -> bool:
    """Whether a path, or the target of a link there, cannot be replaced like a file."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISFIFO(mode)
