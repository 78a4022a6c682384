"""The packages that dpkg triggers when others are installed or removed (target; in
previews only).
"""

import os
from typing import TYPE_CHECKING, Dict, Iterable, List, Sequence, Set

from remote_runtime.packages.dpkg.database import ADMIN
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.shell import Call
from remote_runtime.system.paths import is_within

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_LIMIT = 1 << 20  # bytes of one file


def interests(files: "Files", admin: str = ADMIN) -> Dict[str, Set[str]]:
    """Return the triggers that installed packages wait for: paths and names, each with the
    packages.
    """
    directory = os.path.join(admin, "triggers")
    packages_by_trigger: Dict[str, Set[str]] = {}
    for name in files.entries(directory) if files.is_directory(directory) else ():
        path = os.path.join(directory, name)
        if name in ("Lock", "Unincorp") or files.is_directory(path):
            continue
        for line in files.read(path, _LIMIT, follow=True).decode("utf-8", "replace").splitlines():
            words = line.split()
            if name == "File" and len(words) >= 2:
                packages_by_trigger.setdefault(words[0], set()).add(_package(words[1]))
            elif name != "File" and words:
                packages_by_trigger.setdefault(name, set()).add(_package(words[0]))
    return packages_by_trigger


def pending(text: str) -> Dict[str, List[str]]:
    """Return the packages whose triggers an interrupted run of dpkg has left, each with its
    triggers; the next run of dpkg runs them. ``text`` is dpkg's text about all packages.
    """
    found: Dict[str, List[str]] = {}
    name = ""
    for line in text.split("\n"):
        key, _, value = line.partition(": ")
        if key == "Package":
            name = value
        elif key == "Triggers-Pending":
            found[name] = value.split()
    return found


def unincorporated(files: "Files", admin: str = ADMIN) -> Set[str]:
    """Return the triggers that an interrupted run of dpkg has not assigned to packages yet."""
    path = os.path.join(admin, "triggers", "Unincorp")
    if files.status(path, follow=True) is None:
        return set()
    lines = files.read(path, _LIMIT, follow=True).decode("utf-8", "replace").splitlines()
    return {line.split()[0] for line in lines if line.strip()}


def _package(word: str) -> str:
    return word.partition("/")[0]


def declared(control: str, directive: str) -> List[str]:
    """Return the triggers that a package's control file names with ``interest`` or ``activate``."""
    lines = (line.split("#")[0].split() for line in control.splitlines())
    return [words[1] for words in lines if len(words) == 2 and words[0].startswith(directive)]


def activated(calls: Iterable[Call]) -> Set[str]:
    """Return the triggers that scripts activate themselves."""
    triggers: Set[str] = set()
    for call in calls:
        if call.name == "dpkg-trigger":
            names = [word for word in call.words[1:] if not word.startswith("-")]
            triggers.update(name for name in names if UNKNOWN not in name)
    return triggers


def triggered(
    waiting: Dict[str, Set[str]], paths: Sequence[str], names: Set[str]
) -> Dict[str, List[str]]:
    """Return the packages that these paths and names trigger, each with its triggers."""
    triggers_by_package: Dict[str, List[str]] = {}
    for trigger, packages in sorted(waiting.items()):
        if trigger.startswith("/"):
            hit = trigger in names or any(is_within(path, trigger) for path in paths)
        else:
            hit = trigger in names
        for package in packages if hit else ():
            triggers_by_package.setdefault(package, []).append(trigger)
    return triggers_by_package
