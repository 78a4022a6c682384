"""The paths to which a service's programs may have written after it was started or stopped (target;
previews only).
"""

from typing import TYPE_CHECKING, List

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
    effects: List[Effect] = [PathEffect(path, "something") for path in outputs]
    if not named_paths.harmless:
        named_paths = named_paths._replace(begun=named_paths.begun + directories)
        effects.append(_unknown_effect(unit, named_paths, starts))
    given = given_away(unit, context) if starts else []
    if given:
        effects.append(_owners(unit, given))
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


def _owners(unit: Definition, directories: List[str]) -> UnknownEffect:
    """The effects if systemd changes the owner of the whole tree because the unit's user does not
    own its top directory.
    """
    reason = "systemd changes the owner of %s and its contents to the user of %s" % (
        directories[0],
        unit.name,
    )

    def covers(kind: str, value: str, present: bool) -> bool:
        below = any(value != directory and is_within(value, directory) for directory in directories)
        return kind == "attributes" and below

    return UnknownEffect(Uncertainty(UNKNOWN, reason), covers)
