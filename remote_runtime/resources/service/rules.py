"""The rules for the name of a service, and mutually exclusive properties (both sides)."""

import re
from typing import Dict, List, Sequence, Tuple

from remote_runtime.base import Properties
from remote_runtime.units import unit_settings
from remote_runtime.units.managed_unit_files import split
from remote_runtime.units.unit import full_name

_NAME = re.compile(r"[A-Za-z0-9._+:~@\\-]+\Z")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?\Z")
_TEMPLATE = re.compile(r"[^@]*@(\.[a-z]+)?\Z")
_ROOTS = ("-.mount", "-.slice")
_SWITCHES = ("enable", "masked")
_MAX_LENGTH = 255  # as in systemd, with the suffix


def problems(name: str, properties: Properties) -> List[Tuple[str, str]]:
    """Return the problems of the name, as (property, message)."""
    user, unit = split(name, {})
    if "/" in name and not _USER.match(user):
        return [("name", "%r is neither a service nor USER/UNIT" % name)]
    problems = _unit_problems(unit)
    given = properties.get("user")
    if user and given and given != user:
        problems.append(("user", "the name says that the unit is one of %s: omit `user`" % user))
    return problems


def _unit_problems(name: str) -> List[Tuple[str, str]]:
    if not _NAME.match(name):
        return [
            (
                "name",
                "%r is not a service name: use only letters, digits and . _ + : ~ @ - \\" % name,
            )
        ]
    if len(full_name(name)) > _MAX_LENGTH:
        return [("name", "a unit name has at most %d characters" % _MAX_LENGTH)]
    if name.startswith(("-", "@")) and name not in _ROOTS:
        return [("name", "%r starts with %r; service names must not" % (name, name[0]))]
    if _TEMPLATE.match(name):
        return [("name", "%r is a template; use an instance such as app@1" % name)]
    return []


def contradictions(properties: Properties) -> List[Tuple[str, str]]:
    """Values that cannot all be achieved, as (property, message)."""
    if properties.get("masked") is not True:
        return []
    contradictions = []
    if properties.get("unit") is not None:
        contradictions.append(("masked", "a mask replaces the unit file: omit `unit`"))
    if properties.get("ensure", "running") != "stopped":
        contradictions.append(("masked", "a masked service cannot run: add `ensure: stopped`"))
    if properties.get("enable") is True:
        contradictions.append(
            ("masked", "a masked service cannot start at boot: omit `enable: true`")
        )
    return contradictions


def conflicts(resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
    """Two resources for one unit, such as app and app.service, with different desired states.

    See ``StateType.conflicts``.
    """
    first: Dict[Tuple[str, str], int] = {}
    conflicts = []
    for at, (name, properties) in enumerate(resources):
        user, own = split(name, properties)
        unit = full_name(own)
        other = first.setdefault((unit, user), at)
        if other != at and _differ(resources[other][1], properties):
            conflicts.append((other, at, unit))
    return conflicts


def _differ(one: Properties, other: Properties) -> bool:
    if one.get("ensure", "running") != other.get("ensure", "running"):
        return True
    return any(key in one and key in other and one[key] != other[key] for key in _SWITCHES)


def texts(properties: Properties) -> List[Tuple[str, str]]:
    """Return text that systemd would not accept in a unit file or in settings, as (property,
    message).
    """
    result = []
    unit = properties.get("unit")
    if isinstance(unit, str):
        if "\0" in unit:
            result.append(("unit", "a unit file cannot contain NUL"))
        elif "{{" not in unit and not re.search(r"^\s*\[[^\]\n]+\]\s*$", unit, re.MULTILINE):
            result.append(("unit", "a unit file needs a section such as [Service]"))
    settings = properties.get("settings")
    if isinstance(settings, dict):
        result += [("settings", message) for message in unit_settings.problems(settings)]
    return result
