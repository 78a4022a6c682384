"""The last gathered facts of hosts: one file per host in ccm's state (controller).

A file has untrusted data of one host: its size is limited, it is read as JSON, and nothing in it is
used as a path, a file name or a template.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.support.atomic_file import replacing
from orchestrator.support.hashing import sha256
from orchestrator.support.plain_text import plain_json_value
from orchestrator.support.state_directory import make_private
from remote_runtime.errors import CcmError

if TYPE_CHECKING:
    from inventory import Host

DIRECTORY = "facts"
MAX_BYTES = 1 << 20
_FORMAT = 1
_MAX_NAME = 100


class HostRecord(NamedTuple):
    """The facts of a host, and when they were gathered, in seconds since 1970. ``unavailable`` are
    the families that it could not gather then, with the reasons."""

    facts: Mapping[str, Any]
    time: float
    unavailable: Mapping[str, str] = {}

    def age(self, now: float) -> float:
        """The number of seconds since then; infinite for a time in the future."""
        return now - self.time if self.time <= now else float("inf")

    @property
    def moment(self) -> str:
        """The time when they were gathered, as RFC 3339."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.time))


class FactCache:
    """The directory of these files, which only its user can access."""

    def __init__(self, state: Path) -> None:
        self._directory = state / DIRECTORY
        self._made = False

    def of(self, host: Host) -> HostRecord | None:
        """The stored facts of a host; None for a missing or invalid file."""
        try:
            with open(self._path(host), "rb") as file:
                text = file.read(MAX_BYTES + 1)
            record: Any = json.loads(text) if len(text) <= MAX_BYTES else None
            if record["format"] != _FORMAT or record["host"] != host.name:
                return None
            facts, when = plain_json_value(record["facts"]), record["time"]
            missing = plain_json_value(record.get("unavailable", {}))
            if not all(isinstance(reason, str) for reason in missing.values()):
                return None
            if isinstance(facts, dict) and type(when) is float and 0 <= when < 1 << 40:
                return HostRecord(facts, when, missing)
        except (
            OSError,
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
            CcmError,
        ):
            pass
        return None

    def keep(
        self,
        host: Host,
        facts: Mapping[str, Any],
        now: float | None = None,
        unavailable: Mapping[str, str] | None = None,
    ) -> bool:
        """Store the facts of a host; False if they are too large. OSError, UsageError."""
        when = time.time() if now is None else now
        record = {"format": _FORMAT, "host": host.name, "time": float(when), "facts": facts}
        record.update({"unavailable": dict(unavailable)} if unavailable else {})
        text = json.dumps(record, separators=(",", ":")).encode("ascii")
        if len(text) > MAX_BYTES:
            return False
        if not self._made:
            make_private(self._directory)
            self._made = True
        with replacing(self._path(host)) as file:
            file.write(text)
        return True

    def _path(self, host: Host) -> Path:
        """The file of a host. Another inventory may have a different host with that name."""
        about = [host.name, host.address, host.port, host.jump, host.connection]
        digest = sha256(json.dumps(about).encode("ascii")).hexdigest()[:16]
        return self._directory / f"{host.name[:_MAX_NAME]}-{digest}.json"
