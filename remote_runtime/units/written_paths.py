"""The paths to which a service's programs may have written after it was started or stopped (target;
previews only).
"""

import os
from typing import TYPE_CHECKING, List, Optional

from remote_runtime.effects import Effect, PathEffect, UnknownEffect
from remote_runtime.system.paths import is_within
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty
from remote_runtime.units.named_paths import (
    RELOADING,
    STARTING,
    STOPPING,
    NamedPaths,
    of_unit,
    streams,
)
from remote_runtime.units.service_directories import given_away, named_directories
from remote_runtime.units.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context

_KINDS = ("path", "attributes")
_ANY = "?"  # a name that an unknown change may create
_LIMIT = 1000  # paths of a tree that gets another owner
CREATES = "creates"
"""The kind under which a resource checks for the path that makes it unnecessary."""


def effects(unit: Definition, context: "Context", *, starts: bool, stops: bool) -> List[Effect]:
    """Return the unknown effects at the paths in its command lines, and below its own
    directories."""
    keys = (STOPPING if stops else ()) + (STARTING if starts else ())
    with context.ignoring():
        named_paths = of_unit(unit, context, keys)
        directories = (
            tuple(directory + "/" for directory in named_directories(unit)) if starts else ()
        )
        outputs = streams(unit) if starts else []
    given = given_away(unit, context) if starts else []
    effects: List[Effect] = [PathEffect(path, "something") for path in outputs]
    for directory, uid, gid in given:  # before its programs run
        effects += _owned(unit, context, directory=directory, uid=uid, gid=gid)
    if not named_paths.harmless:
        named_paths = named_paths._replace(begun=named_paths.begun + directories)
        effects.append(_unknown_effect(unit, named_paths, starts))
    return effects


def of_reload(unit: Definition, context: "Context") -> List[Effect]:
    """Return the unknown effects at the paths in the command lines of a reload."""
    with context.ignoring():
        named_paths = of_unit(unit, context, RELOADING)
    return (
        [] if named_paths.harmless else [_unknown_effect(unit, named_paths, False, "is reloaded")]
    )


def of_trigger(unit: Definition, context: "Context") -> List[Effect]:
    """Return the unknown effects at the paths in the command lines of a unit that may start
    soon."""
    with context.ignoring():
        named_paths = of_unit(unit, context, STARTING)
    return [] if named_paths.harmless else [_unknown_effect(unit, named_paths, False, "is started")]


def _unknown_effect(
    unit: Definition, named_paths: NamedPaths, starts: bool, when: str = ""
) -> UnknownEffect:
    """An unknown effect; ``creates``: something that a later resource creates may be created by the
    unit itself.
    """

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind in ("path", "content"):
            return named_paths.covers(value, present)
        if kind == "text":
            return named_paths.named_in(value)
        return kind == CREATES and starts and not present

    when = when or ("starts" if starts else "stops")
    return UnknownEffect(
        Uncertainty(ASSUMED, "%s may change this when it %s" % (unit.name, when)), covers
    )


def _owned(
    unit: Definition,
    context: "Context",
    *,
    directory: str,
    uid: Optional[int],
    gid: Optional[int],
) -> List[Effect]:
    """The effects if systemd changes the owner of the whole tree because the unit's user does not
    own its top directory. They are unknown if the user, or what is in the tree, is.
    """
    overlay, files, waiting = context.overlay, context.files, [directory]
    effects: List[Effect] = []
    with context.ignoring():
        while waiting and overlay is not None and uid is not None and gid is not None:
            above = waiting.pop()
            for path in [os.path.join(above, name) for name in (_ANY, *files.entries(above))]:
                status = files.look(path)
                regions = overlay.unknown_regions
                if len(effects) >= _LIMIT or any(regions.over(path, True, 0, k) for k in _KINDS):
                    return [_unknown_owners(unit, directory)]
                if status is None or status.kind == "other":
                    continue
                if (status.uid, status.gid) != (uid, gid):
                    target = files.link(path)
                    effects.append(PathEffect(path, status.kind, uid=uid, gid=gid, target=target))
                waiting += [path] if status.kind == "directory" else []
    return [_unknown_owners(unit, directory)] if waiting else effects


def _unknown_owners(unit: Definition, directory: str) -> UnknownEffect:
    reason = "systemd changes the owner of %s and its contents to the user of %s" % (
        directory,
        unit.name,
    )

    def covers(kind: str, value: str, present: bool) -> bool:
        return kind == "attributes" and value != directory and is_within(value, directory)

    return UnknownEffect(Uncertainty(UNKNOWN, reason), covers)
