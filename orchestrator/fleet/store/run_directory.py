"""The directory of one run: ``$XDG_STATE_HOME/ccm/runs/ID/`` (controller).

::

    run.json         what was run: command, options without secrets, manifest, hosts, start
    events.jsonl     every transaction event, one JSON object per line, in the order of arrival;
                     a "stable" line replaces the events of resources in the desired state
    resources.jsonl  the fields of such events that come from the plan, one JSON object per
                     line; events.jsonl refers to them by number, from 0
    phases.jsonl     when each host entered which phase of its run, and which resources it has
    notices.jsonl    the warnings and errors of hosts, if any, one JSON object per line
    hosts.jsonl      every host's result, one JSON object per line, written as each one ends; the
                     last line of a host counts
    rollout.jsonl    the waves, and the results of waves and gates, if there are any
    room             space reserved for the end of the run, while the run is active

Directories are 0700, files 0600; ``run.json`` is replaced atomically, the others are complete up
to their last line. ``events.jsonl`` is locked during the run. Only the newest runs are stored.
"""

import contextlib
import json
import os
import re
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.project.settings import DEFAULT_KEEP
from orchestrator.support.atomic_file import replacing
from orchestrator.support.hashing import sha256
from orchestrator.support.line_file import FULL, LineFile
from orchestrator.support.state_directory import make_private, state_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.fleet.checks.unchanged_resources import TextNumbers

# Strings whose number is in memory: twice the number of resources in the largest plan, within these
# limits. Other strings are stored again, because unique strings of hosts fill up the rest.
MIN_NUMBERED, MAX_NUMBERED = 2_000, 20_000
MAX_PLANS = 16  # plans that are known without their digest
MAX_NOTICES = 4 << 20  # bytes of notices.jsonl
MAX_OUTPUT = 64 << 20  # characters of what commands print, on all hosts together
LEFT_OUT = "more warnings than a run stores; the rest is omitted"
FORMAT = 2
MIN_SPACE = 64 << 10  # bytes
SPACE_PER_HOST = 1 << 10
RUN_ID = r"\d{8}T\d{6}Z-[0-9a-f]{6,8}"


def runs_directory() -> Path:
    """The directory of the stored runs."""
    return state_directory() / "runs"


def new_run_id(now: float | None = None) -> str:
    """An ID that contains the time and sorts by it, such as ``20260314T091502Z-4f1c09e``.

    The first three digits after the dash are 4096ths of a second, because two short runs may start
    in the same second.
    """
    now = time.time() if now is None else now
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    return f"{stamp}-{int(now % 1 * 4096):03x}{os.urandom(2).hex()}"


# A line that names others, of a plan or of resources, is written after them.
_IN_ORDER = ("resources", "phases", "events", "notices", "hosts", "rollout")


class _Text(NamedTuple):
    """Complete lines of a file; ``has_room``: space is reserved for them."""

    text: str
    has_room: bool


