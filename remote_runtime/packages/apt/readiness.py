"""Conditions that prevent apt from starting, as far as they are visible without an attempt
(target).
"""

import os
from typing import Callable, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.packages import locks

LOCKS = ("var/lib/dpkg/lock-frontend", "var/lib/dpkg/lock", "var/cache/apt/archives/lock")
_WRITTEN = ("var/lib/dpkg", "var/cache/apt/archives", "usr")
_JOURNAL = "var/lib/dpkg/updates"


class Readiness(object):
    """The system below ``root``, as ``user`` sees it."""

    def __init__(self, root: str = "/", user: Callable[[], int] = os.geteuid) -> None:
        self._root = root
        self._user = user

    def holder(self) -> Optional[locks.Holder]:
        """Return the process that holds a lock that a transaction needs."""
        return locks.holder([os.path.join(self._root, path) for path in LOCKS])

    def trouble(self, what: str) -> Optional[ResourceError]:
        """Return the error with which a transaction would fail, or None; ``what`` is the attempt,
        such as "installing nginx".
        """
        if self._user() != 0:
            return ResourceError(
                "%s would fail: only root can change packages" % what,
                "package.root",
                "set `become: true` for this host",
            )
        for directory in _WRITTEN:
            path = os.path.join(self._root, directory)
            if os.path.isdir(path) and os.statvfs(path).f_flag & os.ST_RDONLY:
                return ResourceError(
                    "%s would fail: /%s is on a read-only file system" % (what, directory),
                    "package.readonly",
                    "remount the file system writable",
                )
        if self._interrupted():
            return ResourceError(
                "%s would fail: dpkg was interrupted" % what,
                "package.interrupted",
                "run `dpkg --configure -a` on the host, for example in an earlier exec resource",
            )
        return None

    def _interrupted(self) -> bool:
        directory = os.path.join(self._root, _JOURNAL)
        return os.path.isdir(directory) and any(name.isdigit() for name in os.listdir(directory))
