"""Reads the files of a directory of types into memory, once (controller).

The checked, the imported and the sent bytes are the same. A file that another user could have
written is refused, because its code would run as the user and, on hosts, as root.
"""

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from remote_runtime.errors import Problem

DIRECTORY = "types"
MARKS = ("__init__.py", "resource.py", "schema.json")
"""A directory with two of these files is, or is meant to be, a type, because other directories may
also contain a schema.
"""

MAX_FILES = 200
MAX_BYTES = 1 << 20
_LEFT_OUT = {"__pycache__", "tests"}


def type_directories(directory: Path) -> list[Path]:
    """The directories of types, by name; OSError if the directory cannot be read."""
    return [
        path
        for path in sorted(directory.iterdir())
        if path.is_dir()
        and not path.name.startswith((".", "_"))
        and sum((path / mark).exists() for mark in MARKS) >= 2
    ]


def read_type(home: Path, owners: Collection[int], problems: list[Problem]) -> dict[str, bytes]:
    """The modules and the schema of one type, by their path in its directory.

    ``owners``: the user IDs whose files are trusted. Tests are omitted: a directory ``tests``,
    ``test_*.py`` and ``conftest.py``.
    """
    files: dict[str, bytes] = {}
    try:
        for path in _members(home):
            if len(files) >= MAX_FILES:
                message = f"{home} contains more than {MAX_FILES} files"
                problems.append(Problem(message, None, "keep only the modules of the type in it"))
                break
            problem = trust_problem(path.parent, owners) or trust_problem(path, owners)
            if problem:
                problems.append(problem)
                continue
            if not path.is_file():
                message = f"{path} is not a regular file"
                problems.append(Problem(message, None, "remove it", "input.unreadable"))
                continue
            files[path.relative_to(home).as_posix()] = _read(path, problems)
    except OSError as error:
        problems.append(unreadable(error))
    return files


def trust_problem(path: Path, owners: Collection[int]) -> Problem | None:
    """The reason why the code there is not trusted, or None; OSError."""
    found = path.stat()
    if found.st_uid not in owners:
        message = f"{path} belongs to another user (id {found.st_uid}), and ccm would run its code"
        return Problem(message, None, "review it, then change its owner", "input.untrusted")
    if found.st_mode & stat.S_IWOTH:
        message = f"{path} is writable by every user, and ccm would run its code"
        return Problem(message, None, f"chmod o-w {path}", "input.untrusted")
    return None


def unreadable(error: OSError) -> Problem:
    """Return the problem of a file that cannot be read."""
    return Problem(f"cannot read {error.filename}: {error.strerror}", None, "", "input.unreadable")


def _members(home: Path) -> Iterator[Path]:
    for parent, directories, names in os.walk(home):
        directories[:] = sorted(
            f for f in directories if f not in _LEFT_OUT and not f.startswith(".")
        )
        for name in sorted(names):
            ours = name.endswith(".py") and not name.startswith((".", "test_", "conftest."))
            if ours or (name == "schema.json" and Path(parent) == home):
                yield Path(parent, name)


def _read(path: Path, problems: list[Problem]) -> bytes:
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        problems.append(Problem(f"{path} is larger than 1 MiB", None, "a module must be text"))
        return b""
    return data
