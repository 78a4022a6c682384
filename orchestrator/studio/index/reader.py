"""Read-only access to the index, for any thread (controller).

A reader for some hosts has views with the names of the tables: queries find only these hosts, and
the runs that include one of them. A run that also includes other hosts counts only the visible
ones, and has no sections.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

WAIT = 5.0  # seconds, for a writer

Row = sqlite3.Row


_OWN_HOSTS = """
CREATE TEMP TABLE allowed (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP VIEW hosts AS
    SELECT * FROM main.hosts WHERE name IN (SELECT name FROM temp.allowed);
CREATE TEMP VIEW host_runs AS
    SELECT * FROM main.host_runs WHERE host IN (SELECT host FROM temp.hosts);
CREATE TEMP VIEW changes AS
    SELECT * FROM main.changes WHERE host IN (SELECT host FROM temp.hosts);
CREATE TEMP VIEW run_texts AS
    SELECT run, text, resource, status, count(*) AS hosts FROM temp.changes
    GROUP BY run, text, resource, status;
CREATE TEMP VIEW resources AS
    SELECT * FROM main.resources WHERE resource IN (SELECT resource FROM temp.changes)
    OR resource IN (SELECT resource FROM main.plan_resources
        WHERE plan IN (SELECT plan FROM temp.host_runs));
CREATE TEMP VIEW runs AS
    SELECT run, id, stamp, state, problem, start, end, command, noop, is_push, subject, manifest,
        who, version, revision,
        CASE others WHEN 0 THEN hosts ELSE (
            SELECT count(*) FROM temp.host_runs WHERE host_runs.run = found.run
        ) END AS hosts,
        CASE others WHEN 0 THEN outcomes ELSE (
            SELECT json_group_object(outcome, number) FROM (
                SELECT outcome, count(*) AS number FROM temp.host_runs
                WHERE host_runs.run = found.run GROUP BY outcome)
        ) END AS outcomes,
        CASE others WHEN 0 THEN statuses ELSE (
            SELECT json_group_object(status, number) FROM (
                SELECT status, count(*) AS number FROM temp.changes
                WHERE changes.run = found.run GROUP BY status)
        ) END AS statuses,
        CASE others WHEN 0 THEN drifted ELSE (
            SELECT count(*) FROM temp.changes WHERE changes.run = found.run AND drift != ''
        ) END AS drifted,
        CASE others WHEN 0 THEN compared ELSE 0 END AS compared,
        CASE others WHEN 0 THEN as_predicted ELSE 0 END AS as_predicted,
        CASE others WHEN 0 THEN verified ELSE (
            SELECT CASE WHEN sum(unverified) THEN sum(unverified) || ' failed'
                WHEN count(unverified) THEN 'ok' ELSE '' END
            FROM temp.host_runs WHERE host_runs.run = found.run
        ) END AS verified,
        CASE others WHEN 0 THEN sections ELSE '' END AS sections
    FROM (
        SELECT *, EXISTS (
            SELECT 1 FROM main.host_runs WHERE host_runs.run = runs.run
            AND host NOT IN (SELECT host FROM temp.hosts)
        ) AS others
        FROM main.runs
        WHERE EXISTS (SELECT 1 FROM temp.host_runs WHERE host_runs.run = runs.run)
    ) AS found;
"""


class IndexReader:
    """Answers queries; one connection per thread.

    Values are always bound, never inserted into the text of a query. With ``hosts``, only these
    exist.
    """

    def __init__(self, path: Path, hosts: Iterable[str] | None = None) -> None:
        self._path = path
        self._hosts = None if hosts is None else tuple(hosts)
        self._address = f"file:{quote(str(path))}?mode=ro"
        self._local = threading.local()

    def of_hosts(self, hosts: Iterable[str]) -> IndexReader:
        """A reader that sees only these hosts."""
        return IndexReader(self._path, hosts)

    def rows(self, query: str, values: Iterable[Any] = ()) -> list[Row]:
        """All rows of a query."""
        return self._connection().execute(query, tuple(values)).fetchall()

    def row(self, query: str, values: Iterable[Any] = ()) -> Row | None:
        """The first row of a query; None without one."""
        found: Row | None = self._connection().execute(query, tuple(values)).fetchone()
        return found

    def value(self, query: str, values: Iterable[Any] = ()) -> Any:
        """The first value of the first row; None without one."""
        found = self.row(query, values)
        return None if found is None else found[0]

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = sqlite3.connect(self._address, uri=True, timeout=WAIT)
            found.row_factory = sqlite3.Row
            if self._hosts is not None:
                found.executescript(_OWN_HOSTS)
                rows = [(name,) for name in self._hosts]
                found.executemany("INSERT INTO temp.allowed VALUES (?)", rows)
                found.commit()
            self._local.connection = found
        return found


def like(text: str) -> str:
    """A pattern for LIKE with ``ESCAPE '\\'`` that finds the text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
