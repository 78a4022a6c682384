"""Reads dpkg's database (target).

The database is one text, which ``dpkg-query`` reads completely; reading it here usually takes a
fifth of that time. If dpkg has updates outside the text, or the text is not in dpkg's own format,
dpkg-query is used.
"""

import os
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.packages.package_info import Installed
from remote_runtime.system.paths import content_of

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands

# Without names: dpkg-query reads its whole database either way, and one name that it finds illegal
# would cost the answer for all others.
QUERY = (
    "dpkg-query",
    "-W",
    "-f=${Package} ${Version} ${Architecture} ${db:Status-Status} ${db:Status-Want}\\n",
)
_HOLD = "hold "
SELECTIONS = ("dpkg-query", "-W", "-f=${db:Status-Want} ${Package}\\n", "*")
ADMIN = "/var/lib/dpkg"
DATABASE = ADMIN + "/status"
NATIVE = ("native", "all")  # what apt takes for the host's own architecture


def is_used(database: str = DATABASE) -> bool:
    """Return whether dpkg's packages make up the host; an RPM host may have dpkg only as a tool."""
    return os.path.isfile(database) and os.path.getsize(database) > 0


class Record(NamedTuple):
    """One package for one architecture."""

    version: str
    architecture: str
    status: str
    want: str


class UnclearError(Exception):
    """The text is not sufficient: dpkg-query is needed."""


class Packages(object):
    """All packages that dpkg knows on this host."""

    native = ""

    def records(self, package: str) -> Sequence[Record]:
        """Return the records of a package, one for each architecture."""
        raise NotImplementedError

    def find(self, name: str) -> Installed:
        """Return the installed state of ``NAME`` or ``NAME:ARCHITECTURE``."""
        state = Installed()
        package, architecture = split_name(name)
        for record in self.records(package):
            if not self._fits(record.architecture, architecture):
                continue
            on_hold = record.want == "hold"
            if record.status == "installed":
                return Installed(
                    record.version,
                    record.status,
                    held=on_hold,
                    others=(),
                    architecture=record.architecture,
                )
            state = Installed("", record.status, on_hold)
        return state

    def _fits(self, actual: str, wanted: str) -> bool:
        if wanted == "any" or actual == "all":
            return True
        return actual == (wanted if wanted not in ("", *NATIVE) else self.native or actual)


class Database(Packages):
    """The packages in the output of ``QUERY``."""

    def __init__(self, printed: str) -> None:
        # Only a few of so many packages are needed: the records of the others stay unparsed.
        self._told: Dict[str, List[str]] = {}
        for line in printed.splitlines():
            name, _, rest = line.partition(" ")
            self._told.setdefault(name, []).append(rest)
        own = self.records("dpkg")
        self.native = own[0].architecture if own else ""

    def records(self, package: str) -> Sequence[Record]:
        records = [rest.split(" ") for rest in self._told.get(package, ())]
        return [Record(*fields) for fields in records if len(fields) == len(Record._fields)]


class StatusFile(Packages):
    """The packages in dpkg's own text; its methods raise ``UnclearError``."""

    def __init__(self, text: bytes) -> None:
        self._stanzas: Dict[bytes, List[bytes]] = {}
        for stanza in text.split(b"\n\n"):
            key, _, name = stanza.partition(b"\n")[0].partition(b": ")
            if key == b"Package":
                self._stanzas.setdefault(name, []).append(stanza)
            elif stanza.strip():
                raise UnclearError()
        names = b" ".join(self._stanzas)
        if names != names.lower() or names.split() != list(self._stanzas):
            raise UnclearError()  # dpkg reads them in lower case, without blanks
        own = self.records("dpkg")
        if not own:
            raise UnclearError()
        self.native = own[0].architecture

    def records(self, package: str) -> Sequence[Record]:
        """See the base class. ``UnclearError`` for several architectures, whose order only
        dpkg-query knows.
        """
        stanzas = self._stanzas.get(os.fsencode(package), [])
        if len(stanzas) > 1:
            raise UnclearError()  # dpkg-query has its own order of several architectures
        return [record for record in map(_record, stanzas) if record.status != "not-installed"]


def _record(stanza: bytes) -> Record:
    fields: Dict[str, str] = {"Version": ""}
    for line in stanza.decode("utf-8", "replace").split("\n"):
        key, colon, value = line.partition(": ")
        if colon and key in ("Status", "Architecture", "Version"):
            if value != value.strip():
                raise UnclearError()
            fields[key] = value
    states = fields.get("Status", "").split(" ")
    if len(states) != 3 or "Architecture" not in fields:
        raise UnclearError()
    version = fields["Version"]
    if states[2] == "installed" and not version:
        raise UnclearError()
    if version.startswith("0") and ":" in version:
        raise UnclearError()  # an epoch of 0 is not printed
    return Record(version, fields["Architecture"], states[2], states[0])


def read(admin: str = ADMIN) -> Optional[StatusFile]:
    """Return the packages in dpkg's text; None if dpkg-query is needed.

    It is needed while dpkg is running, because dpkg then notes its changes outside the text, and
    with triggers that are not yet in the text.
    """
    try:
        if any(name.isdigit() for name in os.listdir(admin + "/updates")):
            return None
        if os.path.getsize(admin + "/triggers/Unincorp"):
            return None
        with open(admin + "/status", "rb") as file:
            return StatusFile(file.read())
    except (OSError, UnclearError):
        return None


def text(admin: str = ADMIN) -> str:
    """Return dpkg's text about all packages; "" if it cannot be read."""
    return content_of(admin + "/status").decode("utf-8", "surrogateescape")


def held(commands: "Commands") -> List[str]:
    """Return the names of the packages on hold, installed or not; empty if dpkg-query fails."""
    lines = commands.run(SELECTIONS).stdout.splitlines()
    return sorted(line[len(_HOLD) :] for line in lines if line.startswith(_HOLD))


def plain(name: str, native: str) -> str:
    """Return a package's name as apt and dpkg print it; ``native`` is the host's
    own architecture.
    """
    package, architecture = split_name(name)
    return package if architecture in (native, *NATIVE) else name


def split_name(name: str) -> Tuple[str, str]:
    """Split ``libc6:i386`` into package and architecture; the latter is "" if it is not given."""
    package, _, architecture = name.partition(":")
    return package, architecture
