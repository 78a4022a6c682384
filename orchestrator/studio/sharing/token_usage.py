"""The disk space that the runs of each token use, and refused requests (controller)."""

import os
from pathlib import Path

from orchestrator.history.run_names import is_run_id, owner_of
from orchestrator.support.plain_text import one_line

_MAX_LENGTH = 200  # characters


class RefusalError(Exception):
    """A refused request, with the HTTP status and the text of the response."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = one_line(text, _MAX_LENGTH)


_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class TokenUsage:
    """Counts the bytes of the runs of each token, which are limited.

    They are counted on disk once, after ``forget``, and before a post is refused. Not thread-safe.
    """

    def __init__(self, runs: Path, maximum: int) -> None:
        self._runs = runs
        self._maximum = maximum
        self._bytes: dict[str, int] | None = None

    def require(self, name: str, size: int) -> None:
        """RefusalError if this many more bytes would be too many."""
        if self._of(name) + size <= self._maximum:
            return
        self.forget()  # somebody may have removed runs
        used = self._of(name)
        if used + size > self._maximum:
            raise RefusalError(
                413,
                f"the runs of the token {name} use {_shown(used)}, and the studio stores"
                f" {_shown(self._maximum)} for each token: remove runs, or raise --token-space",
            )

    def add(self, name: str, size: int) -> None:
        """Record that this many bytes were stored."""
        if self._bytes is not None:
            self._bytes[name] = self._bytes.get(name, 0) + size

    def forget(self) -> None:
        """Count again, because runs were removed."""
        self._bytes = None

    def _of(self, name: str) -> int:
        if self._bytes is None:
            self._bytes = self._counted()
        return self._bytes.get(name, 0)

    def _counted(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for run_id in os.listdir(self._runs) if self._runs.is_dir() else ():
            owner = owner_of(self._runs / run_id) if is_run_id(run_id) else ""
            if owner:
                found[owner] = found.get(owner, 0) + _size(self._runs / run_id)
        return found


def _size(directory: Path) -> int:
    """The bytes of the files of a run; files that disappear during this count as empty."""
    try:
        with os.scandir(directory) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except OSError:
        return 0


def _shown(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
