"""The data that every page uses, also for some groups only, and requests (controller)."""

import json
import threading
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from orchestrator.fleet.store.saved_runs import SavedRun
from orchestrator.report.html.matrix import HOST_LETTERS, LETTERS
from orchestrator.report.wording import listed, shown_status
from orchestrator.studio.index.host_slice import HostPlace
from orchestrator.studio.index.reader import IndexReader, Row
from orchestrator.studio.index.run_reader import stamp_of
from orchestrator.studio.index.updater import IndexKeeper
from orchestrator.studio.pages.hosts import FleetHosts, HostsOfGroups

MARKS = {**LETTERS, **HOST_LETTERS, "ok": "·", "waiting": "H", "running": "…"}
"""A letter for each outcome, so that no outcome is distinguished by color alone."""
_WORDS = {"ok": "unchanged", "defect": "internal error", "waiting": "not started"}


def outcome_words(outcome: str, noop: bool) -> str:
    """The labels of host outcomes and resource statuses."""
    return _WORDS.get(outcome) or shown_status(outcome, bool(noop))


MAX_PARAMETER_LENGTH = 300  # characters of a parameter
MAX_PAGE = 100_000
ROWS = 100  # hosts on a page of the matrix


class Page(NamedTuple):
    """A template with its values; ``live`` is the run, or "*" for any, whose updates affect it."""

    template: str
    title: str
    values: dict[str, Any]
    status: int = 200
    live: str | None = None


class MissingPageError(Exception):
    """The requested object does not exist; the message names it."""


class Parameters:
    """The parameters of an address: untrusted strings of limited length."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {name: text[:MAX_PARAMETER_LENGTH].strip() for name, text in values.items()}

    def text(self, name: str) -> str:
        """Return the value of a parameter; "" if it is missing."""
        return self._values.get(name, "")

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of the allowed words; the first one if the value is not allowed."""
        found = self.text(name)
        return found if found in choices else choices[0]

    @property
    def page(self) -> int:
        """The page number, starting at 1."""
        text = self.text("page")
        number = int(text) if text.isdecimal() and len(text) < 7 else 1
        return min(max(1, number), MAX_PAGE)

    def changed(self, **members: str | int) -> str:
        """The query with changed values; empty values are omitted."""
        values = {**self._values, **{name: str(value) for name, value in members.items()}}
        return urlencode({name: text for name, text in values.items() if text})


class Pager(NamedTuple):
    """The position of a page: ``first`` to ``last`` of ``total`` rows, counted from 1."""

    total: int
    page: int
    size: int

    @property
    def offset(self) -> int:
        """The number of rows before this page."""
        return (self.page - 1) * self.size

    @property
    def first(self) -> int:
        """The number of the first row."""
        return self.offset + 1

    @property
    def last(self) -> int:
        """The number of the last row."""
        return min(self.total, self.offset + self.size)

    @property
    def before(self) -> int:
        """The number of the previous page; 0 if there is none."""
        return self.page - 1

    @property
    def after(self) -> int:
        """The number of the next page; 0 if there is none."""
        return self.page + 1 if self.last < self.total else 0


