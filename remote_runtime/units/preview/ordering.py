"""Detects units that need each other and could never start (target; in previews only)."""

from typing import Dict, List, Set

from remote_runtime.units.preview.planned_units import PlannedUnits
from remote_runtime.units.unit_files import Definition

_NEEDED = ("Requires", "BindsTo")
_LIMIT = 200  # units that come along


def cycle(units: PlannedUnits, unit: Definition) -> List[str]:
    """The units that wait for each other, with the first at both ends; [] if an order exists.

    Only requirements that a unit cannot do without are considered, because systemd breaks a cycle
    by dropping the others.
    """
    upcoming = _upcoming(units, unit)
    predecessors: Dict[str, Set[str]] = {name: set() for name in upcoming}
    for name, one in upcoming.items():
        predecessors[name].update(o for o in one.text.words("Unit", "After") if o in upcoming)
        for other in one.text.words("Unit", "Before"):
            if other in upcoming:
                predecessors[other].add(name)
    return _around(predecessors, unit.name)


def _upcoming(units: PlannedUnits, unit: Definition) -> Dict[str, Definition]:
    """Return the unit and those that start with it because others require them."""
    by_name = {unit.name: unit}
    waiting = [unit]
    while waiting and len(by_name) < _LIMIT:
        one = waiting.pop()
        for other in [name for key in _NEEDED for name in one.text.words("Unit", key)]:
            next_one = units.definition(other)
            if next_one.path and next_one.name not in by_name and not units.status(other).running:
                by_name[next_one.name] = next_one
                waiting.append(next_one)
    return by_name


def _around(predecessors: Dict[str, Set[str]], first: str) -> List[str]:
    """A path back to a name on the way, starting with ``first`` or with any other name."""
    done: Set[str] = set()
    for start in [first, *sorted(predecessors)]:
        way: List[str] = []
        left = [iter([start])]
        while left:
            name = next(left[-1], None)
            if name is None:
                left.pop()
                done.update(way[-1:])
                del way[-1:]
            elif name in way:
                return [*way[way.index(name) :], name]
            elif name not in done:
                way.append(name)
                left.append(iter(sorted(predecessors[name] - {name})))
    return []
