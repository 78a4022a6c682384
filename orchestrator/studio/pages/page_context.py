"""The data that every page uses (controller)."""

import json
import time
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.summary_texts import listed
from orchestrator.studio.index.host_slice import HostPlace
from orchestrator.studio.index.reader import IndexReader, Row
from orchestrator.studio.index.run_reader import stamp_of
from orchestrator.studio.index.updater import IndexKeeper
from orchestrator.studio.pages.hosts import FleetHosts
from orchestrator.studio.pages.page import MissingPageError

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
