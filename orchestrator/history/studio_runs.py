"""The runs of a studio, read through copies on this machine (controller).

The copies are in ccm's state directory, accessible only to this user. A complete run is fetched
once. The data of the studio is not trusted: only files of a fixed list are stored, in limited
numbers and sizes.
"""

import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.history.location import HistoryError, HistoryLocation
from orchestrator.history.run_names import LINES, RUN_FILE, is_run_id
from orchestrator.history.studio_client import StudioClient
from orchestrator.support.atomic_file import replacing
from orchestrator.support.state_directory import make_private, state_directory

MAX_RUN = 1 << 30  # bytes
MAX_RUNS = 100_000
KEPT = 200  # copies
_CHUNK = 1 << 20


class _Listed(NamedTuple):
    """A run of the studio: the sizes of its files, and whether it is in progress."""

    files: dict[str, int]
    active: bool


class StudioRuns:
    """Fetches runs of a studio when they are read. CcmError if it cannot be reached."""

    def __init__(self, choice: HistoryLocation) -> None:
        self._client = StudioClient(choice)
        digest = hashlib.sha256(choice.address.encode()).hexdigest()[:16]
        self._directory = state_directory() / "histories" / digest
        self._listed: dict[str, _Listed] | None = None
        self._held: list[int] = []

    @property
    def label(self) -> str:
        """The address of the studio."""
        return self._client.label

    def names(self) -> list[str]:
        """The names of the runs, newest first."""
        return sorted(self._runs(), reverse=True)

    def path(self, name: str) -> Path:
        """The copy of a run, brought up to date. CcmError, OSError."""
        listed = self._runs()[name]
        copy = make_private(self._directory) / name
        copy.mkdir(mode=0o700, exist_ok=True)
        total = sum(listed.files.values())
        if total > MAX_RUN or RUN_FILE not in listed.files:
            raise HistoryError(f"run {name} is not a valid run", hint="read it in the studio")
        for file in (*LINES, RUN_FILE):
            if file in listed.files:
                self._fetch(name, file, listed.files[file], copy)
        if listed.active:
            self._hold(copy)
        self._prune(name)
        return copy

    def _runs(self) -> dict[str, _Listed]:
        if self._listed is None:
            found = self._client.get("/runs").document().get("runs")
            if not isinstance(found, list) or len(found) > MAX_RUNS:
                raise HistoryError("the studio does not list its runs", hint="check its version")
            self._listed = dict(map(_listed, found))
        return self._listed

    def _fetch(self, run_id: str, name: str, size: int, copy: Path) -> None:
        path = copy / name
        have = path.stat().st_size if path.exists() else 0
        if have == size:
            return
        if name == RUN_FILE:
            text = self._content(run_id, name, 0, size)
            json.loads(text)
            with replacing(path) as out:
                out.write(text)
            return
        have = 0 if have > size else have
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        handle = os.open(path, flags, 0o600)
        with open(handle, "wb") as file:
            os.ftruncate(handle, have)
            while have < size and (data := self._content(run_id, name, have, size - have)):
                file.write(data)
                have += len(data)

    def _content(self, run_id: str, name: str, at: int, maximum: int) -> bytes:
        """A part of a file; for run.json, all of it."""
        found = bytearray()
        while len(found) < maximum:
            answer = self._client.get(f"/runs/{run_id}/{name}?at={at + len(found)}", _CHUNK)
            found += answer.body
            if name != RUN_FILE or not answer.body:
                break
        return bytes(found[:maximum])

    def _hold(self, copy: Path) -> None:
        """Show that a run is in progress, as long as this process reads it."""
        handle = os.open(copy / "events.jsonl", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        self._held.append(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process reads it, too
            return

    def _prune(self, current: str) -> None:
        names = sorted(filter(is_run_id, os.listdir(self._directory)), reverse=True)
        for name in names[KEPT:]:
            if name != current:
                shutil.rmtree(self._directory / name, ignore_errors=True)


def _listed(record: Any) -> tuple[str, _Listed]:
    """A line of the list; HistoryError if its format is not that of a studio."""
    try:
        run_id, files = record["id"], record["files"]
        sizes = {name: files[name] for name in (RUN_FILE, *LINES) if name in files}
        if not is_run_id(run_id) or not all(
            type(one) is int and one >= 0 for one in sizes.values()
        ):
            raise ValueError(run_id)
        return run_id, _Listed(sizes, record["active"] is True)
    except (LookupError, TypeError, ValueError) as error:
        raise HistoryError("the studio lists an invalid run", hint="check its version") from error
