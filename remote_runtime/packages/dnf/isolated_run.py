"""Runs dnf and rpm in a preview without lasting changes (target).

dnf always writes logs, caches and a history; rpm writes a shared memory file and a journal. In a
separate mount namespace, these directories have an overlay with its upper layer on a tmpfs; both
are removed when the command ends.
"""

import os
from typing import TYPE_CHECKING, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Result

_FAILED = 125  # how the script ends where it could not begin
CACHES = ("/var/cache/dnf", "/var/cache/libdnf5")
_OF_RPM = ("/tmp", "/var/tmp", "/var/lib/rpm", "/usr/lib/sysimage/rpm")
_OF_DNF = ("/var/log", *CACHES, "/var/lib/dnf", "/usr/lib/sysimage/libdnf5")
_BASES = ("/usr/src", "/usr/games", "/mnt", "/media")
_WHY = "cannot query dnf without leaving files on the host"
_SCRIPT = """\
base=$1
keep=$2
layers=$3
shift 3
mount -n -t tmpfs -o mode=0700 ccm "$base" || exit 125
if [ -n "$keep" ]; then
    mkdir "$base/keep" && mount -n --bind "$keep" "$base/keep" || exit 125
fi
(cd "$base" && exec mkdir -p $layers) || exit 125
number=0
while [ "$1" != -- ]; do
    number=$((number + 1))
    if [ -d "$1" ] && [ ! -L "$1" ]; then
        options="lowerdir=$1,upperdir=$base/$number/upper,workdir=$base/$number/work"
        mount -n -t overlay -o "$options" ccm "$1" || exit 125
    fi
    shift
done
shift
if [ -n "$keep" ]; then
    mount -n --bind "$base/keep" "$keep" || exit 125
fi
mount -n -o remount,bind,ro / 2>/dev/null  # what dnf notes at the packages of a local repository
exec "$@"
"""


def isolated(context: Context, argv: Sequence[str], keep: str = "") -> Tuple[str, ...]:
    """Return the command to run: unchanged in a push, without lasting changes in a preview.

    Files that it writes to the directory ``keep``, if given, are kept.

    Users other than root have a private cache, and no right to write elsewhere. ``Unknowable`` if
    root cannot run such a command; see also ``not_begun``.
    """
    if not context.noop or os.geteuid() != 0:
        return tuple(argv)
    base = next((base for base in _BASES if os.path.isdir(base)), "")
    directories = list(_OF_RPM)
    if argv[0] != "rpm":
        directories += _OF_DNF
        if not any(os.path.isdir(cache) for cache in CACHES):
            directories.append(os.path.dirname(CACHES[0]))  # dnf creates one of them there
    numbers = range(1, len(directories) + 1)
    layers = ["%d/%s" % (number, name) for number in numbers for name in ("upper", "work")]
    if not base or not context.commands.find("unshare"):
        raise Unknowable("%s: unshare is not installed" % _WHY)
    return (
        "unshare",
        "--mount",
        "sh",
        "-c",
        _SCRIPT,
        "ccm",
        base,
        keep,
        " ".join(layers),
        *directories,
        "--",
        *argv,
    )


def has_failed(result: "Result") -> bool:
    """Return whether the isolation failed to start the command; rpm may exit with the same code."""
    return result.code == _FAILED and not result.stdout


def not_begun(printed: str) -> Unknowable:
    """Return the error for a command that could not be started."""
    lines = printed.strip().splitlines() or ["no overlay"]
    return Unknowable("%s: %s" % (_WHY, lines[-1]))
