"""Read-only access to the index, for any thread (controller)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

WAIT = 5.0  # seconds, for a writer

Row = sqlite3.Row


class IndexReader:
    """Answers queries; one connection for each thread. Values are always bound, never text."""

    def __init__(self, path: Path) -> None:
        self._address = f"file:{quote(str(path))}?mode=ro"
        self._local = threading.local()

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
            self._local.connection = found
        return found


def marks(values: list[Any]) -> str:
    """The placeholders for so many values."""
    return ", ".join("?" * len(values))


def like(text: str) -> str:
    """A pattern for LIKE with ``ESCAPE '\\'`` that finds the text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
