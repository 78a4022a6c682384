"""The part of the studio that a user can see: everything, or the hosts of some groups (controller).

For a user who is limited to groups, other hosts do not exist on pages, in searches, in feeds or in
badges.
"""

import threading
from typing import NamedTuple

from orchestrator.studio.index.reader import IndexReader
from orchestrator.studio.pages.hosts import HostsOfGroups
from orchestrator.studio.pages.page_context import Studio

MAX_PARTS = 32  # different sets of groups that are ready


class _Part(NamedTuple):
    """The hosts of some groups, and the reader for their ``names``."""

    hosts: HostsOfGroups
    names: frozenset[str]
    reader: IndexReader


class VisibleParts:
    """The parts of a studio that users of certain groups see. Thread-safe."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._parts: dict[tuple[str, ...], _Part] = {}
        self._lock = threading.Lock()

    def of(self, groups: tuple[str, ...]) -> Studio:
        """The studio for a user limited to these groups; the whole studio without groups."""
        if not groups:
            return self._studio
        with self._lock:
            part = self._part(groups)
            self._parts[groups] = part
            while len(self._parts) > MAX_PARTS:
                del self._parts[next(iter(self._parts))]
        return self._studio._replace(reader=part.reader, hosts=part.hosts, is_part=True)

    def _part(self, groups: tuple[str, ...]) -> _Part:
        known = self._parts.pop(groups, None)
        hosts = known.hosts if known else HostsOfGroups(self._studio.hosts, groups)
        names = hosts.names()
        if known and known.names == names:
            return known
        return _Part(hosts, names, self._studio.reader.of_hosts(names))
