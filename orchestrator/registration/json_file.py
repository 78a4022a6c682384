"""Registrations in one JSON file, which needs no server (controller).

The file is replaced atomically: it is written next to its destination, synced and renamed. A lock
file lets several runs add entries at once without losing any.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orchestrator.registration.entry import Query, Registration, in_order
from orchestrator.registration.errors import RegistrationError
from orchestrator.support.atomic_file import replacing
from remote_runtime.errors import UsageError

FORMAT = 1
LOCK_TIMEOUT = 30.0
_PAUSE = 0.02


class JsonFile:
    """See ``Store``. ``prepare`` creates the directory when the first entry is written."""

    def __init__(
        self,
        path: Path,
        prepare: Callable[[Path], object] = lambda directory: None,
        clock: Callable[[], float] = time.time,
        patience: float = LOCK_TIMEOUT,
    ) -> None:
        self._path = Path(os.path.realpath(path))
        self.shown = str(self._path)
        self._prepare = prepare
        self._clock = clock
        self._patience = patience

    def initialize(self, replicas: int, max_age: float) -> None:
        """Create the file if it does not exist; UsageError for options of a stream."""
        if replicas > 1 or max_age:
            raise UsageError(
                f"{self.shown} is a file: --replicas and --max-age apply only to a stream",
                hint="specify a stream: --registration nats://host:4222/STREAM",
            )
        self.publish(())

    def publish(self, entries: Sequence[Registration]) -> None:
        """Add entries, and remove expired ones."""
        self._change(lambda kept: {**kept, **{entry.subject: entry for entry in entries}})

    def remove(self, entries: Sequence[Registration]) -> None:
        """Remove these endpoints."""
        gone = {entry.subject for entry in entries}
        self._change(lambda kept: {s: entry for s, entry in kept.items() if s not in gone})

    def lookup(self, query: Query) -> list[Registration]:
        """The content of the file; empty if there is no file."""
        now = self._clock()
        return in_order([e for e in self._read() if query.selects(e) and e.is_valid(now)])

    def _change(self, change: Callable[[dict[str, Registration]], dict[str, Registration]]) -> None:
        try:
            self._prepare(self._path.parent)
            with self._locked():
                kept = change({entry.subject: entry for entry in self._read()})
                now = self._clock()
                self._write(e for _, e in sorted(kept.items()) if e.is_valid(now))
        except OSError as error:
            reason = error.strerror or str(error)
            raise RegistrationError(
                f"{self.shown} cannot be written: {reason}",
                hint="specify a writable file with --registration",
            ) from error

    def _read(self) -> list[Registration]:
        try:
            document = json.loads(self._path.read_bytes())
            if document["format"] != FORMAT:
                raise ValueError(f"expected format {FORMAT}, got {document['format']}")
            return [Registration.from_payload(payload) for payload in document["registrations"]]
        except FileNotFoundError:
            return []
        except OSError as error:
            reason = error.strerror or str(error)
            raise RegistrationError(f"{self.shown} cannot be read: {reason}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            hint = "restore it, or specify another file with --registration"
            message = f"{self.shown} is not a registrations file: {_flaw(error)}"
            raise RegistrationError(message, hint=hint) from error

    def _write(self, entries: Iterable[Registration]) -> None:
        document: dict[str, Any] = {"format": FORMAT}
        document["registrations"] = [entry.payload() for entry in entries]
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        mode = self._path.stat().st_mode & 0o777 if self._path.exists() else 0o600
        with replacing(self._path, durable=True) as out:
            out.write(text.encode("utf-8"))
            os.fchmod(out.fileno(), mode)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock; it ends with the process, so a crash leaves nothing to clean up."""
        lock = self._path.with_name(f".{self._path.name}.lock")
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            until = time.monotonic() + self._patience
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        message = f"another run kept {lock} locked for {self._patience:g} s"
                        raise RegistrationError(message) from None
                    time.sleep(_PAUSE)
            yield
        finally:
            os.close(descriptor)


def _flaw(error: Exception) -> str:
    """Why a document cannot be read."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON (line {error.lineno}, column {error.colno})"
    if isinstance(error, KeyError):
        return f"the key {error} is missing"
    if isinstance(error, TypeError):
        return "a map or a list is missing"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
