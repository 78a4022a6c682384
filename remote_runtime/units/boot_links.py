"""Compares the links that start units at boot with the state that systemd has loaded (target).

systemd keeps the links of a loaded unit until it reloads. A link that was created or removed since
then nevertheless takes effect at the next boot.
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
        """Return whether the links contradict the state of a unit that systemd has loaded."""
        if self._directories is None or state not in _LINKED:
            return False
        linked = any(
            os.path.lexists(os.path.join(directory, unit)) for directory in self._directories
        )
        return linked is not _LINKED[state]
