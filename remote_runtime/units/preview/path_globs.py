"""The paths that match a systemd pattern, based on the future files (target)."""

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Iterator, Sequence

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_SIGNS = frozenset("*?[")


def matches(files: "Files", pattern: str) -> Iterator[str]:
    """The existing paths that match; ``pattern`` is absolute and has no braces."""
    return _below(files, "/", [part for part in pattern.split("/") if part])


def _below(files: "Files", directory: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the paths below a directory with matching names, one for each level."""
    if not parts:
        yield directory
        return
    name = parts[0]
    names = [name]
    if set(name) & _SIGNS:
        held = files.entries(directory + "/.") if files.is_directory(directory) else []
        names = [n for n in held if fnmatchcase(n, name) and (n[0] != "." or name[0] == ".")]
    for path in [os.path.join(directory, one) for one in names]:
        if files.is_there(path):
            yield from _below(files, path, parts[1:])
