"""Differences that apply to units of a user's manager (target; in previews only)."""

from typing import List, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Covers, Effect, UnitEffect, UnknownEffect
from remote_runtime.uncertainty import UNKNOWN, Uncertainty
from remote_runtime.units.unit_files import Definition, Places

_DIRECTORIES = (
    "RuntimeDirectory", "StateDirectory", "CacheDirectory", "LogsDirectory",
    "ConfigurationDirectory",
)  # fmt: skip
_PRIVILEGED = (
    "User", "Group", "SupplementaryGroups", "DynamicUser", "AmbientCapabilities", "Root", "Bind",
    "ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths", "TemporaryFileSystem", "Private",
    "Protect", "MountFlags", "MountImages", "ExtensionImages", "NetworkNamespacePath", "PAMName",
    "Nice", "CPUScheduling", "IOScheduling", "OOMScoreAdjust", "Limit", "StandardOutput",
    "StandardError", "StandardInput", "LoadCredential",
)  # fmt: skip
_HARMLESS = ("null", "journal", "inherit", "syslog", "kmsg")


def require_plain(unit: Definition) -> None:
    """``Unknowable`` for a service with a setting that a user's manager may not be allowed
    to use.
    """
    for key in _PRIVILEGED:
        for name, value in unit.text.settings("Service", key):
            nicer = name == "Nice" and value.isdigit()  # than the manager itself
            if not nicer and value not in _HARMLESS:
                text = "only starting %s shows whether %s may use %s="
                raise Unknowable(text % (unit.name, unit.places.user, name))


def directories(unit: Definition) -> List[Effect]:
    """The directories that the manager creates for a service; their location depends on its
    version.
    """
    if not any(unit.text.all("Service", key) for key in _DIRECTORIES):
        return []
    places = tuple(unit.places.specifiers[letter] + "/" for letter in "ht")
    uncertainty = Uncertainty(UNKNOWN, "%s creates directories when it starts" % unit.name)

    def covers(kind: str, value: str, present: bool) -> bool:
        return kind in ("path", "attributes") and value.startswith(places)

    return [UnknownEffect(uncertainty, covers)]


def named(effects: Sequence[Effect], places: Places) -> List[Effect]:
    """The same effects with the names that this manager's units have outside it."""
    return [_named(effect, places) for effect in effects]


def unnamed(effects: Sequence[Effect], places: Places) -> List[Effect]:
    """The same effects with the names that units have within their manager."""
    prefix = len(places.full(""))
    return [
        effect._replace(name=effect.name[prefix:]) if isinstance(effect, UnitEffect) else effect
        for effect in effects
    ]


def _named(effect: Effect, places: Places) -> Effect:
    if isinstance(effect, UnitEffect):
        return effect._replace(name=places.full(effect.name))
    if isinstance(effect, UnknownEffect):
        return effect._replace(covers=_covering(effect.covers, places.full("")))
    return effect


def _covering(covers: Covers, prefix: str) -> Covers:
    def of_the_user(kind: str, value: str, present: bool) -> bool:
        if kind != "unit":
            return covers(kind, value, present)
        return value.startswith(prefix) and covers(kind, value[len(prefix) :], present)

    return of_the_user
