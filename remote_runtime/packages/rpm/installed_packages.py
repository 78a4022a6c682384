"""The installed packages that a transaction changes, from RPM's database (target; in previews
only)."""

from typing import AbstractSet, Callable, Dict, List, NamedTuple, Sequence, Set, Tuple

from remote_runtime.changes import HASHED, Unknowable
from remote_runtime.packages.dpkg.installed_packages import Installations, InstalledPackage
from remote_runtime.packages.maintainer_scripts.script_sequence import Run
from remote_runtime.packages.rpm import package_contents as rpm_contents
from remote_runtime.packages.rpm import triggers

_FIELD, _PART, _END = "\t", "\x1e", "\x1d"
_SCRIPTS = (("prerm", "PREUN"), ("postrm", "POSTUN"))
_FILE = _FIELD.join(("%{FILENAMES}", "%{FILEFLAGS}", "%{FILEDIGESTS}"))
_SCRIPT = _PART + "%%{%sPROG}" + _PART + "%%{%s}"
_FORM = (
    "%{NAME}\t%|EPOCH?{%{EPOCH}}:{0}|:%{VERSION}-%{RELEASE}"
    + _PART
    + "[%s\n]" % _FILE
    + "".join(_SCRIPT % (tag, tag) for _, tag in _SCRIPTS)
    + _END
)
QUERY = ("rpm", "-q", "--queryformat", _FORM, "--")
OWNERS = ("rpm", "-qf", "--queryformat", "%{NAME}\n", "--")
FILES = ("rpm", "-q", "--queryformat", "[%{=NAME}\t%{FILENAMES}\n]", "--")
_PATHS = 1000  # on one command line
_SHA256 = 64  # digits

Ask = Callable[[Sequence[str]], str]


class _Record(NamedTuple):
    evr: str
    package: InstalledPackage


class RpmInstallations(Installations):
    """The records of these packages; ``ask`` runs a query and returns its output.

    ``Unknowable`` if several versions of one are installed. The hash of a configuration file is ""
    if rpm uses another one than SHA-256.
    """

    def __init__(self, names: Sequence[str], ask: Ask) -> None:
        self._ask = ask
        self._records: Dict[str, _Record] = {}
        for printed in ask((*QUERY, *names)).split(_END)[:-1] if names else ():
            name, record = _parsed(printed)
            if name in self._records:
                raise Unknowable("several versions of %s are installed" % name)
            self._records[name] = record
        missing = sorted(set(names) - set(self._records))
        if missing:
            raise Unknowable("rpm does not list the files of %s" % missing[0])

    def version(self, name: str) -> str:
        """Return the installed version of a package, with its epoch."""
        return self._records[name].evr

    def kept(self, name: str, scripts: Sequence[str] = ()) -> InstalledPackage:
        record = self._records.get(name)
        return record.package if record is not None else super().kept(name, scripts)

    def owned_by_others(self, paths: Sequence[str], leaving: AbstractSet[str]) -> Set[str]:
        """See the base class."""
        names: Set[str] = set()
        for at in range(0, len(paths), _PATHS):
            names.update(self._ask((*OWNERS, *paths[at : at + _PATHS])).splitlines())
        # Without an owner, rpm prints a sentence.
        others = sorted(name for name in names - leaving if name and " " not in name)
        printed = self._ask((*FILES, *others)) if others else ""
        owned = {line.partition(_FIELD)[2] for line in printed.splitlines()}
        return owned.intersection(paths)

    def triggers_of_removal(self, names: Sequence[str]) -> List[Run]:
        """See the base class."""
        return triggers.of_removal(names, self._ask)


def found(names: Sequence[str], ask: Ask) -> List[Tuple[str, InstalledPackage]]:
    """Return the records of the installed ones among these packages, with all versions of each."""
    parsed = [_parsed(printed) for printed in ask((*QUERY, *names)).split(_END)[:-1]]
    return [(name, record.package) for name, record in parsed]


def _parsed(printed: str) -> Tuple[str, _Record]:
    """Return the name and the record of one package. ``Unknowable`` for unexpected output."""
    head, files, *rest = printed.split(_PART) if _PART in printed else ("", "")
    name, _, evr = head.rpartition("\n")[2].partition(_FIELD)
    rows = [line.split(_FIELD) for line in files.splitlines()]
    rows = [row for row in rows if row[0] != rpm_contents.NONE]  # of a package without files
    well = len(rest) == 2 * len(_SCRIPTS) and all(len(r) == 3 and r[1].isdigit() for r in rows)
    if not (name and evr and well):
        raise Unknowable("unexpected output of rpm about installed packages")
    paths: List[str] = []
    conffiles: Dict[str, str] = {}
    for path, flags, digest in rows:
        paths.append(path)
        if rpm_contents.CONFIG in rpm_contents.config_words(int(flags)):
            conffiles[path] = HASHED + digest if len(digest) == _SHA256 else ""
    scripts: Dict[str, str] = {}
    for (script, _), program, text in zip(_SCRIPTS, rest[::2], rest[1::2]):
        try:
            program_text = rpm_contents.script_text(program, text)
        except ValueError as error:
            raise Unknowable("a script of %s cannot be read: %s" % (name, error)) from None
        if program_text:
            scripts[script] = program_text
    return name, _Record(evr, InstalledPackage(paths, conffiles, scripts))
