"""The changes declared by a command, for previews of later resources (target)."""

from typing import TYPE_CHECKING, Any, Callable, List

from remote_runtime.effects import (
    ACCOUNT_DATABASES,
    DATABASES,
    AnyOf,
    Below,
    Covers,
    Named,
    everything,
)
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
    if inodes:
        parts.append(lambda kind, value, present: kind == "path" and shared(value) in inodes)
    return AnyOf(parts)


def _path(entry: str) -> str:
    name = entry.partition("#")[2]
    return entry if entry.startswith("/") else name if name.startswith("/") else ""


def _places(entry: str, places: Callable[[str], List[str]]) -> List[str]:
    path = _path(entry)
    return [path, *places(path)] if path else []


def _of(entry: str, context: "Context") -> List[Covers]:
    type_name, _, name = entry.partition("#")
    kind = _KINDS.get(type_name, type_name)
    parts: List[Covers] = [Named(kind, name, name + ".service")]
    if kind in DATABASES:
        parts.append(ACCOUNT_DATABASES)
    if kind == "package":
        from remote_runtime.packages.package_coverage import coverage

        parts.append(coverage(context, name))
    return parts
