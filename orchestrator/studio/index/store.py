"""The file of the index, its writer, and the numbers of runs in it (controller).

``STATE/studio/index.sqlite``, mode 0600. All of its data comes from run directories, so a damaged
file or a file of another version is deleted and rebuilt.
"""

import calendar
import contextlib
import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.studio.index.host_state import LOOKED_AT, PastResult, sort_key, state_of
from orchestrator.studio.index.run_reader import Change, HostRow, IndexedRun, Plan
from orchestrator.studio.index.schema import FORMAT, TABLES
from orchestrator.support.hashing import sha256
from orchestrator.support.state_directory import make_private
from remote_runtime.version import VERSION

_ID = re.compile(r"(\d{8}T\d{6})Z-([0-9a-f]{1,7})")
_DIGITS = 7  # hexadecimal, after the time


def run_number(run_id: str) -> int | None:
    """The number of a run ID; None if it is not one."""
    found = _ID.fullmatch(run_id)
    if found is None:
        return None
    try:
        seconds = calendar.timegm(time.strptime(found[1], "%Y%m%dT%H%M%S"))
    except ValueError:
        return None
    return max(0, seconds) << 4 * _DIGITS | int(found[2].ljust(_DIGITS, "0"), 16)


DIRECTORY = "studio"
FILE = "index.sqlite"
WAIT = 10.0  # seconds for another process that writes
_OF_RUN = ("host_runs", "changes", "run_texts", "runs")
_LATEST = """
SELECT host_runs.run,
    CASE WHEN unverified > 0 AND outcome IN ('ok', 'changed') THEN 'failed' ELSE outcome END,
    started, is_push
FROM host_runs JOIN runs USING (run)
WHERE host = ? ORDER BY host_runs.run DESC LIMIT ?
"""
_HOST_RUN = f"INSERT INTO host_runs VALUES ({', '.join('?' * 15)})"
_STALE = "INSERT OR IGNORE INTO stale SELECT host FROM host_runs WHERE run = ?"
_UPDATE = """
UPDATE hosts SET outcome = ?, last = ?, since = ?, reached = ?, flips = ?, flaps_since = ?,
    rank = ?, plan = (
    SELECT plan FROM host_runs WHERE host_runs.host = hosts.host AND plan IS NOT NULL
    ORDER BY run DESC LIMIT 1
) WHERE host = ?
"""


