"""The files of a project that no rendering or preview shows (controller)."""

from __future__ import annotations

import os
from pathlib import Path

from orchestrator.project.discovery import FILE as PROJECT_FILE
from orchestrator.studio.design.form_edits import Desk
from orchestrator.studio.pages.hosts import FleetHosts

_MAX_INSPECTED_BYTES = 1 << 20  # bytes of a file
_MAX_FILES = 5_000  # of a directory
_KEYS = (b"PRIVATE KEY-----", b"AGE-SECRET-KEY-", b"$ANSIBLE_VAULT", b"$argon2")


class ClosedFiles:
    """``ccm.yaml``, hidden files, key and password files and, for users limited to some hosts, the
    inventory.
    """

    def __init__(self, desk: Desk, hosts: FleetHosts) -> None:
        self._root = str(desk.files.root)
        self._closed = set(desk.private)
        self._known: dict[Path, bool] = {}
        if hosts.visible is not None:
            self._closed |= set(map(os.path.realpath, hosts.sources))

    def has(self, path: Path) -> bool:
        """Whether a path is one of them, or a directory with one below it; checked once."""
        if path not in self._known:
            self._known[path] = self._find(path)
        return self._known[path]

    def _find(self, path: Path) -> bool:
        if not os.path.isdir(path):
            return self._is_closed(os.path.realpath(path))
        found = 0
        for at, directories, names in os.walk(path):
            found += len(names)
            places = [os.path.join(at, name) for name in (*names, *directories)]
            if found > _MAX_FILES or any(map(self._is_closed, map(os.path.realpath, places))):
                return True
        return False

    def _is_closed(self, real: str) -> bool:
        below = os.path.relpath(real, self._root)
        is_hidden = any(one.startswith(".") for one in below.split(os.sep))
        is_own = os.path.basename(real) == PROJECT_FILE or real in self._closed
        return is_hidden or is_own or (os.path.isfile(real) and _is_key(real))


def _is_key(path: str) -> bool:
    with open(path, "rb") as file:
        data = file.read(_MAX_INSPECTED_BYTES)
    return any(mark in data for mark in _KEYS)
