"""All access of the fact families to the machine (target; Python 3.6 and newer).

Families only read from a ``Source``, so a directory of recorded files can replace a whole machine.
Paths go to the kernel as bytes: Python 3.6 under ``LANG=C`` cannot encode others.
"""

import os
from typing import Any, List

_PIECE = 1 << 16


def _home() -> bytes:
    """Return the home directory of the effective user."""
    named = os.environb.get(b"HOME", b"")
    try:
        if named.startswith(b"/") and os.stat(named).st_uid == os.geteuid():
            return named
    except OSError:
        pass  # the account's own answer counts then
    import pwd

    try:
        return os.fsencode(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:
        return b"/nonexistent"


class Source(object):
    """Reads the machine whose files begin at ``root``; every method may raise ``OSError``."""

    def __init__(self, root: str = "/") -> None:
        self._root = root.rstrip("/").encode("utf-8", "surrogateescape")

    def at(self, path: str) -> bytes:
        """Return the location of an absolute path below the root."""
        return self._root + path.encode("utf-8", "surrogateescape")

    def text(self, path: str, errors: str = "replace") -> str:
        """Return a complete file written by the kernel or the distribution."""
        handle = os.open(self.at(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            pieces: List[bytes] = []
            while True:
                piece = os.read(handle, _PIECE)
                if not piece:
                    return b"".join(pieces).decode("utf-8", errors)
                pieces.append(piece)
        finally:
            os.close(handle)

    def text_or_empty(self, path: str) -> str:
        """Return a file, stripped; "" if it does not exist or cannot be read."""
        try:
            return self.text(path).strip()
        except OSError:
            return ""

    def names_or_empty(self, path: str) -> List[str]:
        """Return the names in a directory; empty if it does not exist or cannot be read."""
        try:
            return [os.fsdecode(name) for name in os.listdir(self.at(path))]
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Return whether the path exists; a dangling link counts."""
        return os.path.lexists(self.at(path))

    def space(self, path: str) -> Any:
        """Return ``os.statvfs`` of a mount point; blocks while its file system does not respond."""
        return os.statvfs(self.at(path))

    def fact_directories(self) -> List[bytes]:
        """Return the directories of custom facts, the one with the highest precedence last.

        Without ``XDG_CONFIG_HOME`` (or with a relative one, which its specification says to
        ignore), it is ``.config`` in the home directory, but never in the home directory of another
        user: ``sudo`` may leave ``HOME`` unchanged.
        """
        config = os.environb.get(b"XDG_CONFIG_HOME", b"")
        if not config.startswith(b"/"):
            config = os.path.join(_home(), b".config")
        directories = [b"/etc/choria/ccm", os.path.join(config, b"choria/ccm")]
        return [self._root + directory for directory in directories]

    def uname(self) -> Any:
        """Return the kernel's names for itself and this host, as ``os.uname``."""
        return os.uname()

    def dump(self, kind: int) -> List[bytes]:
        """Return the payloads of one rtnetlink dump, such as ``netlink.GET_LINKS``."""
        from remote_runtime.facts import netlink

        return netlink.dump(kind)
