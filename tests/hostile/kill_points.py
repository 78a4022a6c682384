"""Kills of the runtime between any two of its system calls that change something.

A profile function of the interpreter, set by this test in the runtime's process, counts the calls
and kills the process before the chosen one: nothing in the runtime knows of it. After each kill no
file is half there; the next run waits for the command that is still at work, brings everything to
its state, makes up for the refresh that was due and leaves nothing of the killed one behind.
"""

import os
import random
import shutil
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from tests.hostile.figures import Figures
from tests.remote_runtime.archive import making
from tests.remote_runtime.archive.server import Web, content
from tests.remote_runtime.controller import Target, alive
from tests.remote_runtime.fakes import GROUP, OWNER, blob

TITLE = "Kills of the runtime between two system calls"
_OLD, _NEW, _SMALL = b"old\n" * 50_000, b"new\n" * 150_000, b"key = x\n"
_OPENING = 2  # calls before the runtime says that it is ready
_OWNED: dict[str, Any] = {"owner": OWNER, "group": GROUP, "mode": "0644"}

_PROLOGUE = """\
import os, sys, tempfile
tempfile.tempdir = {temporary!r}
CALLS = set('''open write pwrite ftruncate fsync rename unlink rmdir mkdir chmod fchmod chown fchown
link symlink utime setxattr posix_spawn fork_exec waitpid flock'''.split())
trace = os.open({trace!r}, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
left = [{at}]
def count(frame, event, called, write=os.write, end=os.kill, own=os.getpid()):
    if event == "c_call" and called.__name__ in CALLS and called.__module__ != "_io":
        place = frame.f_code.co_filename.rpartition("/")[2], frame.f_code.co_name, called.__name__
        write(trace, (" ".join(place) + "\\n").encode())
        left[0] -= 1
        if left[0] == 0:
            end(own, 9)
sys.setprofile(count)
"""


