"""Says in plain words why apt-get failed (target)."""

import re
from typing import TYPE_CHECKING, List, NamedTuple, Pattern

from ...errors import ResourceError

if TYPE_CHECKING:
    from ...system.commands import Result


class _Known(NamedTuple):
    pattern: Pattern[str]
    kind: str
    hint: str


def _known(pattern: str, kind: str, hint: str) -> _Known:
    return _Known(re.compile(pattern), kind, hint)


LOCKED = "package.lock"
SCRIPT = "package.script"
_LOCK_HINT = "let the other package manager finish, or give it longer with lock_timeout"

# The first that fits decides the hint: what stopped everything stands before what followed from it.
_TABLE = (
    _known(
        r"are you root\?|Could not open lock file .*Permission denied",
        "package.root",
        "packages are changed by root: set `become: true` for this host",
    ),
    _known(
        r"Could not get lock|Unable to lock|Unable to acquire the dpkg frontend lock",
        LOCKED,
        _LOCK_HINT,
    ),
    _known(
        r"No space left on device|don't have enough free space",
        "package.space",
        "make room on the host, `apt-get clean` removes downloaded packages",
    ),
    _known(
        r"Read-only file system",
        "package.readonly",
        "remount the file system writable",
    ),
    _known(
        r"dpkg was interrupted",
        "package.interrupted",
        "run `dpkg --configure -a` on the host, in an earlier exec resource for example",
    ),
    _known(
        r"dpkg: error processing",
        SCRIPT,
        "the package's own script failed; its output is below",
    ),
    _known(
        r"Held packages were changed",
        "package.held",
        "release the package with `apt-mark unhold`",
    ),
    _known(
        r"Unable to locate package|has no installation candidate",
        "package.unknown",
        "refresh the package lists with `update_cache: 1h`, or add the repository that has it",
    ),
    _known(
        r"Failed to fetch|Unable to fetch",
        "package.download",
        "the mirror cannot be reached, or the lists are out of date (`update_cache: 1h`)",
    ),
    _known(
        r"held broken packages|[Uu]nmet dependencies",
        "package.dependencies",
        "a dependency cannot be had from the host's repositories",
    ),
)
_NOISE = re.compile(
    r"Reading package lists|Building dependency tree|Reading state information"
    r"|\(Reading database|debconf: delaying|Get:|Selecting previously|Preparing to unpack"
)
_SCRIPT = re.compile(r"dpkg: error processing (?:package|archive) (\S+) \(--\w+\):\s*\n\s*(.+)")
_ERROR = re.compile(r"^(?:E|dpkg(?:-query)?: error): (.+)$", re.MULTILINE)
_SHOWN = 15  # lines of apt's output that go into the event


def is_locked(result: "Result") -> bool:
    """Whether apt failed only because another process holds a lock."""
    return explain("", result).kind == LOCKED


def explain(what: str, result: "Result") -> ResourceError:
    """Return the error of a failed apt-get; ``what`` is what was tried, "installing nginx"."""
    text = result.stdout + "\n" + result.stderr
    ended = "exit code %d" % result.code if result.code >= 0 else "signal %d" % -result.code
    message = "%s failed (%s): %s" % (what, ended, _headline(text))
    output = "\n".join(_telling_lines(result))
    for known in _TABLE:
        if known.pattern.search(text):
            return ResourceError(message, known.kind, known.hint, output)
    return ResourceError(message, kind="package.failed", output=output)


def _headline(text: str) -> str:
    """The line that says most: dpkg's about a script, else apt's first error."""
    script = _SCRIPT.search(text)
    if script:
        return "%s: %s" % script.groups()
    error = _ERROR.search(text)
    return error.group(1) if error else "it gave no reason"


def _telling_lines(result: "Result") -> List[str]:
    """The end of what apt printed: output of scripts first, apt's own E: lines last."""
    seen: List[str] = []
    for text in (result.stdout, result.stderr):
        for line in text.splitlines():
            line = line.rstrip()
            if line and not _NOISE.match(line) and line not in seen:
                seen.append(line)
    return seen[-_SHOWN:]
