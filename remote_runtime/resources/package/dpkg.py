"""What dpkg's database says (target)."""

import os
from typing import Dict, List, NamedTuple, Tuple

from remote_runtime.resources.package.provider import Installed

# Without names: dpkg-query reads its whole database either way, and one name that it finds illegal
# would cost the answer for all others.
QUERY = (
    "dpkg-query",
    "-W",
    "-f=${Package} ${Version} ${Architecture} ${db:Status-Status} ${db:Status-Want}\\n",
)
DATABASE = "/var/lib/dpkg/status"
NATIVE = ("native", "all")  # what apt takes for the host's own architecture


def is_used(database: str = DATABASE) -> bool:
    """Whether the host is made of dpkg's packages; a host of RPM's may have dpkg as a mere tool."""
    return os.path.isfile(database) and os.path.getsize(database) > 0


class Record(NamedTuple):
    """One package of one architecture."""

    version: str
    architecture: str
    status: str
    want: str


class Database(object):
    """Every package that dpkg knows on this host, as printed by ``QUERY``."""

    def __init__(self, printed: str) -> None:
        # Of so many packages only a few are asked for: what is said of the others stays text.
        self._told: Dict[str, List[str]] = {}
        for line in printed.splitlines():
            name, _, rest = line.partition(" ")
            self._told.setdefault(name, []).append(rest)
        own = self._records("dpkg")
        self.native = own[0].architecture if own else ""

    def _records(self, package: str) -> List[Record]:
        told = [rest.split(" ") for rest in self._told.get(package, ())]
        return [Record(*fields) for fields in told if len(fields) == len(Record._fields)]

    def find(self, name: str) -> Installed:
        """What is installed of ``NAME`` or ``NAME:ARCHITECTURE``."""
        found = Installed()
        package, architecture = split_name(name)
        for record in self._records(package):
            if not self._fits(record.architecture, architecture):
                continue
            held = record.want == "hold"
            if record.status == "installed":
                return Installed(
                    record.version,
                    record.status,
                    held=held,
                    others=(),
                    architecture=record.architecture,
                )
            found = Installed("", record.status, held)
        return found

    def _fits(self, actual: str, wanted: str) -> bool:
        if wanted == "any" or actual == "all":
            return True
        return actual == (wanted if wanted not in ("", *NATIVE) else self.native or actual)


def plain(name: str, native: str) -> str:
    """A package's name as apt and dpkg print it; ``native`` is the host's own architecture."""
    package, architecture = split_name(name)
    return package if architecture in (native, *NATIVE) else name


def split_name(name: str) -> Tuple[str, str]:
    """Cut ``libc6:i386`` into package and architecture, which is "" where none is named."""
    package, _, architecture = name.partition(":")
    return package, architecture