class RunDirectory:
    """Subscriber that writes a run to its directory as it happens.

    Each line is written immediately, so a record survives if the process is killed. If the disk is
    full, it continues without events, but still stores the results of hosts and the end of the run,
    for which space is reserved from the start; ``close`` then raises the OSError. At its end, the
    newest ``keep`` runs remain. With a ``parent``, the directory is created elsewhere. After
    ``max_output`` characters of command output, no more of it is stored. OSError if the directory
    cannot be created.
    """

    def __init__(
        self,
        started: run_events.RunStarted,
        options: dict[str, Any],
        *,
        parent: Path | None = None,
        keep: int = DEFAULT_KEEP,
        max_output: int = MAX_OUTPUT,
    ) -> None:
        self.path = (parent or make_private(runs_directory())) / started.run_id
        self.path.mkdir(mode=0o700)
        self._keep = keep if parent is None else 0
        self._about = _about(started, options)
        self._files: dict[str, LineFile] = {}
        self._texts: dict[str, list[_Text]] = {name: [] for name in _IN_ORDER}
        self._plans: dict[bytes, int] = {}
        self._plan_number = lru_cache(MAX_PLANS)(self._stored_plan)
        self._numbers: TextNumbers | None = None
        self._max_numbered = MIN_NUMBERED
        self._noticed = self._printed = 0
        self._max_output = max_output
        self._fault: OSError | None = None
        try:
            _keep_room(self.path / "room", MIN_SPACE + SPACE_PER_HOST * len(started.hosts))
            _write_whole(self.path / "run.json", self._about)
            self._file("events").hold()
            self._file("hosts")
        except OSError as error:
            self._close()
            _remove(self.path)
            where = error.filename or str(self.path)
            raise OSError(error.errno, error.strerror, where) from error

    def handle(self, event: run_events.Event) -> None:
        """Store an event."""
        self.handle_all((event,))

    def handle_all(self, events: "Sequence[run_events.Event]") -> None:
        """Store events, with one write to each file."""
        for event in events:
            self._take(event)
        self._write()

    def _take(self, event: run_events.Event) -> None:
        if isinstance(event, run_events.ResourceEvent):
            self._event(event)
        elif isinstance(event, run_events.ResourcesStable):
            self._stable(event)
        elif isinstance(event, run_events.HostFinished):
            self._put("hosts", json.dumps(event.result.record()) + "\n")
        elif isinstance(event, run_events.HostPhase):
            self._put("phases", _phase_lines(event))
        elif isinstance(event, run_events.HostPlanned):
            self._plan(event)
        elif isinstance(event, run_events.HostNotice):
            if event.level != "info":
                self._notice(event)
        elif isinstance(event, run_events.ROLLOUT):
            self._put("rollout", json.dumps(run_events.rollout_record(event)) + "\n")
        elif isinstance(event, run_events.RunFinished):
            self._finish(event)

    def _event(self, event: run_events.ResourceEvent) -> None:
        line, printed = event.line, len(event.event.get("output", ""))
        self._printed += printed
        if printed and self._printed > self._max_output:
            note = f"[... {printed} characters omitted: the run has reached its output limit ...]\n"
            line = json.dumps({**event.event, "output": note}, separators=(",", ":"))
        self._spool("events", line + "\n")

    def _stable(self, event: run_events.ResourcesStable) -> None:
        if self._numbers is None:
            from orchestrator.fleet.checks.unchanged_resources import TextNumbers

            self._numbers = TextNumbers()
        elif len(self._numbers) >= self._max_numbered:
            self._numbers.forget()
        line = event.unchanged.line(self._numbers)
        if new := self._numbers.new:
            self._spool("resources", "\n".join(new) + "\n")
            new.clear()
        self._spool("events", line + "\n")

    def _plan(self, event: run_events.HostPlanned) -> None:
        """Store the resources of a host; a repeated list is stored by its number."""
        maximum = min(2 * len(event.resources), MAX_NUMBERED)
        self._max_numbered = max(self._max_numbered, maximum)
        number = self._plan_number(event._replace(host=""))
        self._spool("phases", json.dumps({"host": event.host, "plan": number}) + "\n")

    def _stored_plan(self, event: run_events.HostPlanned) -> int:
        plan = event._asdict()
        del plan["host"]
        names = json.dumps(plan)
        key = sha256(names.encode("utf-8")).digest()
        if key not in self._plans:
            self._plans[key] = len(self._plans)
            self._spool("phases", f'{{"plan": {self._plans[key]}, {names[1:]}\n')
        return self._plans[key]

    def _notice(self, event: run_events.HostNotice) -> None:
        if self._noticed > MAX_NOTICES:
            return
        line = json.dumps(event._asdict()) + "\n"
        self._noticed += len(line)
        if self._noticed > MAX_NOTICES:
            line = json.dumps(event._replace(level="warning", text=LEFT_OUT)._asdict()) + "\n"
        self._spool("notices", line)

    def _spool(self, name: str, text: str) -> None:
        """Write data that may be large; after a loss, nothing more is written, so that gaps are
        visible.
        """
        self._texts[name].append(_Text(text, has_room=False))

    def _put(self, name: str, text: str) -> None:
        """Write as much as there is space for."""
        self._texts[name].append(_Text(text, has_room=True))

    def _write(self) -> None:
        """Write the pending lines."""
        for name, texts in self._texts.items():
            if texts and self._fault is None:
                try:
                    self._file(name).write("".join([text for text, _ in texts]))
                    texts.clear()
                except OSError as error:
                    self._lack(error)
            if reserved := "".join([text for text, has_room in texts if has_room]):
                with contextlib.suppress(OSError):
                    self._file(name).write(reserved)
            texts.clear()

    def _lack(self, error: OSError) -> None:
        self._fault = self._fault or error
        (self.path / "room").unlink(missing_ok=True)

    def _file(self, name: str) -> LineFile:
        if name not in self._files:
            self._files[name] = LineFile(self.path / f"{name}.jsonl", private=True)
        return self._files[name]

    def _finish(self, event: run_events.RunFinished) -> None:
        self._write()
        with contextlib.suppress(OSError):
            self._file("hosts").sync()
        (self.path / "room").unlink(missing_ok=True)
        self._about.update(end=event.at, interrupted=event.interrupted)
        if self._fault is not None:
            self._about["incomplete"] = self._fault.strerror
        try:
            _write_whole(self.path / "run.json", self._about)
        except OSError as error:
            self._fault = self._fault or error
        if self._keep:
            prune(self._keep)

    @property
    def whole(self) -> bool:
        """Whether everything has been written."""
        return self._fault is None

    def close(self) -> None:
        """Close the files. OSError if something could not be stored."""
        self._close()
        if self._fault is not None:
            raise self._fault

    def _close(self) -> None:
        for file in self._files.values():
            file.close()


def _about(started: run_events.RunStarted, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "run_id": started.run_id,
        "command": started.command,
        "manifest": started.manifest,
        "identity": started.identity,
        "noop": started.noop,
        "again": list(started.again),
        "origin": started.origin.record(),
        "options": options,
        "hosts": list(started.hosts),
        "start": started.at,
        "end": None,
        "interrupted": False,
    }


def _phase_lines(event: run_events.HostPhase) -> str:
    host = json.dumps(event.host)
    lines = [
        f'{{"host": {host}, "phase": "{phase.value}", "at": {at!r}}}\n'
        for phase, at in event.entered
    ]
    return "".join(lines)


def _keep_room(path: Path, size: int) -> None:
    """Reserve space, which is released when the disk is full; OSError if it is already full."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        if error.errno in FULL:
            raise
    finally:
        os.close(handle)


def prune(keep: int) -> None:
    """Remove the oldest runs beyond ``keep``."""
    directory = runs_directory()
    # By name alone: reading hundreds of directories would delay the end of every run.
    for name in sorted(os.listdir(directory), reverse=True)[keep:]:
        if re.fullmatch(RUN_ID, name):
            _remove(directory / name)


def _remove(directory: Path) -> None:
    if directory.is_symlink():
        return
    try:
        for name in os.listdir(directory):
            os.unlink(directory / name)
        os.rmdir(directory)
    except OSError:  # it has directories, which ours have not
        import shutil

        shutil.rmtree(directory, ignore_errors=True)


def _write_whole(path: Path, record: dict[str, Any]) -> None:
    with replacing(path, durable=True) as out:
        out.write(f"{json.dumps(record)}\n".encode())
