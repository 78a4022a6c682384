"""Chooses among the packages in dnf's lists (target)."""

from functools import cmp_to_key
from typing import Callable, Dict, List, Sequence

from remote_runtime.packages.package_info import Available
from remote_runtime.packages.rpm.database import Record, Records
from remote_runtime.packages.versions import rpm as rpm_version

_SOURCE = "src"


def choose(
    records: Records, names: Sequence[str], priority: Callable[[str], int]
) -> Dict[str, Available]:
    """Return the installable versions under each name; ``priority`` returns a repository's priority
    by its ID."""
    return {name: _available(records.find(name), priority) for name in names}


def _available(records: Sequence[Record], priority: Callable[[str], int]) -> Available:
    binaries = [record for record in records if record.architecture != _SOURCE]
    if not binaries:
        return Available()
    # dnf takes the newest version of the repositories that come first, not the newest of all.
    first = min(priority(record.source) for record in binaries)
    preferred = [record.evr for record in binaries if priority(record.source) == first]
    versions = _newest_first([record.evr for record in binaries])
    return Available(True, _newest_first(preferred)[0], versions)


def _newest_first(versions: Sequence[str]) -> List[str]:
    return sorted(set(versions), key=cmp_to_key(rpm_version.compare), reverse=True)
