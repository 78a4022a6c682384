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
    """The links below a directory, which is read once."""

    def __init__(self, directory: str = CONFIGURED) -> None:
        self._directories: Optional[List[str]] = None
        if os.path.isdir(directory):
            names = [name for name in os.listdir(directory) if name.endswith(_ENDINGS)]
            self._directories = [os.path.join(directory, name) for name in names]

    def contradict(self, unit: str, state: str) -> bool:
        """Whether the links say something else of a unit than the state that systemd remembers."""
        if self._directories is None or state not in _LINKED:
            return False
        linked = any(
            os.path.lexists(os.path.join(directory, unit)) for directory in self._directories
        )
        return linked is not _LINKED[state]
