"""Explains in plain words why apt-get failed (target)."""

import re
from typing import TYPE_CHECKING, Callable, Sequence

from remote_runtime.packages import failures
from remote_runtime.packages.failures import known
from remote_runtime.packages.locks import LOCK_HINT, LOCKED
from remote_runtime.packages.package_info import DOWNLOAD

if TYPE_CHECKING:
    from remote_runtime.errors import ResourceError
    from remote_runtime.system.process.commands import Result

SCRIPT = "package.script"

# The first match decides the hint: causes come before their consequences.
_TABLE = (
    known(
        r"are you root\?|Could not open lock file .*Permission denied",
        "package.root",
        "only root can change packages: set `become: true` for this host",
    ),
    known(
        r"Could not get lock|Unable to lock|Unable to acquire the dpkg frontend lock",
        LOCKED,
        LOCK_HINT,
    ),
    known(
        r"No space left on device|don't have enough free space",
        "package.space",
        "free space on the host; `apt-get clean` removes downloaded packages",
    ),
    known(
        r"Read-only file system",
        "package.readonly",
        "remount the file system writable",
    ),
    known(
        r"dpkg was interrupted",
        "package.interrupted",
        "run `dpkg --configure -a` on the host, for example in an earlier exec resource",
    ),
    known(
        r"dpkg: error processing",
        SCRIPT,
        "a script of the package failed; see its output below",
    ),
    known(
        r"Held packages were changed",
        "package.held",
        "release the package with `apt-mark unhold`",
    ),
    known(
        r"Unable to locate package|has no installation candidate",
        "package.unknown",
        "refresh the package lists with `update_cache: 1h`, or add the repository that contains it",
    ),
    known(
        r"NO_PUBKEY|EXPKEYSIG|REVKEYSIG|KEYEXPIRED|BADSIG|is not signed",
        "package.signature",
        "set the key that signs the repository, or install its current version",
    ),
    known(
        r"Conflicting values set for option",
        "package.sources",
        "configure each source once, with one key",
    ),
    known(
        r"does not have a Release file",
        "package.sources",
        "check the url and the suites of the repository",
    ),
    known(
        r"Failed to fetch|Unable to fetch",
        DOWNLOAD,
        "the mirror is unreachable, or the lists are out of date (`update_cache: 1h`)",
    ),
    known(
        r"held broken packages|[Uu]nmet dependencies",
        "package.dependencies",
        "a dependency is not available in the host's repositories, or a hold or pin prevents it",
    ),
)
_NOISE = re.compile(
    r"Reading package lists|Building dependency tree|Reading state information"
    r"|\(Reading database|debconf: delaying|Get:|Selecting previously|Preparing to unpack"
)
_OF_HOLDS = ("package.held", "package.dependencies")
_WORD = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_SCRIPT = re.compile(r"dpkg: error processing (?:package|archive) (\S+) \(--\w+\):\s*\n\s*(.+)")
_UNMET = re.compile(r"^ (\S+ : (?:(?:Pre-?)?Depends|Conflicts|Breaks): .+)$", re.MULTILINE)
_ERROR = re.compile(r"^(?:E|dpkg(?:-query)?: error): (.+)$", re.MULTILINE)


def explain(
    what: str, result: "Result", held_packages: Callable[[], Sequence[str]] = tuple
) -> "ResourceError":
    """Return the error of a failed apt-get; ``what`` is the attempt, such as "installing nginx".

    ``held_packages`` returns the packages of this host that are on hold; the error names those that
    apt mentions.
    """
    text = result.stdout + "\n" + result.stderr
    error = failures.explain(what, result, headline=_headline(text), table=_TABLE, noise=_NOISE)
    if error.kind in _OF_HOLDS:
        words = set(_WORD.findall(text))
        names = " ".join(name for name in held_packages() if name in words)
        if names:
            error.hint = "release held packages with `apt-mark unhold %s`" % names
    return error


def is_of_caches(error: "ResourceError") -> bool:
    """Return whether apt has done nothing because it cannot write its caches of the lists."""
    return error.kind == "package.space" and "IO Error saving source cache" in error.output


def _headline(text: str) -> str:
    """Return the most informative line: dpkg's message about a script, an unmet dependency, or else
    apt's first error.
    """
    script = _SCRIPT.search(text)
    if script:
        return "%s: %s" % script.groups()
    unmet = _UNMET.search(text)
    if unmet:
        return unmet.group(1)
    error = _ERROR.search(text)
    return error.group(1) if error else ""
