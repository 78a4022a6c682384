"""The directories that an import reads (controller).

A project may be untrusted: it may name any file, and contain links to any path. Files outside these
directories, such as the user's keys, must not end up in the site.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_directories: ContextVar[list[Path] | None] = ContextVar("directories", default=None)


@contextmanager
def reading_only(directory: Path) -> Iterator[None]:
    """Within this context, only files of this directory are readable. Outside it, all are."""
    token = _directories.set([directory.resolve()])
    try:
        yield
    finally:
        _directories.reset(token)


def admit(directory: Path) -> None:
    """Make the files of another directory readable, such as a role on the role path."""
    directories = _directories.get()
    if directories is not None and not is_readable(directory):
        directories.append(directory.resolve())


def is_readable(path: Path) -> bool:
    """Whether a path, with its links followed, leads into one of the directories."""
    directories = _directories.get()
    resolved = path.resolve()
    return directories is None or any(resolved.is_relative_to(one) for one in directories)
