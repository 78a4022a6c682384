"""The predicted and the actual changes of an apt transaction, package by package (target)."""

from typing import Dict, List, Mapping, Sequence, Tuple

from remote_runtime.packages.dpkg.database import plain
from remote_runtime.packages.package_info import VersionChange

# Without the lock: who only looks must not make another package manager fail. Without the logs of
# what solver and planner were asked, which even a simulation writes.
OPTIONS = (
    "-s", "-o", "Debug::NoLocking=true",
    "-o", "Dir::Log::Planner=/dev/null", "-o", "Dir::Log::Solver=/dev/null",
)  # fmt: skip
_PLANNED = (
    r"(?:Inst (?P<new>\S+) (?:\[(?P<old>\S+)\] )?\((?P<version>\S+)"
    r"|(?:Remv|Purg) (?P<gone>\S+) \[(?P<last>\S+)\])"
)
_DONE = (
    r"(?:Unpacking (?P<new>\S+) \((?P<version>\S+)\)(?: over \((?P<old>\S+)\))? \.\.\."
    r"|Removing (?P<gone>\S+) \((?P<last>\S+)\)(?:, to allow .*)? \.\.\.)"
)


def planned(printed: str, native: str) -> List[VersionChange]:
    """Parse the output of ``apt-get -s``; ``native`` is the host's own architecture."""
    return _read(_PLANNED, printed, native)


def done(printed: str, native: str) -> List[VersionChange]:
    """Parse dpkg's output from a run of apt-get."""
    return _read(_DONE, printed, native)


def _read(pattern: str, printed: str, native: str) -> List[VersionChange]:
    import re

    versions_by_name: Dict[str, Tuple[str, str]] = {}
    for line in printed.splitlines():
        fits = re.match(pattern, line)
        if fits:
            name = plain(fits.group("new") or fits.group("gone"), native)
            before = versions_by_name.get(
                name, (fits.group("old") or fits.group("last") or "", "")
            )[0]
            versions_by_name[name] = (before, fits.group("version") or "")
    changes = [
        VersionChange(name, *versions) for name, versions in sorted(versions_by_name.items())
    ]
    return [change for change in changes if change.before != change.after]


def status(database: str, versions: Mapping[str, str], show_output: str, native: str) -> str:
    """Return dpkg's planned database, with these packages in these versions; "" for a removed
    package.

    ``show_output`` is the output of ``apt-cache show`` about them. ``KeyError`` names a package
    that is missing in it.
    """
    known = by_version(show_output, native)
    planned_stanzas = [
        stanza for stanza in stanzas(database) if _name(stanza, native) not in versions
    ]
    for name, version in sorted(versions.items()):
        if version:
            lines = known[name, version].splitlines()
            rest = [line for line in lines[1:] if not line.startswith("Status:")]
            planned_stanzas.append("\n".join([lines[0], "Status: install ok installed", *rest]))
    return "".join(stanza + "\n\n" for stanza in planned_stanzas)


def with_holds(database: str, holds: Mapping[str, bool], native: str) -> str:
    """Return dpkg's database with holds on these packages set or released."""
    if not holds:
        return database
    result_stanzas = []
    for stanza in stanzas(database):
        held = holds.get(_name(stanza, native))
        words = field(stanza, "Status").split()
        if held is not None and len(words) == 3 and words[0] in ("install", "hold"):
            new = " ".join(["hold" if held else "install", *words[1:]])
            stanza = stanza.replace("Status: " + " ".join(words), "Status: " + new, 1)
        result_stanzas.append(stanza + "\n\n")
    return "".join(result_stanzas)


def by_version(show_output: str, native: str) -> Dict[Tuple[str, str], str]:
    """Return the paragraphs of the output of ``apt-cache show``, by name and version; the first of
    several."""
    return {key: texts[0] for key, texts in all_by_version(show_output, native).items()}


def all_by_version(show_output: str, native: str) -> Dict[Tuple[str, str], List[str]]:
    """The same with all paragraphs, such as of several repositories."""
    stanzas_by_version: Dict[Tuple[str, str], List[str]] = {}
    for stanza in stanzas(show_output):
        key = _name(stanza, native), field(stanza, "Version")
        stanzas_by_version.setdefault(key, []).append(stanza)
    return stanzas_by_version


def stanzas(text: str) -> Sequence[str]:
    """Return the paragraphs of a control file; each begins with ``Package:``."""
    return [part.strip("\n") for part in text.split("\n\n") if part.strip()]


def field(stanza: str, name: str) -> str:
    """Return the value of a one-line field of a stanza; "" if the field is missing."""
    _, separator, rest = ("\n" + stanza).partition("\n%s: " % name)
    return rest.partition("\n")[0].strip() if separator else ""


def _name(stanza: str, native: str) -> str:
    name, architecture = field(stanza, "Package"), field(stanza, "Architecture")
    return plain("%s:%s" % (name, architecture or native), native)
