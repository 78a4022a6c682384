"""The changes declared by a command, for previews of later resources (target)."""

from typing import TYPE_CHECKING, Any, Callable, List, Sequence

from remote_runtime.effects import ACCOUNT_DATABASES, DATABASES, Below, Covers, everything
from remote_runtime.overlay.planned_nodes import shared

if TYPE_CHECKING:
    from remote_runtime.context import Context

_KINDS = {"service": "unit"}  # of effects, by the type, if these differ


def affected(affects: Any, context: "Context") -> Covers:
    """Return the coverage of the entries of ``affects``; None covers everything.

    An entry is an absolute path, which includes everything below it, or ``TYPE#NAME``. A path may
    have other names, with and without links; a package includes its contents.
    """
    if affects is None:
        return everything
    paths = [place for entry in affects for place in _places(str(entry), context.places)]
    parts: List[Covers] = [Below(path, itself=True) for path in paths]
    for entry in affects:
        if not _path(str(entry)):
            parts += _of(str(entry), context)
    inodes = {inode for inode in map(shared, paths) if inode is not None}

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind == "host":  # anything that reads it may read everything
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


def _of(entry: str, context: "Context") -> List[Covers]:
    type_name, _, name = entry.partition("#")
    kind = _KINDS.get(type_name, type_name)
    if kind != "package":
        return [_named(kind, name)]
    from remote_runtime.packages.package_coverage import coverage

    return [_named(kind, name), coverage(context, name)]


def _named(thing: str, name: str) -> Covers:
    names: Sequence[str] = (name, name + ".service")

    def covers(kind: str, value: str, present: bool) -> bool:
        if thing in DATABASES and ACCOUNT_DATABASES(kind, value, present):
            return True
        return kind == thing and value in names

    return covers
