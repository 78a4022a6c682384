"""The hosts of the inventory, for the pages (controller)."""

import fnmatch
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inventory import Host, Inventory, load
from inventory.selection import Selector
from inventory.sources import is_program
from orchestrator.fleet.store.fact_cache import FactCache, HostRecord
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError, InputError

PAUSE = 10.0  # seconds between two looks at the files
PROGRAM_PAUSE = 60.0  # seconds between two runs of an inventory program
_MAX_LENGTH = 500  # characters of a problem
_SIGNS = frozenset(":&!,[]")
_REFUSED = frozenset("@~")  # a file, a regular expression


class Selection(NamedTuple):
    """The hosts that match a filter; None for all. ``problem`` is the reason why a
    filter cannot be used.
    """

    names: frozenset[str] | None
    problem: str = ""


class FleetHosts:
    """The inventory, read again when one of its files changes; without one, all hosts in stored
    runs.

    An inventory program runs again every minute; in the meantime, pages show its previous output. A
    damaged inventory is a ``problem`` for the page, and the last valid one remains in use.
    """

    def __init__(self, sources: Sequence[str], state: Path) -> None:
        self.sources = tuple(sources)
        self.state = state
        self._facts = FactCache(state)
        self._lock = threading.Lock()
        self._stamps: tuple[object, ...] | None = None
        self._checked = self._loaded = 0.0
        self._loading: threading.Thread | None = None
        self._inventory: Inventory | None = None
        self._problem = ""

    @property
    def problem(self) -> str:
        """The problem of the inventory; "" for none."""
        return self._problem

    @property
    def inventory(self) -> Inventory | None:
        """The inventory; None without one, or if it was never valid."""
        if self.sources:
            with self._lock:
                if self._stamps is None or time.monotonic() - self._checked >= PAUSE:
                    self._check()
        return self._inventory

    def _check(self) -> None:
        """Read the inventory if it is due: files immediately, programs in a thread."""
        self._checked = time.monotonic()
        if self._loading is not None and self._loading.is_alive():
            return
        stamps = tuple(map(_stamp, self.sources))
        first, changed = self._stamps is None, stamps != self._stamps
        self._stamps = stamps
        if first or not any(map(is_program, self.sources)):
            if changed or self._problem:
                self._load()
        elif changed or self._checked - self._loaded >= PROGRAM_PAUSE:
            self._loading = threading.Thread(target=self._load, name="inventory", daemon=True)
            self._loading.start()

    def _load(self) -> None:
        try:
            self._inventory = load(self.sources)
            self._problem = ""
        except CcmError as error:
            self._problem = one_line(_words(error), _MAX_LENGTH)
        self._loaded = time.monotonic()

    def names(self) -> frozenset[str] | None:
        """The names of all hosts; None without an inventory."""
        found = self.inventory
        return None if found is None else frozenset(found.hosts)

    @property
    def visible(self) -> frozenset[str] | None:
        """The hosts that a user may see; None for all."""
        return None

    def groups(self) -> list[str]:
        """The groups, by name."""
        found = self.inventory
        return sorted(found.groups) if found else []

    def of_groups(self, groups: tuple[str, ...]) -> frozenset[str]:
        """The hosts in these groups; none for a group that the inventory does not have."""
        found = [self.select("", group, ()) for group in groups if group in self.groups()]
        return frozenset().union(*(one.names or () for one in found))

    def host(self, name: str) -> Host | None:
        """The host with this name."""
        found = self.inventory
        try:
            return found.host(name) if found else None
        except CcmError:
            return None

    def facts(self, name: str) -> HostRecord | None:
        """The stored facts of a host, which are untrusted data."""
        host = self.host(name)
        return self._facts.of(host) if host else None

    def select(self, pattern: str, group: str, known: Sequence[str]) -> Selection:
        """The hosts of a pattern and a group: as for ``-l``, without files and regular expressions.
        A word that is not a pattern matches parts of names.
        """
        if not pattern and not group:
            return Selection(None)
        if set(pattern + group) & _REFUSED:
            return Selection(frozenset(), "patterns with @ or ~ are not supported here")
        found = self.inventory
        is_pattern = bool(_SIGNS & set(pattern))
        if not is_pattern and (found is None or (not group and not self._names(pattern))):
            glob = pattern if set("*?") & set(pattern) else f"*{pattern}*"
            return Selection(frozenset(fnmatch.filter(known, glob)))
        try:
            if found is None:
                return Selection(frozenset(Selector(dict.fromkeys(known, ()), ()).select(pattern)))
            words = ":".join(filter(None, (pattern, group and f"&{group}")))
            return Selection(frozenset(host.name for host in found.select(words)))
        except CcmError as error:
            return Selection(frozenset(), one_line(_words(error), _MAX_LENGTH))

    def _names(self, word: str) -> bool:
        found = self.inventory
        return found is not None and (word in found.groups or word in found.hosts)


class HostsOfGroups(FleetHosts):
    """The hosts of some groups of an inventory, with all others hidden; empty without
    an inventory.
    """

    def __init__(self, whole: FleetHosts, groups: Iterable[str]) -> None:
        super().__init__(whole.sources, whole.state)
        self._whole = whole
        self._groups = tuple(groups)
        self._part: tuple[Inventory, Inventory] | None = None

    @property
    def inventory(self) -> Inventory | None:
        """The inventory with only these hosts."""
        whole = self._whole.inventory
        if whole is None:
            return None
        part = self._part
        if part is None or part[0] is not whole:
            self._part = part = whole, whole.among(self._whole.of_groups(self._groups))
        return part[1]

    @property
    def problem(self) -> str:
        """A fixed text if there is a problem, because the original text may name other hosts."""
        return "The inventory cannot be read." if self._whole.problem else ""

    def names(self) -> frozenset[str]:
        """The names of these hosts."""
        return super().names() or frozenset()

    @property
    def visible(self) -> frozenset[str]:
        """The names of these hosts."""
        return self.names()


def _stamp(source: str) -> tuple[int, int] | None:
    try:
        found = Path(source).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _words(error: CcmError) -> str:
    if isinstance(error, InputError) and error.problems:
        return str(error.problems[0])
    return error.message


def flat(facts: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return facts as rows of a path and a string, in order."""
    rows: list[tuple[str, str]] = []
    for key, value in facts.items():
        path = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping) and value:
            rows += flat(value, path)
        else:
            rows.append((path, value if isinstance(value, str) else repr(value)))
    return rows
