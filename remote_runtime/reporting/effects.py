"""The effects in a preview's event that are not among its changes (target)."""

from typing import Dict, Iterable, List, Tuple

from remote_runtime.effects import (
    AccountEffect,
    Effect,
    PackageEffect,
    PathEffect,
    UnitEffect,
    UnknownEffect,
    everything,
)
from remote_runtime.uncertainty import UNKNOWN

ABSENT, STOPPED, RESTARTED = "absent", "stopped", "restarted"
MAX_EFFECTS = 200  # effects of one event

Key = Tuple[str, str]


def losses(effects: Iterable[Effect]) -> List[Dict[str, str]]:
    """Return the things that a resource's effects remove or interrupt: each has a ``kind``
    (package, user, group, path, unit), a ``name`` and a ``state``; the kind ``unknown`` has the
    reason as its name.

    A path is only listed if it is removed with an account. Unknown effects are only listed for
    packages and for actions without declared effects: for all others, the changes and the
    prediction of the event show them. At most ``MAX_EFFECTS``; one entry of kind ``unknown`` counts
    the rest.
    """
    effects = list(effects)
    packages = any(isinstance(one, PackageEffect) for one in effects)
    accounts = any(isinstance(one, AccountEffect) and not one.present for one in effects)
    result: Dict[Key, str] = {}
    for one in effects:
        if isinstance(one, PackageEffect) and not one.version:
            result["package", one.name] = ABSENT
        elif isinstance(one, AccountEffect) and not one.present:
            result[one.kind, one.name] = ABSENT
        elif isinstance(one, PathEffect) and one.kind == ABSENT and accounts:
            result["path", one.path] = ABSENT
        elif isinstance(one, UnitEffect):
            _of_unit(one, result)
        elif isinstance(one, UnknownEffect) and _is_reported(one, packages):
            result[UNKNOWN, one.uncertainty.reason] = UNKNOWN
    entries = [
        {"kind": kind, "name": name, "state": state} for (kind, name), state in result.items()
    ]
    if len(entries) > MAX_EFFECTS:
        remaining_count = len(entries) - MAX_EFFECTS
        entries[MAX_EFFECTS:] = [
            {"kind": UNKNOWN, "name": "%d more effects" % remaining_count, "state": UNKNOWN}
        ]
    return entries


def _is_reported(effect: UnknownEffect, packages: bool) -> bool:
    """Return whether neither the changes nor the prediction report it; a command is represented by
    its text.
    """
    if packages:
        return effect.uncertainty.level == UNKNOWN
    return effect.covers is everything and not effect.text


def _of_unit(effect: UnitEffect, states: Dict[Key, str]) -> None:
    """Report a unit that is stopped and started as restarted."""
    key = ("unit", effect.name)
    if effect.ended:
        states[key] = RESTARTED if effect.active else STOPPED
    elif effect.active and states.get(key) == STOPPED:
        states[key] = RESTARTED
