"""What a command says it may change, for the previews of what comes later (target)."""

from typing import Any, Callable, List, Sequence

from remote_runtime.effects import below, everything
from remote_runtime.world.nodes import shared

_KINDS = {"service": "unit"}


def _only_there(path: str) -> List[str]:
    return [path]


def affected(
    affects: Any, places: Callable[[str], List[str]] = _only_there
) -> Callable[[str, str, bool], bool]:
    """What the entries of ``affects`` cover, everything where there is none.

    An entry is an absolute path, which stands for all below it too, or ``TYPE#NAME``. ``places``
    gives the paths that one has, with and without links; a file has other names, too.
    """
    if affects is None:
        return everything
    paths = [place for entry in affects for place in _places(str(entry), places)]
    parts = [below(path, itself=True) for path in paths]
    parts += [_one(str(entry)) for entry in affects if not _path(str(entry))]
    inodes = {inode for inode in map(shared, paths) if inode is not None}

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind == "host":  # what reads it may read anything
            return bool(parts)
        if kind == "path" and inodes and shared(value) in inodes:
            return True
        return any(part(kind, value, present) for part in parts)

    return covers


def _path(entry: str) -> str:
    name = entry.partition("#")[2]
    return entry if entry.startswith("/") else name if name.startswith("/") else ""


def _places(entry: str, places: Callable[[str], List[str]]) -> List[str]:
    path = _path(entry)
    return [path, *places(path)] if path else []


def _one(entry: str) -> Callable[[str, str, bool], bool]:
    type_name, _, name = entry.partition("#")
    thing = _KINDS.get(type_name, type_name)
    names: Sequence[str] = (name, name + ".service")

    def covers(kind: str, value: str, present: bool) -> bool:
        return kind == thing and value in names

    return covers
