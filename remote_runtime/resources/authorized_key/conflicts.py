"""Resources that undo each other's keys on every run (controller)."""

from typing import Dict, List, NamedTuple, Sequence, Tuple

from remote_runtime.plan_item import Properties
from remote_runtime.resources.authorized_key.key_list import listed
from remote_runtime.text.authorized_keys import Key

Identity = Tuple[str, bytes]


class _Use(NamedTuple):
    """The use of one key by one resource."""

    place: int
    present: bool
    lines: List[Key]


def find(resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
    """See ``StateType.conflicts``."""
    files: Dict[Tuple[str, str], List[int]] = {}
    for at, (name, properties) in enumerate(resources):
        if "key" in properties:  # that of a source is not read here
            user = str(properties.get("user") or name)
            files.setdefault((user, str(properties.get("path") or "")), []).append(at)
    conflicts = []
    for (user, _), places in files.items():
        if len(places) > 1:
            conflicts += _of_file(user, places, resources)
    return conflicts


def _of_file(
    user: str, places: Sequence[int], resources: Sequence[Tuple[str, Properties]]
) -> List[Tuple[int, int, str]]:
    uses: Dict[Identity, _Use] = {}
    conflicts = []
    exclusive: List[Tuple[int, List[Identity]]] = []
    for at in places:
        properties = resources[at][1]
        present = properties.get("ensure") != "absent"
        groups: Dict[Identity, List[Key]] = {}
        for key in listed(properties).keys:
            groups.setdefault(key.identity, []).append(key)
        if present and properties.get("exclusive"):
            exclusive.append((at, list(groups)))
        for identity, lines in groups.items():
            use = _Use(at, present, lines)
            other = uses.setdefault(identity, use)
            if other is not use and _differ(other, use):
                what = "the key %s of %s" % (lines[0].fingerprint, user)
                conflicts.append((other.place, at, what))
    for at, own in exclusive:
        for identity, use in uses.items():
            if use.present and use.place != at and identity not in own:
                conflicts.append((at, use.place, "all keys of %s" % user))
    return conflicts


def _differ(one: _Use, other: _Use) -> bool:
    if one.present != other.present:
        return True
    if not one.present:
        return False
    options = [
        {key.options for key in use.lines if key.options is not None} for use in (one, other)
    ]
    comments = [{key.comment for key in use.lines if key.comment} for use in (one, other)]
    return any(a and b and a != b for a, b in (options, comments))
