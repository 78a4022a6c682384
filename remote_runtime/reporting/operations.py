"""The operations that the overlay recorded for one resource of a preview (target)."""

import itertools
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from remote_runtime.effects import (
    AccountEffect,
    Effect,
    KernelEffect,
    MountEffect,
    PackageEffect,
    PathEffect,
    UnitEffect,
)
from remote_runtime.errors import ResourceError

MAX_OPERATIONS = 100  # operations of one event
VERSION = 1  # of the compared data: part of each digest
ABSENT, PRESENT = "absent", "present"

Part = Tuple[Any, ...]


def operations(effects: Sequence[Effect]) -> List[Dict[str, str]]:
    """Return the operations of a push, for people to read. Each has a ``kind`` (package, user,
    group, path, mount, unit), a ``name`` and the ``state`` that it would have, in the order of the
    run.

    Contents, owners and modes are not included, because changes show them. Paths that follow from a
    package or a unit are not listed. At most ``MAX_OPERATIONS``.
    """
    found = dict.fromkeys(key for one in _own(effects) for key in _told(one))
    return [
        {"kind": kind, "name": name, "state": state}
        for kind, name, state in itertools.islice(found, MAX_OPERATIONS)
    ]


def compared(effects: Sequence[Effect]) -> List[Part]:
    """Return the operations with all values that a push would set, for the digests of a plan file.
    Each property is one part, so a part that somebody has already performed may be missing later.

    The parts may be secret. Numbers of accounts are omitted, because the host chooses them and
    changes name those that the manifest sets. Paths that follow from an account are also omitted.
    """
    return list(dict.fromkeys(part for one in _own(effects) for part in _parts(one)))


def _own(effects: Sequence[Effect]) -> Iterator[Effect]:
    """Omit the paths of packages and units, which version and state represent."""
    follow = any(isinstance(one, (PackageEffect, UnitEffect)) for one in effects)
    for one in effects:
        if not (follow and isinstance(one, (PathEffect, MountEffect))):
            yield one


def _told(effect: Effect) -> Iterator[Tuple[str, str, str]]:
    if isinstance(effect, PathEffect):
        yield "path", effect.path, _state_of(effect)
    elif isinstance(effect, MountEffect):
        if effect.reloads:
            return
        yield "mount", effect.path, PRESENT if effect.present else ABSENT
    elif isinstance(effect, KernelEffect):
        yield "path", effect.path, "something" if effect.present else ABSENT
    elif isinstance(effect, AccountEffect):
        yield effect.kind, effect.name, PRESENT if effect.present else ABSENT
    elif isinstance(effect, PackageEffect):
        yield "package", effect.name, effect.version or ABSENT
    elif isinstance(effect, UnitEffect):
        for state in _states_of(effect):
            yield "unit", effect.name, state


def _parts(effect: Effect) -> Iterator[Part]:
    if isinstance(effect, PathEffect):
        if not effect.once:
            yield from _parts_of_path(effect)
        return
    for part in _told(effect):
        yield part
    if isinstance(effect, MountEffect) and effect.present:
        yield ("mount",) + tuple(effect)[:10]


def _parts_of_path(effect: PathEffect) -> Iterator[Part]:
    """Keep the mode only if each run sets it; changes name owner and group."""
    path = effect.path
    yield "path", path, effect.kind, effect.target
    content = _hash_of(effect)
    if content:
        yield "path", path, "content", content
    if effect.firm and effect.mode is not None:
        yield "path", path, "mode", effect.mode


def _hash_of(effect: PathEffect) -> str:
    """The hash of the content that a path would get; "" if it does not change, or only the push
    knows it.
    """
    try:
        return effect.content.sha256 if effect.content is not None else ""
    except ResourceError:
        return ""


def _state_of(effect: PathEffect) -> str:
    """The state of a path; a file with unchanged content only has its attributes set."""
    if effect.kind == "file" and effect.content is None:
        return "attributes"
    return effect.kind


def _states_of(effect: UnitEffect) -> Iterator[str]:
    """The states of a unit; one that is not running is not stopped."""
    if effect.ended:
        yield "restarted" if effect.active else "stopped"
    elif effect.reloaded:
        yield "reloaded"
    elif effect.active:
        yield "started"
    for value, states in (
        (effect.enabled, ("disabled", "enabled")),
        (effect.masked, ("unmasked", "masked")),
    ):
        if value is not None:
            yield states[value]