def pager(total: int, parameters: Parameters, size: int = ROWS) -> Pager:
    """The requested page, or the last one."""
    last = max(1, -(-total // size))
    return Pager(total, min(parameters.page, last), size)


MAX_HOSTS_LENGTH = 300  # characters of hosts
NEWEST = 50  # the latest runs, whose changes are detected
MAX_FOLDED_NAMES = 2_000  # names that are written in short
RUN_COLUMNS = (
    "run, id, state, problem, start, end, command, noop, is_push, subject, manifest, who, version,"
    " revision, hosts, outcomes, statuses, drifted, compared, as_predicted, verified"
)


class Studio(NamedTuple):
    """The index, the run directories in ``state``, and the hosts of the inventory; ``is_part``: the
    user sees only some of the hosts.
    """

    state: Path
    keeper: IndexKeeper
    reader: IndexReader
    hosts: FleetHosts
    is_part: bool = False

    def run(self, run_id: str, columns: str = RUN_COLUMNS) -> Row:
        """A run of the index. MissingPageError."""
        found = self.reader.row(f"SELECT {columns} FROM runs WHERE id = ?", (run_id,))
        if found is None:
            raise MissingPageError(f"There is no run {run_id[:60]!r}. It may have been removed.")
        return found

    def saved(self, run_id: str) -> SavedRun:
        """The directory of a run in the index; the name of the directory is the run ID.

        MissingPageError if it was removed or replaced by a symbolic link.
        """
        directory = self.state / "runs" / self.run(run_id, "id")["id"]
        if not stamp_of(directory):
            raise MissingPageError(f"The directory of run {run_id[:60]!r} was removed.")
        return SavedRun(directory)

    def version_of(self, run_id: str) -> int:
        """A counter of the changes to a run; without a run, of all visible changes."""
        if run_id:
            return self.keeper.version_of(run_id)
        if not self.is_part:
            return self.keeper.version
        rows = self.reader.rows("SELECT id, stamp FROM runs ORDER BY run DESC LIMIT ?", (NEWEST,))
        return zlib.crc32(repr([tuple(row) for row in rows]).encode())

    def host(self, name: str) -> Row:
        """A host of the index. MissingPageError."""
        found = self.reader.row("SELECT * FROM hosts WHERE name = ?", (name,))
        if found is None:
            raise MissingPageError(
                f"Neither a run nor the inventory contains the host {name[:80]!r}."
            )
        return found


def moment(seconds: float | None) -> str:
    """A time as text, in UTC; "" for none."""
    return "" if seconds is None else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def hosts_text(names: Sequence[str], maximum: int = MAX_HOSTS_LENGTH) -> str:
    """The names of any number of hosts, shortened to about this many characters."""
    text = listed(list(names[:MAX_FOLDED_NAMES]), maximum)
    left = len(names) - MAX_FOLDED_NAMES
    return f"{text}, … {left:,} more" if left > 0 else text


def names_of(studio: Studio, hosts: list[int]) -> list[str]:
    """The names of hosts by their numbers, in order."""
    rows = studio.reader.rows(
        "SELECT name FROM hosts WHERE host IN (SELECT value FROM json_each(?)) ORDER BY sort",
        (json.dumps(hosts),),
    )
    return [row["name"] for row in rows]


def resource_names(studio: Studio, resources: str) -> dict[int, str]:
    """The names of resources from a JSON list of their numbers."""
    rows = studio.reader.rows(
        "SELECT resource, name FROM resources WHERE resource IN (SELECT value FROM json_each(?))",
        (resources,),
    )
    return {row["resource"]: row["name"] for row in rows}


def runs_by_number(studio: Studio, runs: Iterable[int | None]) -> dict[int, Row]:
    """The users who started these runs, and the times."""
    rows = studio.reader.rows(
        "SELECT run, id, start, who, version FROM runs"
        " WHERE run IN (SELECT value FROM json_each(?))",
        (json.dumps([run for run in runs if run is not None]),),
    )
    return {row["run"]: row for row in rows}


def place_of(row: Row, name: str) -> HostPlace:
    """The positions of a host's lines in a run, from a row of ``host_runs``."""
    names = json.loads(row["names"]) if row["names"] else [name]
    return HostPlace(names, row["places"], row["results"])


MAX_PARTS = 32  # different sets of groups that are ready


class _Part(NamedTuple):
    """The hosts of some groups, and the reader for their ``names``."""

    hosts: HostsOfGroups
    names: frozenset[str]
    reader: IndexReader


class VisibleParts:
    """The parts of a studio that users of certain groups see. Thread-safe.

    For them, other hosts do not exist on pages, in searches, in feeds or in badges.
    """

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
