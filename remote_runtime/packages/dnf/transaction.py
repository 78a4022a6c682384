"""dnf's output about a resolved transaction, and its index of packages (target)."""

import re
from typing import Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set

from remote_runtime.packages.package_inspection import Indexed

# The tags of dnf 4; that of the checksum is shown as Python does: a number and bytes.
INDEX = (
    "%{name}\t%{epoch}\t%{version}\t%{release}\t%{arch}\t%{repoid}\t%{downloadsize}\t"
    "%{installsize}\t%{chksum}\n"
)
INSTALLING = ("Installing", "Installing dependencies", "Installing weak dependencies")
_CHANGING = ("Upgrading", "Downgrading")
_REMOVING = ("Removing", "Removing dependent packages", "Removing unused dependencies")
_CHECKSUM = re.compile(r"\(\d+, (b(?:'.*'|\".*\"))\)\Z")
_SHA256 = 32  # bytes


class NewPackage(NamedTuple):
    """A package that would be newly installed; ``evr`` includes its epoch."""

    name: str
    evr: str
    architecture: str
    repository: str

    @property
    def spec(self) -> str:
        """The argument that selects exactly this package for dnf."""
        return "%s-%s.%s" % (self.name, self.evr, self.architecture)


class Table(NamedTuple):
    """dnf's table of a transaction: added packages, those whose version changes, with the new
    version, and removed ones, with the installed version.
    """

    added: List[NewPackage]
    changed: List[NewPackage]
    removed: List[NewPackage]


_SECTIONS = (INSTALLING, _CHANGING, _REMOVING)


def new_packages(printed: str) -> Optional[List[NewPackage]]:
    """Return the packages in dnf's table; None if the transaction would do more than
    install them.
    """
    table = table_of(printed)
    return table.added if table is not None and not (table.changed or table.removed) else None


def table_of(printed: str) -> Optional[Table]:
    """Return dnf's table; None if there is none, or if it contains anything else."""
    _, begun, rest = printed.partition("\n Package ")
    table = rest.partition("\nTransaction Summary")[0]
    found = Table([], [], [])
    kinds = {
        section: packages for sections, packages in zip(_SECTIONS, found) for section in sections
    }
    packages: Optional[List[NewPackage]] = None
    for line in _rows(table.splitlines()[2:]):
        if not line.startswith(" "):
            section = line.rstrip(":")
            if section and section not in kinds:
                return None
            packages = kinds.get(section)
            continue
        words = line.split()
        if len(words) < 5 or packages is None or "replacing" in words:
            return None
        name, architecture, version, repository = words[:4]
        evr = version if ":" in version else "0:" + version
        packages.append(NewPackage(name, evr, architecture, repository))
    return found if begun else None


def own_part(table: Optional[Table], planned: Mapping[str, str]) -> Optional[Table]:
    """Return a table without the ``planned`` versions, by name, which earlier resources of a
    preview install; None if nothing is left.
    """
    if table is None:
        return None

    def own(packages: List[NewPackage]) -> List[NewPackage]:
        """Return those that are not planned yet."""
        return [one for one in packages if planned.get(one.name) != one.evr]

    left = table._replace(added=own(table.added), changed=own(table.changed))
    return left if any(left) else None


def includes(printed: str, planned: Mapping[str, str]) -> bool:
    """Return whether a transaction installs exactly the ``planned`` versions, by name, and removes
    no package.
    """
    table = table_of(printed)
    if table is None or table.removed:
        return False
    versions = {one.name: one.evr for one in [*table.added, *table.changed]}
    return all(versions.get(name) == evr for name, evr in planned.items())


def changed(printed: str) -> List[str]:
    """Return the names of all packages in dnf's table: added, changed, removed or replaced."""
    table = printed.partition("\n Package ")[2].partition("\nTransaction Summary")[0]
    names = []
    for line in _rows(table.splitlines()[2:]):
        words = line.split() if line.startswith(" ") else []
        names += words[:1]
        # The replaced packages follow below it, with their architecture.
        at = [place for place, word in enumerate(words[:-1]) if word == "replacing"]
        names += [words[place + 1].rpartition(".")[0] for place in at]
    return names


def sections(printed: str) -> Set[str]:
    """Return the section titles of dnf's table, such as ``Installing dependencies``; empty without
    a table."""
    table = printed.partition("\n Package ")[2].partition("\nTransaction Summary")[0]
    titles = set()
    for line in _rows(table.splitlines()[2:]):
        if not line.startswith(" "):
            titles.add(line.rstrip(":"))
        elif "replacing" in line.split():
            titles.add("Replacing")
    return titles - {""}


def _rows(lines: Sequence[str]) -> Iterator[str]:
    """Return the rows, and join those that dnf has wrapped after a long word."""
    row = ""
    for line in lines:
        broken = row and line.startswith("  ")
        if row and not broken:
            yield row
        row = row + line if broken else line
    if row:
        yield row


def indexed(printed: str, wanted: Sequence[NewPackage]) -> List[Indexed]:
    """Return the index entries of these packages, from a query in the format ``INDEX``."""
    known = {}
    for line in printed.splitlines():
        fields = line.split("\t", 8)
        sha = _sha256(fields[-1]) if len(fields) == 9 else ""
        if sha and fields[6].isdigit() and fields[7].isdigit():
            name, epoch, version, release, architecture, repository = fields[:6]
            one = NewPackage(name, "%s:%s-%s" % (epoch, version, release), architecture, repository)
            size, unpacked = int(fields[6]), int(fields[7])
            known[one] = Indexed(name, one.evr, sha256=sha, size=size, unpacked=unpacked)
    return [known[one] for one in wanted if one in known]


def _sha256(output: str) -> str:
    import ast

    fits = _CHECKSUM.match(output)
    try:
        value = ast.literal_eval(fits.group(1)) if fits else b""
    except (SyntaxError, ValueError):
        return ""
    return value.hex() if len(value) == _SHA256 else ""
