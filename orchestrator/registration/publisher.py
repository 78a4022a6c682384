"""Passes the registrations of a run to their store as resources become stable (controller)."""

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError

if TYPE_CHECKING:
    from orchestrator.registration.entry import Registration
    from orchestrator.registration.store import Store

BATCH_SECONDS = 0.5  # seconds in which more entries may join a batch
CLOSE_TIMEOUT = 60.0


class Failure(NamedTuple):
    """The failed publications of a run: the reason, and the number of entries of each host."""

    reason: str
    hosts: Mapping[str, int]


class Publisher:
    """Publishes batches in one thread. ``add`` may be called from many threads, and never waits.

    Entries that could not be published are retried with the next batch and at the end. Outdated
    entries of a resource from an earlier run, such as those with another port, are removed once the
    new entries are published; ``warning`` is the reason of a failure, "" for success.
    """

    def __init__(self, opener: "Callable[[], Store]", gathering: float = BATCH_SECONDS) -> None:
        self._opener = opener
        self._gathering = gathering
        self._queue: queue.SimpleQueue[list[tuple[str, Registration]] | None] = queue.SimpleQueue()
        self._left: list[tuple[str, Registration]] = []
        self._earlier: dict[str, list[Registration]] | None = None
        self._reason = ""
        self.warning = ""
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def add(self, host: str, registrations: Sequence[Mapping[str, Any]]) -> None:
        """Start publishing the announcements of a host's resource."""
        from orchestrator.registration.entry import Registration

        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="registrations", daemon=True
                )
                self._thread.start()
        # Together: an entry that comes later would count as announced no more.
        self._queue.put([(host, Registration.of(properties)) for properties in registrations])

    def close(self, seconds: float = CLOSE_TIMEOUT) -> Failure | None:
        """Publish the remaining entries, and return the failed ones."""
        if self._thread is None:
            return None
        self._queue.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._reason = self._reason or f"no response within {seconds:g} s"
        if not self._left:
            return None
        hosts: dict[str, int] = {}
        for host, _ in list(self._left):
            hosts[host] = hosts.get(host, 0) + 1
        return Failure(self._reason, hosts)

    def _work(self) -> None:
        open_ = True
        while open_:
            open_ = self._gather()
            self._publish()

    def _gather(self) -> bool:
        """Wait for entries, and briefly for more of them; return whether there may be more."""
        entries = self._queue.get()
        until = time.monotonic() + self._gathering
        while entries is not None:
            self._left += entries
            try:
                entries = self._queue.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return True
        return False

    def _publish(self) -> None:
        if not self._left:
            return
        newest = {entry.subject: entry for _, entry in self._left}
        try:
            store = self._opener()
            store.publish(list(newest.values()))
        except CcmError as error:
            self._reason = one_line(str(error))
        except Exception as error:  # its message may contain announced values
            self._reason = f"internal error in ccm: {type(error).__name__}"
        else:
            self._left = []
            self._remove_stale(store, newest)

    def _remove_stale(self, store: "Store", newest: "Mapping[str, Registration]") -> None:
        """Remove entries that these resources no longer announce; a failure is a warning."""
        try:
            stale = self._stale(store, newest)
            if stale:
                store.remove(stale)
        except CcmError as error:
            self.warning = f"registrations of earlier pushes may remain: {one_line(str(error))}"

    def _stale(self, store: "Store", newest: "Mapping[str, Registration]") -> "list[Registration]":
        """Entries of earlier runs from the resources that announce these; RegistrationError."""
        from orchestrator.registration.entry import Query

        if self._earlier is None:  # asked once in a run: all that comes later is its own
            found = [entry for entry in store.lookup(Query()) if entry.source]
            self._earlier = {entry.source: [] for entry in found}
            for entry in found:
                self._earlier[entry.source].append(entry)
        sources = {entry.source for entry in newest.values()}
        return [
            entry
            for source in sources
            for entry in self._earlier.get(source, ())
            if entry.subject not in newest
        ]
