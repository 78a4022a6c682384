"""Reads RPM's database (target)."""

import os
from typing import Dict, List, NamedTuple, Sequence, Tuple

from remote_runtime.packages.package_info import Installed

# The documents' fields; tabs, because "package nginx is not installed" has five words as well.
FORMAT = "%{NAME}\\t%|EPOCH?{%{EPOCH}}:{0}|\\t%{VERSION}\\t%{RELEASE}\\t%{ARCH}\\n"
QUERY = ("rpm", "-q", "--queryformat", FORMAT, "--")
_FIELDS = 5
_ANY = "noarch"


class Record(NamedTuple):
    """One version of a package for one architecture; ``evr`` always includes the epoch."""

    evr: str
    architecture: str
    source: str = ""


class Records(object):
    """Packages by name, from the output of a query: five fields, optionally followed by a
    repository.
    """

    def __init__(self, printed: str) -> None:
        self._records: Dict[str, List[Record]] = {}
        for line in printed.splitlines():
            fields = line.split("\t")
            if len(fields) >= _FIELDS:
                name, epoch, version, release, architecture = fields[:_FIELDS]
                record = Record(
                    "%s:%s-%s" % (epoch, version, release), architecture, "".join(fields[_FIELDS:])
                )
                self._records.setdefault(name, []).append(record)

    def names(self) -> List[str]:
        """The names of all packages, sorted."""
        return sorted(self._records)

    def find(self, name: str) -> Sequence[Record]:
        """Return the records of ``NAME`` or ``NAME.ARCHITECTURE``.

        Without an architecture, the host's own comes before others.
        """
        package, architecture = self.split(name)
        records = self._records.get(package, [])
        if architecture:
            return [record for record in records if record.architecture == architecture]
        own = [record for record in records if record.architecture in (_ANY, os.uname().machine)]
        return own or records

    def split(self, name: str) -> Tuple[str, str]:
        """Split ``glibc.i686`` into package and architecture; a name may itself contain dots."""
        package, _, architecture = name.rpartition(".")
        if name in self._records or package not in self._records:
            return name, ""
        return package, architecture


def installed(records: Sequence[Record]) -> Installed:
    """Return the installed version; with several versions side by side, as for a kernel, the newest
    counts.
    """
    from functools import cmp_to_key

    from remote_runtime.packages.versions import rpm as rpm_version

    if not records:
        return Installed()
    newest, *others = records
    if others:
        key = cmp_to_key(rpm_version.compare)
        newest, *others = sorted(records, key=lambda record: key(record.evr), reverse=True)
    beside = [record.evr for record in others]
    return Installed(
        newest.evr, "installed", held=False, others=beside, architecture=newest.architecture
    )


def version_text(evr: str) -> str:
    """Return a version in the form of events: without its epoch."""
    epoch, colon, rest = evr.partition(":")
    return rest if colon and epoch.isdigit() else evr


def change_versions(before: str, after: str) -> Tuple[str, str]:
    """Return two versions in the form of change records: with their epochs if these differ."""
    epochs = [evr.partition(":")[0] for evr in (before, after) if ":" in evr]
    if len(set(epochs)) == 2 and all(epoch.isdigit() for epoch in epochs):
        return before, after
    return version_text(before), version_text(after)
