"""The audit log: logins and page views (controller).

``STATE/studio/audit.jsonl``, mode 0600, one JSON object per line. At ``MAX_BYTES``, it is renamed
to ``audit.jsonl.1``, which replaces an earlier one. Entries about requests without a valid login,
and those that a user or token can cause in any number, are limited, so that they do not replace the
other entries.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FILE = "audit.jsonl"
MAX_BYTES = 16 << 20
MAX_REFUSALS = 1_000  # entries in PERIOD,
MAX_ROUTINE = 5_000  # and those of each user
PERIOD = 3_600.0  # seconds
_MAX_LENGTH = 500  # characters of a value


class _Count(NamedTuple):
    """The entries of a user in the period that began at ``since``."""

    since: float
    entries: int


class AuditLog:
    """Appends lines; if the disk is full, entries are lost but nothing stops."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = directory / FILE
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, _Count] = {}

    def write_refusal(self, action: str, *, user: str, address: str, **members: str | int) -> None:
        """Append an entry about a request without a valid login. After ``MAX_REFUSALS`` in one
        period, the last entry states that others are missing."""
        number = self._number("")
        if number < MAX_REFUSALS:
            self.write(action, user=user, address=address, **members)
        elif number == MAX_REFUSALS:
            self.write("refusals not recorded", user="", address="")

    def write_routine(self, action: str, *, user: str, address: str, **members: str | int) -> None:
        """Append an entry that a user with a login, or a token, can cause in any number. After
        ``MAX_ROUTINE`` in one period, the last entry states that others are missing."""
        number = self._number(user)
        if number < MAX_ROUTINE:
            self.write(action, user=user, address=address, **members)
        elif number == MAX_ROUTINE:
            self.write("requests not recorded", user=user, address=address)

    def _number(self, user: str) -> int:
        """The number of an entry of a user in the current period, from 1 on."""
        with self._lock:
            now, last = self._clock(), self._counts.get(user)
            if last is None or now - last.since > PERIOD:
                last = _Count(now, 0)
            self._counts[user] = last._replace(entries=last.entries + 1)
            return last.entries + 1

    def write(self, action: str, *, user: str, address: str, **members: str | int) -> None:
        """Append an entry. Control characters are escaped by JSON."""
        told = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "action": action,
            "user": user[:_MAX_LENGTH],
            "address": address,
            **{k: v[:_MAX_LENGTH] if isinstance(v, str) else v for k, v in members.items()},
        }
        line = json.dumps(told).encode("ascii") + b"\n"
        with self._lock, contextlib.suppress(OSError):
            self._append(line)

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        handle = os.open(self._path, flags, 0o600)
        try:
            os.write(handle, line)
            if os.fstat(handle).st_size > MAX_BYTES:
                os.replace(self._path, f"{self._path}.1")
        finally:
            os.close(handle)
