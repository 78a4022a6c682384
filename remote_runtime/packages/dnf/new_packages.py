"""The packages that transactions of a preview would add, from dnf's index and the packages
themselves (target; in previews only)."""

from typing import TYPE_CHECKING, Callable, Dict, Iterator, List, Optional, Sequence

from remote_runtime.packages import batch
from remote_runtime.packages.dnf.package_files import Rpms
from remote_runtime.packages.dnf.transaction import INDEX, NewPackage, indexed
from remote_runtime.packages.package_info import VersionChange

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.dpkg.package_contents import Contents
    from remote_runtime.packages.package_inspection import Indexed, Probe

FORM = INDEX.rstrip("\n") + "\t%{requires}\t%{recommends}\t%{provides}\t%{files}\t\n"
_END = "\t\n"
_INDEXED = INDEX.count("\t") + 1  # fields
_FIELDS = FORM.count("\t")

Fetch = Callable[["Sequence[Indexed]", str], None]
"""Has dnf download the transactions that add these packages to a directory."""


class NewPackages(object):
    """Packages by name and version. ``query(specs, form=FORM)`` queries the index; ``file_of``
    returns the path of a package that is a file on this host, or "".
    """

    def __init__(
        self,
        context: "Context",
        probe: "Probe",
        query: Callable[..., str],
        file_of: Callable[[str, str], str],
    ) -> None:
        self._context, self._probe, self._query, self._file_of = context, probe, query, file_of
        self._known: Dict[Sequence[str], NewPackage] = {}
        self._index: "Dict[NewPackage, Indexed]" = {}

    def shares(
        self, names: Sequence[str], added: Sequence[NewPackage]
    ) -> Optional[List[List[VersionChange]]]:
        """Return the packages among those ``added`` by a transaction that come with each of the
        named ones: itself, and those that no earlier one needs. The first one that comes with an
        earlier one, and all after it, have an empty share, as in a push.

        None if it is not clear what a package comes with.
        """
        by_name = {one.name: one for one in added}
        if len(by_name) < len(added) or not by_name.keys() >= set(names):
            return None
        printed = self._query(*[one.spec for one in added], form=FORM)
        needed = needs(printed)
        if needed.keys() != by_name.keys():
            return None
        changes = [VersionChange(one.name, "", one.evr) for one in added]
        found, left = batch.divided(names, changes, needed)
        if left:
            return None
        self._known.update(((one.name, one.evr), one) for one in added)
        self._add_index("\n".join("\t".join(row[:_INDEXED]) for row in _rows(printed)), added)
        first_empty = found.index([]) if [] in found else len(found)
        return [share if at < first_empty else [] for at, share in enumerate(found)]

    def of(self, changes: Sequence[VersionChange]) -> List[NewPackage]:
        """Return the packages of these ``shares``."""
        keys = [(change.name, change.after) for change in changes]
        return [self._known[key] for key in keys if key in self._known]

    def contents(
        self, new: Sequence[NewPackage], fetch: Fetch, soon: Sequence[NewPackage] = ()
    ) -> "Dict[str, Contents]":
        """Return the contents of packages by name, without those that could not be examined. This
        also examines those that will be needed ``soon``.
        """
        rpms, known = Rpms(self._context, fetch), {}
        listed = []
        for one in new:
            path = self._file_of(one.name, one.evr)
            if path:
                known.update(self._probe.of_file(one.name, one.evr, path=path, kind=rpms))
            else:
                listed.append(one)
        unknown = [one for one in listed if one not in self._index]
        if unknown:
            self._add_index(self._query(*[one.spec for one in unknown], form=INDEX), unknown)
        wanted, later = (
            [self._index[one] for one in some if one in self._index] for some in (listed, soon)
        )
        return dict(known, **self._probe.contents(wanted, rpms, later)) if listed else known

    def _add_index(self, printed: str, packages: Sequence[NewPackage]) -> None:
        by_name = {(one.name, one.version): one for one in indexed(printed, packages)}
        for package in packages:
            entry = by_name.get((package.name, package.evr))
            if entry is not None:
                self._index[package] = entry


def needs(printed: str) -> Dict[str, List[str]]:
    """Return the packages that each one requires or recommends, by name, from a query in the format
    ``FORM``. All alternatives count.
    """
    rows = [(row[0], row[_INDEXED:]) for row in _rows(printed)]
    providers: Dict[str, List[str]] = {}
    for name, (_, _, provided, files) in rows:
        capabilities = [line.partition(" ")[0] for line in provided.splitlines()]
        for capability in [*capabilities, *files.splitlines()]:
            providers.setdefault(capability, []).append(name)
    found: Dict[str, List[str]] = {}
    for name, (required, recommended, _, _) in rows:
        words = _words(required + "\n" + recommended)
        own = found.setdefault(name, [])  # also from another repository
        own += [provider for word in words for provider in providers.get(word, ())]
    return found


def _rows(printed: str) -> List[List[str]]:
    rows = [row.lstrip("\n").split("\t") for row in printed.split(_END)]
    return [row for row in rows if len(row) == _FIELDS]


def _words(text: str) -> Iterator[str]:
    """Yield the words of dependencies, such as ``perl(Foo)``, without parentheses around several
    words.
    """
    for word in text.split():
        word = word.lstrip("(")
        extra = word.count(")") - word.count("(")
        yield word[:-extra] if extra > 0 else word
