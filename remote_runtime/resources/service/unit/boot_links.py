"""Whether the links that have units started at boot say what systemd remembers of them (target).

Of a unit that is loaded systemd keeps what it once found, until it reloads: a link that somebody
made or removed since then counts at the next boot all the same.
"""

import os
from typing import List, Optional

CONFIGURED = "/etc/systemd/system"
_ENDINGS = (".wants", ".requires", ".upholds")
_LINKED = {"enabled": True, "disabled": False}


class BootLinks(object):
    """The links below a folder, which is read once."""

    def __init__(self, folder: str = CONFIGURED) -> None:
        self._folders: Optional[List[str]] = None
        if os.path.isdir(folder):
            names = [name for name in os.listdir(folder) if name.endswith(_ENDINGS)]
            self._folders = [os.path.join(folder, name) for name in names]

    def contradict(self, unit: str, state: str) -> bool:
        """Whether the links say something else of a unit than the state that systemd remembers."""
        if self._folders is None or state not in _LINKED:
            return False
        linked = any(os.path.lexists(os.path.join(folder, unit)) for folder in self._folders)
        return linked is not _LINKED[state]
