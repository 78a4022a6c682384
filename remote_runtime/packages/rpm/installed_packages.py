"""The installed packages that a transaction changes, from RPM's database (target; in previews
only)."""

from typing import Callable, Dict, List, NamedTuple, Sequence, Set

from remote_runtime.changes import HASHED, Unknowable
from remote_runtime.packages.dpkg.installed_packages import Installations, InstalledPackage
from remote_runtime.packages.rpm import package_contents as rpm_contents

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
OWNERS = ("rpm", "-qf", "--queryformat", "[%{=NAME}\t%{FILENAMES}\n]", "--")
_SHA256 = 64  # digits

Ask = Callable[[Sequence[str]], str]


class _Record(NamedTuple):
    evr: str
    package: InstalledPackage


class RpmInstallations(Installations):
    """The records of these packages, some of which are ``removed``; ``ask`` runs a query and
    returns its output.

    ``Unknowable`` if several versions of one are installed. The hash of a configuration file is ""
    if rpm uses another one than SHA-256.
    """

    def __init__(self, names: Sequence[str], removed: Set[str], ask: Ask) -> None:
        self._ask = ask
        self._removed = removed
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

    def owners(self) -> Dict[str, int]:
        """See the base class, for the directories of these packages. The removed ones count as one
        package.
        """
        paths = {path for one in self._records.values() for path in one.package.paths}
        inner = {path.rpartition("/")[0] for path in paths}
        names_by_path: Dict[str, Set[str]] = {}
        directories = sorted(paths & inner)
        for line in self._ask((*OWNERS, *directories)).splitlines() if directories else ():
            name, _, path = line.partition(_FIELD)
            if path in paths:
                names_by_path.setdefault(path, set()).add(name)
        return {path: len(names - self._removed) + 1 for path, names in names_by_path.items()}


def _parsed(printed: str) -> "tuple[str, _Record]":
    """Return the name and the record of one package. ``Unknowable`` for unexpected output."""
    head, files, *rest = printed.lstrip("\n").split(_PART) if _PART in printed else ("", "")
    name, _, evr = head.partition(_FIELD)
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
        program_text = rpm_contents.script_text(program, text)
        if program_text:
            scripts[script] = program_text
    return name, _Record(evr, InstalledPackage(paths, conffiles, scripts))
