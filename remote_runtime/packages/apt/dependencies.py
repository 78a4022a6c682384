"""Which packages need which, as the lists say (target)."""

import re
from typing import Callable, Dict, List, Optional, Sequence, Set

from remote_runtime.packages import batch
from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.packages.values import Operation, VersionChange

_FIELDS = ("Pre-Depends", "Depends", "Recommends")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def needs(shown: str) -> Dict[str, List[str]]:
    """The packages that each needs or recommends, by name, of those that ``apt-cache show`` printed
    about. Of alternatives all count; a name that others provide stands for those.
    """
    stanzas = [stanza for stanza in apt_simulation.stanzas(shown) if stanza]
    providers: Dict[str, List[str]] = {}
    for stanza in stanzas:
        name = apt_simulation.field(stanza, "Package")
        for provided in [name, *_names(apt_simulation.field(stanza, "Provides"))]:
            providers.setdefault(provided, []).append(name)
    found: Dict[str, List[str]] = {}
    for stanza in stanzas:
        own = found.setdefault(apt_simulation.field(stanza, "Package"), [])
        for field in _FIELDS:
            for wanted in _names(apt_simulation.field(stanza, field)):
                own += providers.get(wanted, [])
    return found


def shares(
    operations: Sequence[Operation],
    changes: Sequence[VersionChange],
    show: Callable[[Dict[str, str]], str],
    installed: Callable[[], str],
) -> Optional[Sequence[Sequence[VersionChange]]]:
    """What each operation of a simulated transaction changes; None where it is not sure to do what
    they would do one after the other, as one that removes what nobody names.

    ``show`` gives what the lists say of these versions, ``installed`` dpkg's text about packages.
    """
    named = {operation.name.partition(":")[0] for operation in operations}
    upcoming = {change.name: change.after for change in changes if change.after}
    going = {change.name for change in changes if not change.after}
    if len(named) != len(operations):
        return None
    if operations[0].removal:
        if going != named or upcoming:
            return None
        known = [s for s in apt_simulation.stanzas(installed()) if _is_of(s, named)]
        if len(known) != len(named):
            return None
        return batch.shares(operations, changes, _taken(known))
    if going or not named <= set(upcoming):
        return None
    return batch.shares(operations, changes, needs(show(upcoming)))


def _is_of(stanza: str, names: Set[str]) -> bool:
    return apt_simulation.field(stanza, "Package") in names


def _taken(stanzas: Sequence[str]) -> Dict[str, List[str]]:
    """The packages that go with each, by name: those that need it."""
    found: Dict[str, List[str]] = {}
    for name, needed in sorted(needs("\n\n".join(stanzas)).items()):
        for other in needed:
            found.setdefault(other, []).append(name)
    return found


def _names(text: str) -> List[str]:
    parts = [part.strip() for part in re.split("[,|]", text)]
    return [found.group() for found in map(_NAME.match, parts) if found]
