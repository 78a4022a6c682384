"""The directories that systemd creates and removes with a service (target; in previews only)."""

import os
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Tuple

from remote_runtime.effects import Effect, PathEffect, UnknownEffect
from remote_runtime.system.paths import is_within
from remote_runtime.uncertainty import UNKNOWN, Uncertainty
from remote_runtime.units.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context

_CONFIGURATION, _RUNTIME = "ConfigurationDirectory", "RuntimeDirectory"
_DIRECTORIES = (
    (_RUNTIME, "/run"),
    ("StateDirectory", "/var/lib"),
    ("CacheDirectory", "/var/cache"),
    ("LogsDirectory", "/var/log"),
    (_CONFIGURATION, "/etc"),
)
_PRIVATE = "private"
_YES = ("yes", "true", "1", "on")


class _Own(NamedTuple):
    """One directory: its setting, its path, and its other names."""

    key: str
    base: str
    path: str
    aliases: Tuple[str, ...]


def _named(unit: Definition) -> List[_Own]:
    result: List[_Own] = []
    for key, base in () if unit.places.user else _DIRECTORIES:
        for word in unit.text.words("Service", key):
            relative, *others = word.split(":")
            aliases = tuple(os.path.join(base, other) for other in others if other)
            result.append(_Own(key, base, os.path.join(base, relative), aliases))
    return result


def named_directories(unit: Definition) -> List[str]:
    """The directories that systemd manages for a service, with the targets of links."""
    own = _named(unit)
    hidden = [_private(each) for each in own if _is_private(unit, each.key)]
    return [each.path for each in own] + hidden


def linked_directories(unit: Definition, context: "Context") -> List[str]:
    """The directories that systemd does not set up because a symbolic link is in their place, or a
    dangling one is on the way. Links to directories that systemd keeps for a dynamic user are not
    included.
    """
    result = []
    for own in _named(unit):
        private = _is_private(unit, own.key)
        link = context.files.link(own.path)
        elsewhere = bool(link) and not (private and _leads_to(own.path, link, _private(own)))
        if elsewhere and (own.key != _CONFIGURATION or not context.files.is_directory(own.path)):
            result.append(own.path)
        way = os.path.dirname(_private(own) if private else own.path)
        while way not in (own.base, "/"):
            if context.files.link(way) and not context.files.is_directory(way):
                result.append(way)
            way = os.path.dirname(way)
    return result


def _is_inside(own: _Own, other: _Own) -> bool:
    """Return whether a directory is inside another one of the same setting, whose link leads to
    it.
    """
    return own.key == other.key and own.path != other.path and is_within(own.path, other.path)


def _leads_to(path: str, link: str, target: str) -> bool:
    return os.path.normpath(os.path.join(os.path.dirname(path), link)) == target


def made_directories(unit: Definition, context: "Context") -> List[PathEffect]:
    """Return the effects of ``own_directories`` on paths."""
    return [made for made in own_directories(unit, context) if isinstance(made, PathEffect)]


def own_directories(unit: Definition, context: "Context") -> List[Effect]:
    """The directories that systemd creates before it starts a service, and the links to them."""
    effects: List[Effect] = []
    made: List[str] = []
    linked = linked_directories(unit, context)
    for own in _named(unit):
        private = _is_private(unit, own.key)
        if any(is_within(own.path, link) for link in linked):
            continue  # the service fails before it is begun
        if private and not _is_free(context, own.path):
            effects.append(PathEffect(own.path, "something"))  # what is there is moved
            continue
        real = _private(own) if private else own.path
        if private:
            hidden = os.path.join(own.base, _PRIVATE)
            effects.append(PathEffect(hidden, "directory", mode=0o700, uid=0, gid=0))
            made.append(hidden)
        for above in _missing_above(context, own, real, made):
            effects.append(PathEffect(above, "directory", mode=0o755, uid=0, gid=0))
        there = context.files.is_directory(real)
        if not (there and own.key == _CONFIGURATION):  # an existing one is not changed
            effects += _directory(unit, context, own, real)
        made.append(real)
        if private and not any(_is_inside(own, other) for other in _named(unit)):
            for above in _missing_above(context, own, own.path, made):
                effects.append(PathEffect(above, "directory", mode=0o755, uid=0, gid=0))
            effects.append(_link(own.path, real))
        effects += [_link(alias, own.path) for alias in own.aliases if not private]
    return effects


