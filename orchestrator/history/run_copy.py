"""Copies a run directory to a history, while the run grows and afterwards (controller).

Only complete lines are copied, starting where the copy of each file ends. A copy can therefore be
continued at any time by any process of the same user, and copying twice changes nothing.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

from orchestrator.history.location import HistoryError
from orchestrator.history.run_names import LINES, RUN_FILE
from orchestrator.support.atomic_file import replacing

MARK = "history.json"
"""The file of a run directory that names the history of the run, and how much of the run the
history has."""
MAX_LINE = 16 << 20  # bytes
MAX_RUN_FILE = 16 << 20  # bytes


class RunCopyTarget(Protocol):
    """The copy of a run in a history. CcmError and OSError if it cannot be stored.

    ``max_data`` is the maximum number of bytes for one ``append``, unless a line is longer.
    """

    max_data: int

    def sizes(self) -> dict[str, int]:
        """The files of the copy with their sizes in bytes."""

    def hold(self) -> bool:
        """Mark the run as in progress until ``close``; False if another process copies it."""

    def append(self, name: str, at: int, data: bytes) -> int:
        """Append data that begins ``at`` this offset; return the size of the file afterwards. Data
        for another offset is not stored.
        """

    def write_about(self, text: bytes) -> None:
        """Replace run.json."""

    def beat(self) -> None:
        """Show that the run is still active although there is nothing new."""

    def close(self) -> None:
        """Release the copy."""


class RunCopy:
    """Brings the copy of a run up to date with each ``advance``."""

    def __init__(
        self, source: Path, address: str, open_copy: Callable[[str, bytes], RunCopyTarget]
    ) -> None:
        self._source = source
        self._address = address
        self._open_copy = open_copy
        self._copy: RunCopyTarget | None = None
        self._sizes: dict[str, int] = {}
        self._about = b""

    def mark(self) -> None:
        """Mark the run as pending, before any of it is copied."""
        write_mark(self._source, self._address, {})

    def advance(self) -> bool:
        """Copy new lines; return whether there were any. CcmError, OSError."""
        about = _read_about(self._source)
        if self._copy is None:
            self._begin(about)
        assert self._copy is not None
        # Lines refer to earlier files only, so the size of an earlier file is taken later.
        sizes = {name: _size(self._source / name) for name in reversed(LINES)}
        copied = [self._advance(self._copy, name, sizes[name]) for name in LINES]
        if about != self._about:
            # The last one: a reader takes a run that has ended as complete.
            self._copy.write_about(about)
            self._about = about
            copied.append(True)
        if not any(copied):
            self._copy.beat()
        return any(copied)

    def finish(self) -> None:
        """Finish the copy, and record that it is complete. CcmError, OSError."""
        while self.advance():
            pass
        write_mark(self._source, self._address, {**self._sizes, RUN_FILE: len(self._about)})

    def close(self) -> None:
        """Release the copy; the next ``advance`` opens it again."""
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _begin(self, about: bytes) -> None:
        begun = {**json.loads(about), "end": None, "interrupted": False}
        begun.pop("incomplete", None)
        text = json.dumps(begun).encode("ascii") + b"\n"
        self._copy = self._open_copy(self._source.name, text)
        self._sizes = self._copy.sizes()
        self._about = b""
        if RUN_FILE not in self._sizes:
            self._copy.write_about(text)
        if not self._copy.hold():
            self.close()
            raise HistoryError(
                f"run {self._source.name} is being copied by another process",
                hint="wait until it has ended",
            )

    def _advance(self, copy: RunCopyTarget, name: str, size: int) -> bool:
        copied = False
        for data in self._new(name, size, copy.max_data):
            at = self._sizes.get(name, 0)
            self._sizes[name] = copy.append(name, at, data)
            if self._sizes[name] != at + len(data):
                raise HistoryError(
                    f"{name} of run {self._source.name} changed in the history",
                    hint="copy it again",
                )
            copied = True
        return copied

    def _new(self, name: str, size: int, maximum: int) -> Iterator[bytes]:
        """The complete lines after the copied ones, up to this size of the file."""
        if size <= self._sizes.get(name, 0):
            return
        with open(os.open(self._source / name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            file.seek(self._sizes.get(name, 0))
            while data := file.read(min(maximum, size - file.tell())):
                if b"\n" not in data:
                    data += file.readline(MAX_LINE)
                    if len(data) >= MAX_LINE:
                        raise HistoryError(
                            f"a line of {name} is too long for a history",
                            hint="read the run on this machine",
                        )
                whole = data[: data.rfind(b"\n") + 1]
                if not whole:
                    return
                file.seek(len(whole) - len(data), os.SEEK_CUR)
                yield whole


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _read_about(source: Path) -> bytes:
    with open(os.open(source / RUN_FILE, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        text = file.read(MAX_RUN_FILE + 1)
    if len(text) > MAX_RUN_FILE:
        raise HistoryError(
            f"{source / RUN_FILE} is too large for a history", hint="read the run on this machine"
        )
    return text


def write_mark(source: Path, address: str, sizes: dict[str, int]) -> None:
    """Record how much of a run is in a history. OSError."""
    with replacing(source / MARK) as out:
        out.write(json.dumps({"history": address, "sizes": sizes}).encode("ascii") + b"\n")


def is_pending(source: Path, address: str) -> bool:
    """Whether a run is meant for a history but is not, or not completely, there."""
    try:
        found: Any = json.loads((source / MARK).read_bytes())
        meant, sizes = found["history"] == address, found["sizes"]
        return meant and any(
            sizes.get(name) != (source / name).stat().st_size
            for name in (RUN_FILE, *LINES)
            if (source / name).exists()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