class IndexStore:
    """Writes the index; to be used by one thread. OSError and UsageError for an
    unusable directory.
    """

    def __init__(self, state: Path) -> None:
        self.path = make_private(state / DIRECTORY) / FILE
        self._database = self._opened()
        self._hosts = self._numbers("hosts", "host", "name")
        self._resources = self._numbers("resources", "resource", "name")
        self._plans: dict[Plan, int] = {}

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._connected()
        except sqlite3.DatabaseError:
            self._delete()
            return self._connected()

    def _connected(self) -> sqlite3.Connection:
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        database = sqlite3.connect(
            self.path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        version = f"{FORMAT} {VERSION}"
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")  # a copy: it is built again
            known = database.execute("SELECT name FROM sqlite_master WHERE name = 'about'")
            if known.fetchone() is None:
                database.executescript(f"BEGIN;{TABLES}CREATE TABLE about (version TEXT);COMMIT;")
                database.execute("INSERT INTO about VALUES (?)", (version,))
            elif database.execute("SELECT version FROM about").fetchone() != (version,):
                raise sqlite3.DatabaseError("the index has another version")
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    def _delete(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self.path}{suffix}")

    def _numbers(self, table: str, number: str, name: str) -> dict[str, int]:
        return dict(self._database.execute(f"SELECT {name}, {number} FROM {table}"))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def stamps(self) -> dict[str, str]:
        """The stamp of each run in the index, by its ID."""
        return dict(self._database.execute("SELECT id, stamp FROM runs"))

    def store(self, found: IndexedRun, stamp: str) -> None:
        """Store a run, replacing an earlier version. ``update`` derives the states of its hosts."""
        run = run_number(found.run_id)
        if run is None:
            return
        with self._transaction():
            self._forget(run)
            self._store_run(run, found, stamp)
            self._database.executemany(
                _HOST_RUN, [self._host_row(run, host) for host in found.hosts]
            )
            self._store_changes(run, found.changes)
            self._database.execute(_STALE, (run,))

    def store_unreadable(self, run_id: str, stamp: str, problem: str) -> None:
        """Record that a run cannot be read, and the reason."""
        run = run_number(run_id)
        if run is None:
            return
        with self._transaction():
            self._forget(run)
            self._insert(
                "runs", run=run, id=run_id, stamp=stamp, state="unreadable", problem=problem,
                start=float(run >> 28), end=None, command="", noop=0, is_push=0, subject="",
                manifest="", who="", version="", revision="", hosts=0, outcomes="{}",
                statuses="{}", drifted=0, compared=0, as_predicted=0, verified="", sections="{}",
            )  # fmt: skip

    def remove(self, run_id: str) -> None:
        """Remove a run."""
        run = run_number(run_id)
        if run is not None:
            with self._transaction():
                self._forget(run)

    def update(self) -> None:
        """Derive the states of the hosts in stored or removed runs."""
        with self._transaction():
            hosts = self._database.execute("SELECT host FROM stale").fetchall()
            for (host,) in hosts:
                rows = self._database.execute(_LATEST, (host, LOOKED_AT))
                state = state_of(PastResult(*row) for row in rows)
                self._database.execute(_UPDATE, (*state, host))
            self._database.execute("DELETE FROM stale")

    def list_hosts(self, names: frozenset[str]) -> None:
        """Mark the hosts of the inventory, and add those without a run."""
        with self._transaction():
            self._database.execute("UPDATE hosts SET listed = 0")
            numbers = [(self._host(name),) for name in names]
            self._database.executemany("UPDATE hosts SET listed = 1 WHERE host = ?", numbers)

    def _forget(self, run: int) -> None:
        self._database.execute(_STALE, (run,))
        for table in _OF_RUN:
            self._database.execute(f"DELETE FROM {table} WHERE run = ?", (run,))

    def _store_run(self, run: int, found: IndexedRun, stamp: str) -> None:
        about, sections = found.about, found.sections
        self._insert(
            "runs", run=run, id=found.run_id, stamp=stamp, state=found.state, problem="",
            start=about["start"], end=about["end"], command=about["command"], noop=about["noop"],
            is_push=found.is_push, subject=found.subject, manifest=about["manifest"],
            who=found.who, version=found.version, revision=found.commit, hosts=len(found.hosts),
            outcomes=json.dumps(sections["outcomes"]), statuses=json.dumps(sections["statuses"]),
            drifted=found.drifted, compared=found.compared, as_predicted=found.as_predicted,
            verified=sections["verified"], sections=json.dumps(sections),
        )  # fmt: skip

    def _host_row(self, run: int, host: HostRow) -> tuple[Any, ...]:
        """A row of ``host_runs``, in the order of its columns."""
        return (
            self._host(host.host), run, host.outcome, host.started, host.changed, host.failed,
            host.seconds, host.message, host.unverified, host.groups, host.rank,
            None if host.plan is None else self._plan(host.plan),
            None if host.names == [host.host] else json.dumps(host.names),
            host.places, host.results,
        )  # fmt: skip

    def _store_changes(self, run: int, changes: list[Change]) -> None:
        texts: dict[str, int] = {}
        counts: dict[tuple[int, int, str], int] = {}
        rows = []
        for one in changes:
            if one.words not in texts:
                texts[one.words] = self._text(one.words)
            text, resource = texts[one.words], self._resource(one.resource)
            row = (self._host(one.host), resource, run, one.status, text, one.drift, one.noop)
            rows.append((*row, one.content))
            key = (text, resource, one.status)
            counts[key] = counts.get(key, 0) + 1
        self._database.executemany("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self._database.executemany(
            "INSERT INTO run_texts VALUES (?, ?, ?, ?, ?)",
            [(run, *key, number) for key, number in counts.items()],
        )

    def _host(self, name: str) -> int:
        return self._named(self._hosts, "hosts", name, sort=sort_key(name))

    def _resource(self, name: str) -> int:
        return self._named(self._resources, "resources", name)

    def _named(self, known: dict[str, int], table: str, name: str, **members: str) -> int:
        if name not in known:
            number = table.removesuffix("s")
            found = self._database.execute(f"SELECT {number} FROM {table} WHERE name = ?", (name,))
            row: tuple[int] | None = found.fetchone()  # of another studio over the same runs
            known[name] = row[0] if row else self._insert(table, name=name, **members)
        return known[name]

    def _text(self, words: str) -> int:
        found = self._database.execute("SELECT text FROM texts WHERE words = ?", (words,))
        row: tuple[int] | None = found.fetchone()
        return row[0] if row else self._insert("texts", words=words)

    def _plan(self, plan: Plan) -> int:
        if plan in self._plans:
            return self._plans[plan]
        names, edges = plan
        digest = sha256(json.dumps(plan).encode("utf-8", "replace")).digest()
        found = self._database.execute("SELECT plan FROM plans WHERE digest = ?", (digest,))
        row: tuple[int] | None = found.fetchone()
        if row is None:
            resources = [self._resource(name) for name in names]
            pairs = [
                [self._resource(one), self._resource(other), kind] for one, other, kind in edges
            ]
            number = self._insert(
                "plans", digest=digest, resources=json.dumps(resources), edges=json.dumps(pairs)
            )
            self._database.executemany(
                "INSERT INTO plan_resources VALUES (?, ?)",
                [(resource, number) for resource in dict.fromkeys(resources)],
            )
            row = (number,)
        self._plans[plan] = row[0]
        return row[0]

    def _insert(self, table: str, **members: Any) -> int:
        """Insert a row; the names of tables and columns come from this module."""
        columns, marks = ", ".join(members), ", ".join("?" * len(members))
        done = self._database.execute(
            f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(members.values())
        )
        return int(done.lastrowid or 0)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")
