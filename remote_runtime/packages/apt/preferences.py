"""The apt preferences that keep versions of a package from being installed (target)."""

import fnmatch
import os
from typing import List, Optional, Tuple

from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.system.paths import content_of

_FILE = "etc/apt/preferences"
_DIRECTORY = "etc/apt/preferences.d"


def find(name: str, root: str = "/") -> Optional[Tuple[str, str]]:
    """Return the stanza with a priority below 0 that names a package, and a hint.

    None if no file has one. Regular expressions (``/.../``) are ignored.
    """
    for path in _files(root):
        # apt itself reports a file that cannot be read.
        text = content_of(os.path.join(root, path)).decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if not line.startswith(("#", "Explanation:"))]
        for stanza in apt_simulation.stanzas("\n".join(lines)):
            pin = apt_simulation.field(stanza, "Pin")
            priority = apt_simulation.field(stanza, "Pin-Priority")
            names = apt_simulation.field(stanza, "Package").split()
            if priority.startswith("-") and any(fnmatch.fnmatchcase(name, n) for n in names):
                where = "the pin for %s (%s, priority %s) in /%s" % (name, pin, priority, path)
                return where, "change or remove that pin"
    return None


def _files(root: str) -> List[str]:
    paths = [_FILE]
    try:
        names = sorted(os.listdir(os.path.join(root, _DIRECTORY)))
    except OSError:
        names = []
    # apt reads no others.
    return paths + [
        os.path.join(_DIRECTORY, n) for n in names if n.endswith(".pref") or "." not in n
    ]
