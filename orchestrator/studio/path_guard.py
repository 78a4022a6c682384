"""Opens files that a browser names, without following links, and words problems (controller)."""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from remote_runtime.errors import InputError, Problem

KIND = "input.design"


def refusal(message: str, hint: str, kind: str = KIND) -> InputError:
    """The error for a file or an edit that is refused."""
    return InputError([Problem(message, None, hint, kind)])


def problem_text(error: Exception, root: Path, action: str = "written") -> str:
    """An error in one line, with paths relative to ``root``; ``action`` is what failed
    with an OSError.
    """
    if isinstance(error, InputError):
        text = "; ".join(map(str, error.problems))
    elif isinstance(error, OSError):
        text = f"the file cannot be {action}: {os.strerror(error.errno or 0)}"
    else:
        text = str(error)
    return text.replace(f"{root}/", "")


NAME = re.compile(r"[^\W_][\w.@+ -]{0,99}")
"""Matches the name of a file or directory that is not hidden."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_MAX_PARTS = 20
_MAX_INSPECTED = 20_000


def is_name(name: str) -> bool:
    """Whether each part of a path is a name that may be shown."""
    parts = name.split("/")
    return len(parts) <= _MAX_PARTS and all(map(NAME.fullmatch, parts))


def names_below(root: Path) -> Iterator[str]:
    """The paths of files in a directory, without other repositories and virtual environments. Stops
    after some thousand files.
    """
    inspected = 0
    for at, directories, files in os.walk(root):
        directories[:] = sorted(
            one
            for one in directories
            if NAME.fullmatch(one)
            and not os.path.lexists(os.path.join(at, one, ".git"))
            and not os.path.lexists(os.path.join(at, one, "pyvenv.cfg"))
        )
        for name in sorted(files):
            inspected += 1
            yield os.path.relpath(os.path.join(at, name), root)
        if inspected > _MAX_INSPECTED:
            return


@contextlib.contextmanager
def folder_below(root: Path, name: str, create: bool = False) -> Iterator[int | None]:
    """Yield the open directory of a file; None if it does not exist. InputError, OSError."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in name.split("/")[:-1]:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o777, dir_fd=handle)
            try:
                below = os.open(part, _FOLDER, dir_fd=handle)
            except FileNotFoundError:
                yield None
                return
            except OSError as error:
                message = f"{name}: {part} is a symlink, or not a directory"
                raise refusal(message, "choose a directory in the project") from error
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def content_of(folder: int, name: str, maximum: int, hint: str) -> bytes | None:
    """The bytes of a regular file in an open directory, whose path is ``name``; None if it does not
    exist.

    InputError; if it has more than ``maximum`` bytes, with ``hint``.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(os.path.basename(name), flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror}"
        raise refusal(message, "choose a regular file") from error
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise refusal(f"{name} is not a regular file", "choose another file")
        found = file.read(maximum + 1)
    if len(found) > maximum:
        raise refusal(f"{name} is larger than {maximum >> 20} MiB", hint)
    return found