def _directory(unit: Definition, context: "Context", own: _Own, real: str) -> List[Effect]:
    """The directory itself; its owner is unknown if systemd allocates the user of the service."""
    mode = parsed_mode(unit.text.last("Service", own.key + "Mode"), 0o755)
    uid, gid, known = _owner(unit, context)
    effects: List[Effect] = [PathEffect(real, "directory", mode=mode, uid=uid, gid=gid)]
    if not known:
        reason = "the owner of %s is not known until systemd has assigned a user to %s" % (
            real,
            unit.name,
        )

        def covers(kind: str, value: str, present: bool) -> bool:
            return kind == "attributes" and value == real

        effects.append(UnknownEffect(Uncertainty(UNKNOWN, reason), covers))
    return effects


def given_away(
    unit: Definition, context: "Context"
) -> List[Tuple[str, Optional[int], Optional[int]]]:
    """The existing directories that get a new owner, with all of their contents, when the service
    starts; the owner is None if it is not known.
    """
    result: List[Tuple[str, Optional[int], Optional[int]]] = []
    for own in _named(unit):
        real = _private(own) if _is_private(unit, own.key) else own.path
        if own.key == _CONFIGURATION or not context.files.is_directory(real):
            continue
        status = context.files.status(real, follow=True)
        uid, gid, known = _owner(unit, context)
        if status is not None and not (known and (status.uid, status.gid) == (uid, gid)):
            result.append((real, uid, gid) if known else (real, None, None))
    return result


def runtime_directories(unit: Definition, *, restart: bool) -> List[PathEffect]:
    """The directories that systemd removes when it stops or restarts a service."""
    if _preserved(unit) in (("restart", *_YES) if restart else _YES):
        return []
    own = [each for each in _named(unit) if each.key == _RUNTIME]
    return [PathEffect(path, "absent") for each in own for path in (each.path, *each.aliases)]


def _preserved(unit: Definition) -> str:
    return unit.text.last("Service", "RuntimeDirectoryPreserve")


def _is_private(unit: Definition, key: str) -> bool:
    """Return whether the directory is inside one that only root may enter, with a link to it."""
    if not unit.text.flag("Service", "DynamicUser") or key == _CONFIGURATION:
        return False
    return key != _RUNTIME or _preserved(unit) in ("restart", *_YES)


def _private(own: _Own) -> str:
    return os.path.join(own.base, _PRIVATE, os.path.relpath(own.path, own.base))


def _is_free(context: "Context", path: str) -> bool:
    """Return whether nothing except a link exists there."""
    return bool(context.files.link(path)) or not context.files.is_there(path)


def _link(path: str, target: str) -> PathEffect:
    relative = os.path.relpath(target, os.path.dirname(path))
    return PathEffect(path, "symlink", target=relative)


def _missing_above(context: "Context", own: _Own, path: str, made: List[str]) -> List[str]:
    """The directories above one that are created together with it, outermost first."""
    missing: List[str] = []
    above = os.path.dirname(path)
    while above not in (own.base, "/") and above not in made:
        if not context.files.is_directory(above):
            missing.insert(0, above)
        above = os.path.dirname(above)
    made += missing
    return missing


def parsed_mode(text: str, default: int) -> int:
    """The number of a mode; an invalid mode is omitted, as systemd does."""
    octal = len(text) <= 5 and bool(text) and set(text) <= set("01234567")
    return int(text, 8) if octal else default


def _owner(unit: Definition, context: "Context") -> Tuple[Optional[int], Optional[int], bool]:
    """The user and group of the directories, and whether they are known; an existing user is used,
    even if systemd would search for one.
    """
    user, group = (unit.text.last("Service", key) for key in ("User", "Group"))
    dynamic = unit.text.flag("Service", "DynamicUser")
    name = user or (unit.name.rpartition(".")[0].partition("@")[0] if dynamic else "")
    uid = context.accounts.number("user", name) if name else 0
    if dynamic and uid is None:
        return 0, 0, False
    if group:
        return uid, context.accounts.number("group", group), True
    return uid, context.accounts.identity(name).gid if name else 0, True
