"""The events of one session of ``ccm ensure`` commands (controller): ``CCM_SESSION_STORE``.

A private directory, mode 0700, with one ``EVENT_ID.event`` file per transaction event, each written
atomically. An event names its host, so one session serves any number of hosts.
"""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.event_check import stored_event_problem
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.support.atomic_file import replacing
from remote_runtime.errors import InputError, Problem, UsageError

VARIABLE = "CCM_SESSION_STORE"
SUFFIX = ".event"
MAX_EVENT = 4 << 20
BEGIN = 'start a session with: eval "$(ccm session new)"'

Event = dict[str, Any]


class EventStore(Subscriber):
    """The directory of a session; subscriber that adds every event of a run to it.

    ``noop``: for a preview, which includes earlier previews. Events are read only when needed.
    """

    def __init__(self, path: Path, noop: bool = True) -> None:
        self.path = path
        self._noop = noop
        self._read: dict[str, dict[str, Event]] | None = None

    def handle(self, event: run_events.Event) -> None:
        """Store the transaction events."""
        for transaction, line in run_events.transaction_events(event):
            self._write(transaction["event_id"], line)

    def _write(self, name: str, line: str) -> None:
        with replacing(self.path / (name + SUFFIX)) as out:
            out.write(f"{line}\n".encode())

    def lines(self) -> Iterator[tuple[Event, str]]:
        """Every event in the order of creation, with its JSON text. InputError for a
        damaged event.
        """
        for path in sorted(self.path.glob(f"*{SUFFIX}")):
            yield _event(path)

    def remove(self) -> None:
        """Remove the events and the directory; UsageError if it contains anything else."""
        foreign = [p.name for p in self.path.iterdir() if not _ours(p.name)]
        if foreign:
            message = f"{self.path} contains {foreign[0][:80]!r}, which is not part of a session"
            raise UsageError(
                message, hint=("move it to another directory first; nothing was removed")
            )
        for path in self.path.iterdir():
            path.unlink()
        self.path.rmdir()

    # -- the results of earlier commands for a plan: ``manifest.site.EarlierResults`` --------------

    def names(self) -> frozenset[str]:
        """Every ``type#name`` and ``type#alias`` that any host has had."""
        return frozenset(name for latest in self._latest().values() for name in latest)

    def of(self, host: str, references: frozenset[str]) -> dict[str, Any]:
        """The ``earlier`` of one host's plan, for these references."""
        if not references and not self._noop:
            return {}
        latest = self._latest().get(host, {})
        return {
            "resources": {r: _earlier_result(latest[r]) for r in sorted(references) if r in latest},
            "pending": any(e["noop"] and e["changed"] for e in latest.values()),
        }

    def failed(self) -> bool:
        """Whether the latest event of any resource on any host reports a failure."""
        return any(
            not _earlier_result(event)["met"]
            for latest in self._latest().values()
            for event in latest.values()
        )

    def _latest(self) -> dict[str, dict[str, Event]]:
        """A map from hosts to a map from names or aliases to their latest events."""
        by_host = self._read
        if by_host is None:
            by_host = {}
            for event, _ in self.lines():
                latest = by_host.setdefault(event["host"], {})
                latest[f"{event['type']}#{event['name']}"] = event
                if event.get("alias"):
                    latest[f"{event['type']}#{event['alias']}"] = event
            self._read = by_host  # atomic: the plans of several hosts are made concurrently
        return by_host


def session_store(noop: bool = True) -> EventStore | None:
    """Return the session in the environment; None without a session. UsageError."""
    path = os.environ.get(VARIABLE, "")
    return opened(Path(path), noop) if path else None


def opened(path: Path, noop: bool = True) -> EventStore:
    """The store in an existing directory, to which only its user may write; UsageError."""
    try:
        status = path.lstat()
    except OSError as error:
        raise _refuse(path, f"cannot be used: {error.strerror}", BEGIN) from error
    if not stat.S_ISDIR(status.st_mode):
        raise _refuse(path, "is not a directory", BEGIN)
    if status.st_uid != os.geteuid():
        hint = "a session belongs to the user who started it; start one as this user"
        raise _refuse(path, f"belongs to user {_user(status.st_uid)}", hint)
    if status.st_mode & 0o077:
        raise _refuse(path, "is accessible to other users", f"run: chmod 700 {path}")
    return EventStore(path, noop)


def _refuse(path: Path, reason: str, hint: str) -> UsageError:
    return UsageError(f"the session directory {path} {reason}", kind="usage.session", hint=hint)


def _user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _ours(name: str) -> bool:
    return name.endswith(SUFFIX) or (name.startswith(".") and name.endswith(".new"))


def _earlier_result(event: Event) -> dict[str, bool]:
    met = not (event["failed"] or event["unmet_requirements"])
    return {"met": met, "changed": event["changed"], "noop": event["noop"]}


def _event(path: Path) -> tuple[Event, str]:
    try:
        with open(path, encoding="utf-8") as source:
            line = source.read(MAX_EVENT).strip()
        event = json.loads(line)
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    problem = stored_event_problem(event)
    if problem:
        raise _damaged(path, problem)
    return event, line


def _damaged(path: Path, reason: str) -> InputError:
    hint = "move that file to another directory; later commands then treat its resource as not run"
    problem = Problem(f"{path} is not a transaction event: {reason}", None, hint, "input.session")
    return InputError([problem])
