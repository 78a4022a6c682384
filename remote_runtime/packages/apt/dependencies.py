"""The dependencies between packages according to the lists (target)."""

import re
from typing import Callable, Dict, List, Optional, Sequence, Set

from remote_runtime.packages import batch
from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.packages.package_info import Operation, VersionChange

_FIELDS = ("Pre-Depends", "Depends", "Recommends")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def needs(show_output: str) -> Dict[str, List[str]]:
    """Return the dependencies and recommendations of each package in the output of ``apt-cache
    show``, by name. All alternatives count; a virtual name means the packages that provide it.
    """
    stanzas = [stanza for stanza in apt_simulation.stanzas(show_output) if stanza]
    providers: Dict[str, List[str]] = {}
    for stanza in stanzas:
        name = apt_simulation.field(stanza, "Package")
        for provided in [name, *_names(apt_simulation.field(stanza, "Provides"))]:
            providers.setdefault(provided, []).append(name)
    needed_names: Dict[str, List[str]] = {}
    for stanza in stanzas:
        own = needed_names.setdefault(apt_simulation.field(stanza, "Package"), [])
        for field in _FIELDS:
            for wanted in _names(apt_simulation.field(stanza, field)):
                own += providers.get(wanted, [])
    return needed_names


def shares(
    operations: Sequence[Operation],
    changes: Sequence[VersionChange],
    show: Callable[[Dict[str, str]], str],
    installed: Callable[[], str],
) -> Optional[Sequence[Sequence[VersionChange]]]:
    """Return the changes of each operation of a simulated transaction.

    None if single transactions may have other results, such as when the transaction removes a
    package that no operation names. ``show`` returns the lists' text about these versions,
    ``installed`` dpkg's text about packages.
    """
    operation_names = {operation.name.partition(":")[0] for operation in operations}
    added = {change.name: change.after for change in changes if change.after}
    removed = {change.name for change in changes if not change.after}
    if len(operation_names) != len(operations):
        return None
    if operations[0].removal:
        if removed != operation_names or added:
            return None
        known = [s for s in apt_simulation.stanzas(installed()) if _is_of(s, operation_names)]
        if len(known) != len(operation_names):
            return None
        return batch.shares(operations, changes, _taken(known))
    if removed or not operation_names <= set(added):
        return None
    return batch.shares(operations, changes, needs(show(added)))


def _is_of(stanza: str, names: Set[str]) -> bool:
    return apt_simulation.field(stanza, "Package") in names


def _taken(stanzas: Sequence[str]) -> Dict[str, List[str]]:
    """Return the packages that are removed together with each one because they need it, by name."""
    dependents: Dict[str, List[str]] = {}
    for name, needed in sorted(needs("\n\n".join(stanzas)).items()):
        for other in needed:
            dependents.setdefault(other, []).append(name)
    return dependents


def _names(text: str) -> List[str]:
    parts = [part.strip() for part in re.split("[,|]", text)]
    return [match.group() for match in map(_NAME.match, parts) if match]