class _Site:
    """A directory and what it is to become, by every way that the runtime writes."""

    def __init__(self, top: Path, url: str) -> None:
        self.top = top
        self.root = top / "root"
        self._url = url
        self.blobs = [_NEW, _SMALL]

    def renew(self) -> None:
        """As before the first run."""
        shutil.rmtree(self.top)
        for directory in ("root", "tmp", "state", "gone"):
            (self.top / directory).mkdir(parents=True)
        (self.top / "gone" / "f").touch()
        (self.root / "a").write_bytes(_OLD)

    def resources(self) -> list[dict[str, Any]]:
        def shell(name: str, script: str, **more: Any) -> dict[str, Any]:
            properties = {"command": script, "cwd": str(self.root), **more.pop("properties", {})}
            kind = {"type": "exec", "provider": "shell"}
            return {**kind, "name": name, "properties": properties, **more}

        tree = {"$tree": "t", "files": [{**blob(_SMALL), "path": "app.conf"}], "directories": []}
        posted = {"source": tree, "post": [{"*.conf": "touch"}]}
        archived = {"url": self._url, "extract_parent": str(self.root / "x"), **_OWNED}
        made = {"creates": str(self.root / "x" / "last")}
        a = f"file#{self.root / 'a'}"
        return [
            self._file("a", {**_OWNED, "content": blob(_NEW)}),
            shell("refresh", "echo >> refreshed", subscribe=[a], properties={"refresh_only": True}),
            self._file("sub", {**_OWNED, "ensure": "directory", "mode": "0755"}),
            *(self._file(f"sub/{name}", {**_OWNED, "content": blob(_SMALL)}) for name in "bcd"),
            shell(
                "slow",
                "echo $$ >> pids; sleep 0.3; mv pids done",
                properties={"creates": str(self.root / "done")},
            ),
            {"type": "scaffold", "name": str(self.root / "s"), "properties": posted},
            {
                "type": "archive",
                "name": str(self.top / "root" / "a.tar.gz"),
                "properties": {**archived, **made},
            },
            self._file("../gone", {"ensure": "absent", "force": True}),
        ]

    def _file(self, name: str, properties: dict[str, Any]) -> dict[str, Any]:
        path = os.path.normpath(self.root / name)
        return {"type": "file", "name": path, "properties": properties}

    def run(self, at: int = 0) -> list[dict[str, Any]] | None:
        """The events of one run; None for one that was killed at that call."""
        target = Target(
            str(self.top / "ccm.lock"),
            str(self.top / "state"),
            self.blobs,
            prologue=_PROLOGUE.format(
                temporary=str(self.top / "tmp"), trace=str(self.top / "trace"), at=at
            ),
        )
        try:
            named = {"run_id": uuid.uuid4().hex, "manifest": "kills/site.yaml"}
            return target.push(*self.resources(), lock_timeout=60, **named)
        except (AssertionError, BrokenPipeError, ConnectionResetError):
            if target.end() != -9:
                raise
            return None

    def calls(self) -> list[str]:
        """The calls of the last run, where each stands."""
        return (self.top / "trace").read_text().splitlines()

    def torn(self) -> list[str]:
        """Files that are neither as they were nor as they are to be."""
        wanted = {"a": {_OLD, _NEW}, "s/app.conf": {_SMALL}, "x/d/f": {_NEW}}
        wanted.update({f"sub/{name}": {_SMALL} for name in "bcd"})
        wanted["a.tar.gz"] = {self.archive}
        return [
            name
            for name, contents in wanted.items()
            if (self.root / name).exists() and (self.root / name).read_bytes() not in contents
        ]

    archive = making.tar([making.member("d/f", _NEW), making.member("last", _SMALL)])

    def left(self) -> list[str]:
        """What is still there of a run."""
        found = [str(path) for path in self.root.rglob("*ccm-*")]
        found += [str(path) for path in (self.top / "tmp").iterdir()]
        found += [str(path) for path in (self.top / "state" / "unfinished").rglob("*")]
        found += [str(path) for path in (self.top / "state" / "refreshes").rglob("[!.]*")]
        pids = self.root / "done"
        running = [pid for pid in pids.read_text().split() if alive(int(pid))]
        return found + [f"process {pid}" for pid in running]


def _problems(site: _Site, at: int) -> list[str]:
    """What does not hold after a kill at one call."""
    if site.run(at) is not None and len(site.calls()) < at:
        return []  # it came to its end with fewer calls than the first time
    found = [f"{name} is half-written" for name in site.torn()]
    for wanted in ("changed", "stable"):
        events = site.run() or []
        statuses = {event["status"] for event in events}
        errors = [text for event in events for text in event["error"]]
        if errors or len(events) != len(site.resources()):
            found.append(f"the next run failed: {errors}")
        elif wanted == "stable" and statuses != {"stable"}:
            found.append(f"the run after it found {statuses}")
    if not (site.root / "refreshed").exists():
        found.append("the refresh was lost")
    return found + [f"{what} is left" for what in site.left()]


def run(seconds: float, seed: int) -> Figures:
    """Kill at as many calls as there is time for, in an order of chance."""
    tried: Counter[str] = Counter()
    broken: list[str] = []
    web = Web()
    web.answers["/a"] = content(_Site.archive)
    try:
        with tempfile.TemporaryDirectory(prefix="ccm-kills-") as top:
            site = _Site(Path(top) / "site", web.url("/a"))
            site.top.mkdir()
            site.renew()
            site.run()
            points = list(enumerate(site.calls(), 1))[_OPENING:]
            random.Random(seed).shuffle(points)
            deadline = time.monotonic() + seconds
            for at, place in points:
                if time.monotonic() > deadline:
                    break
                site.renew()
                broken += [f"killed at {at}, {place}: {text}" for text in _problems(site, at)]
                tried["kills"] += 1
            tried["possible calls"] = len(points)
    finally:
        web.close()
    return Figures(dict(tried), broken)
