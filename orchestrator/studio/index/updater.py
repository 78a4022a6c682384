"""Keeps the index up to date with the run directories (controller)."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from orchestrator.studio.index.process_pool import ReadRun, read_all
from orchestrator.studio.index.run_reader import IndexedRun, stamp_of
from orchestrator.studio.index.store import IndexStore, run_number
from orchestrator.support.line_file import is_held
from orchestrator.support.plain_text import one_line

PAUSE = 1.0  # seconds between two checks
PAUSE_AFTER_PROBLEM = 10.0  # seconds
NEWEST = 20  # runs in each check; earlier ones hardly ever change
UPDATE = 5.0  # seconds between two updates of the states of hosts, while runs are read
UPDATE_SHARE = 20  # an update is repeated after this many times its duration
WHOLE_LOOK = 30.0  # seconds between two checks of all runs
VERIFY_SILENCE = 600.0  # seconds without a result of a verify, after which none is awaited
MAX_WAIT = 3.0  # seconds that a browser waits for the page of a run
SHARE = 4  # a run is read again after this many times its reading time
_TICK = 0.05  # seconds
_RUNNING = " running"  # behind the stamp of a run
_MAX_LENGTH = 300  # characters of a problem


class Progress(NamedTuple):
    """The progress of the index: ``known`` of ``total`` runs."""

    known: int
    total: int

    @property
    def is_complete(self) -> bool:
        """Whether every run is in it."""
        return self.known >= self.total


class IndexKeeper:
    """Reads new, changed and running runs into the index, the newest first.

    ``refresh`` checks once; ``start`` checks every second in its own thread, until ``stop``.
    ``version`` increases with each change. ``hosts`` returns the names in the inventory, None
    without one. ``ended`` receives the ID of each run that ends while this object updates the
    index; for a run with a verify, after the verify has ended.
    """

    def __init__(
        self,
        state: Path,
        hosts: Callable[[], frozenset[str] | None] = lambda: None,
        ended: Callable[[str], None] = lambda run_id: None,
    ) -> None:
        self._ended = ended
        self._active: set[str] = set()
        self._noted: set[str] = set()
        self._awaited: dict[str, float] = {}
        self._begun = time.time()
        self._names = hosts
        self._listed: frozenset[str] | None = None
        self._runs = state / "runs"
        self._store = IndexStore(state)
        self.path = self._store.path
        self.version = 0
        self.verify_silence = VERIFY_SILENCE
        self.problem = ""
        """Why the index is not up to date."""
        self.progress = Progress(0, 0)
        self._versions: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._stamps_before: dict[str, str] = {}
        self._next_whole_look = 0.0
        self._is_begun = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def version_of(self, run_id: str) -> int:
        """A number that increases with each change of a run."""
        return self._versions.get(run_id, 0)

    def wait_for(self, run_id: str) -> None:
        """Return once a run is in the index, or after ``MAX_WAIT``."""
        end = time.monotonic() + MAX_WAIT
        while run_id not in self._versions and time.monotonic() < end:
            time.sleep(_TICK)

    def start(self) -> None:
        """Keep the index up to date in the background."""
        self._thread = threading.Thread(target=self._work, name="studio-index", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the work in the background, after the run that is being read."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._store.close()

    def _work(self) -> None:
        while not self._stop.is_set():
            pause = PAUSE
            try:
                self.refresh()
                self.problem = ""
            except (
                Exception
            ) as error:  # whatever it is: pages say so, and the next look tries again
                self.problem = one_line(f"{type(error).__name__}: {error}", _MAX_LENGTH)
                pause = PAUSE_AFTER_PROBLEM
            self._stop.wait(pause)

    def forget_pauses(self) -> None:
        """Check every run the next time, and read the changed ones."""
        self._due.clear()
        self._next_whole_look = 0.0

    def refresh(self) -> bool:
        """Bring the index up to date; return whether anything changed."""
        self._list_hosts()
        stamps = self._stamps()
        known = self._store.stamps()
        gone = known.keys() - stamps.keys()
        new = [run for run in stamps if self._is_new(run, stamps[run], known.get(run, ""))]
        left = sum(run not in known for run in stamps)
        self.progress = Progress(len(stamps) - left, len(stamps))
        for run_id in gone:
            self._store.remove(run_id)
        next_update = time.monotonic() + UPDATE
        newest_first = [self._runs / run_id for run_id in sorted(new, reverse=True)]
        begin = time.monotonic()
        for read in read_all(newest_first):
            if self._stop.is_set():
                break
            run_id = read.directory.name
            self._store_run(read, stamps[run_id], time.monotonic() - begin)
            begin = time.monotonic()
            self._versions[run_id] = self._versions.get(run_id, 0) + 1
            left -= run_id not in known
            self.progress = Progress(len(stamps) - left, len(stamps))
            if time.monotonic() >= next_update:
                next_update = self._update_between()
        if gone or new or not self._is_begun:
            self._update()
            self._is_begun = True
        for run_id, until in list(self._awaited.items()):
            if time.monotonic() >= until:
                self._report_end(run_id)
        return bool(gone or new)

    def _update_between(self) -> float:
        """Update while runs are read; return when to do so the next time."""
        begin = time.monotonic()
        self._update()
        now = time.monotonic()
        return now + max(UPDATE, UPDATE_SHARE * (now - begin))

    def _update(self) -> None:
        self._store.update()
        self.version += 1

    def _list_hosts(self) -> None:
        names = self._names()
        if names is not None and names != self._listed:
            self._store.list_hosts(names)
            self._listed = names
            self.version += 1

    def _stamps(self) -> dict[str, str]:
        """The existing runs, each with a stamp of its files."""
        try:
            names = os.listdir(self._runs)
        except FileNotFoundError:
            return {}
        found = {}
        look_at_all = time.monotonic() >= self._next_whole_look
        if look_at_all:
            self._next_whole_look = time.monotonic() + WHOLE_LOOK
        for number, name in enumerate(sorted(names, reverse=True)):
            if run_number(name) is None:
                continue
            stamp = "" if look_at_all or number < NEWEST else self._stamps_before.get(name, "")
            if stamp := stamp or stamp_of(self._runs / name):
                found[name] = stamp
        self._stamps_before = found
        return found

    def _is_new(self, run_id: str, stamp: str, known: str) -> bool:
        """Whether a run must be read, and is not rate-limited."""
        if stamp == known or time.monotonic() < self._due.get(run_id, 0.0):
            return False
        # A run that was killed leaves no other mark than its free lock.
        return known != stamp + _RUNNING or not is_held(self._runs / run_id / "events.jsonl")

    def _store_run(self, read: ReadRun, stamp: str, took: float) -> None:
        """Store the runs that were read, with the time that reading took in seconds."""
        run_id, found = read.directory.name, read.found
        if found is None:
            self._store.store_unreadable(run_id, stamp, read.problem)
            return
        stamp += _RUNNING if found.state == "running" else ""
        self._store.store(found, stamp)
        self._note_end(run_id, found)
        self._due[run_id] = time.monotonic() + SHARE * took

    def _note_end(self, run_id: str, found: IndexedRun) -> None:
        """Report a run that has ended since this object started, once, and only after its verify
        has ended.
        """
        if found.state == "running":
            self._active.add(run_id)
            return
        is_due = run_id in self._active or run_id in self._awaited
        self._active.discard(run_id)
        if run_id in self._noted or not (is_due or (found.about["end"] or 0) >= self._begun):
            return
        if found.awaits_verify:
            self._awaited[run_id] = time.monotonic() + self.verify_silence
        else:
            self._report_end(run_id)

    def _report_end(self, run_id: str) -> None:
        self._awaited.pop(run_id, None)
        self._noted.add(run_id)
        self._ended(run_id)
