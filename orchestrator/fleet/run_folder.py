"""The folder that keeps one run: ``$XDG_STATE_HOME/ccm/runs/ID/`` (controller).

::

    run.json       what was run: command, options without secrets, manifest, hosts, start
    events.jsonl   every transaction event, one JSON object per line, in the order of arrival
    notices.jsonl  the warnings and errors that hosts told, if any, one JSON object per line
    hosts.jsonl    every host's result, one JSON object per line, written as each one ends

Folders are 0700, files 0600; ``run.json`` is whole at every instant, the others up to their last
line. The newest
``KEPT`` runs are kept.
"""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, TextIO

from orchestrator.fleet import events as happening
from orchestrator.support.state_folder import make_private, state_folder

KEPT = 200
MAX_NOTICES = 4 << 20  # bytes of notices.jsonl
LEFT_OUT = "more warnings than a run keeps, the rest is left out"
FORMAT = 1


def runs_folder() -> Path:
    """Where the runs are."""
    return state_folder() / "runs"


def new_run_id(now: float | None = None) -> str:
    """An id that sorts by time and says it, as in ``20260314T091502Z-4f1c09e``.

    The first three digits behind the dash are 4096ths of the second: two short runs in a row may
    begin in the same one.
    """
    now = time.time() if now is None else now
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    return f"{stamp}-{int(now % 1 * 4096):03x}{os.urandom(2).hex()}"


class RunFolder:
    """Subscriber that spools a run to its folder as it happens.

    ``whole`` says whether everything was written, up to the run's end. With a ``parent`` it is not
    among those that are kept.
    """

    def __init__(self, run_id: str, options: dict[str, Any], parent: Path | None = None) -> None:
        self.path = (parent or make_private(runs_folder())) / run_id
        self.path.mkdir(mode=0o700)
        self.whole = False
        self._kept = parent is None
        self._options = options
        self._started: dict[str, Any] = {}
        self._events: TextIO = _open_private(self.path / "events.jsonl")
        self._hosts: TextIO = _open_private(self.path / "hosts.jsonl")
        self._notices: TextIO | None = None
        self._noticed = 0

    def handle(self, event: happening.Event) -> None:
        """Keep what has to be kept of an event."""
        if isinstance(event, happening.ResourceEvent):
            self._events.write(event.line + "\n")
        elif isinstance(event, happening.HostFinished):
            self._hosts.write(json.dumps(event.result.record()) + "\n")
            self._flush()
        elif isinstance(event, happening.HostNotice):
            if event.level != "info":
                self._notice(event)
        elif isinstance(event, happening.RunStarted):
            self._start(event)
        elif isinstance(event, happening.RunFinished):
            self._finish(event)

    def _start(self, event: happening.RunStarted) -> None:
        self._started = {
            "format": FORMAT,
            "run_id": event.run_id,
            "command": event.command,
            "manifest": event.manifest,
            "noop": event.noop,
            "options": self._options,
            "hosts": list(event.hosts),
            "start": event.at,
            "end": None,
            "interrupted": False,
        }
        _write_whole(self.path / "run.json", self._started)

    def _notice(self, event: happening.HostNotice) -> None:
        if self._noticed > MAX_NOTICES:
            return
        line = json.dumps(event._asdict()) + "\n"
        self._noticed += len(line)
        if self._noticed > MAX_NOTICES:
            line = json.dumps(event._replace(level="warning", text=LEFT_OUT)._asdict()) + "\n"
        if self._notices is None:
            self._notices = _open_private(self.path / "notices.jsonl")
        self._notices.write(line)

    def _flush(self) -> None:
        """Write out what a host's end is told with: it must survive the end of this process."""
        self._events.flush()
        self._hosts.flush()
        if self._notices is not None:
            self._notices.flush()

    def _finish(self, event: happening.RunFinished) -> None:
        self._flush()
        os.fsync(self._hosts.fileno())
        ended = {**self._started, "end": event.at, "interrupted": event.interrupted}
        _write_whole(self.path / "run.json", ended)
        self.whole = True
        if self._kept:
            prune()

    def close(self) -> None:
        """Write out what is buffered."""
        self._events.close()
        self._hosts.close()
        if self._notices is not None:
            self._notices.close()


def prune(keep: int = KEPT) -> None:
    """Remove the oldest runs beyond ``keep``."""
    folder = runs_folder()
    # By name alone: a look into each of hundreds of folders would hold up the end of every run.
    for name in sorted(os.listdir(folder), reverse=True)[keep:]:
        if (folder / name / "run.json").is_file():
            shutil.rmtree(folder / name, ignore_errors=True)


def _open_private(path: Path) -> TextIO:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(handle, "w", encoding="utf-8", buffering=1 << 16)


def _write_whole(path: Path, record: dict[str, Any]) -> None:
    temporary = path.with_name(path.name + ".new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(record, out)
        out.write("\n")
        out.flush()
        os.fsync(out.fileno())
    os.replace(temporary, path)
