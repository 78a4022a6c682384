"""Power cuts: what is on the disk of a host after a loss of power at any moment of a push.

A push writes to a file system on a disk that records every write and every flush. From that record
comes the disk as it is after a cut between any two writes, with all writes until then, or without
any part of those after the last flush, which the disk had in its cache. Mounted, every file on it
is whole, with its content, mode and owner as they were or as they are to be. What the host had told
the controller by then is there. No file has changed of which the host's own record of the run says
that it did not run. The records of ccm can be read, and the same push completes.
"""

import contextlib
import hashlib
import io
import os
import random
import stat
import subprocess
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from remote_runtime.state import run_record
from remote_runtime.system.state_store import StateStore
from tests.hostile.figures import Figures
from tests.hostile.recorded_disk import BLOCK, Recording, recorded_disk
from tests.remote_runtime.controller import ROOT, Target
from tests.remote_runtime.fakes import blob

TITLE = "Power cuts"
_FILES = 24
_MIB = 48
_RECEIPT = "0123456789abcdef" * 2
_OWNER = 4711  # of files before the push
_NEW, _OLD = (0o644, 0, 0), (0o600, _OWNER, _OWNER)
_KINDS = ("new", "replaced", "attributes", "absent", "directory", "command", "link", "archive")
_MEMBERS = 12
_MANY = 12  # cuts of one push
_REBOOTED = f"""\
import sys
sys.path.insert(0, {ROOT!r})
from remote_runtime.system.process import process_identity
process_identity.boot = lambda: "another"
"""


class Found(NamedTuple):
    """What is at a path: a kind, the attributes of a file or directory, and what it holds."""

    kind: str
    attributes: tuple[int, int, int] = (0, 0, 0)
    data: bytes = b""


def possible() -> str:
    """Why such a disk cannot be had here; "" where it can."""
    try:
        with tempfile.TemporaryDirectory(prefix="power-") as top, _disk(Path(top)):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)


def contents(number: int) -> tuple[bytes, bytes]:
    """What a file holds before the push, and after it."""
    return b"old %d\n" % number * 50, hashlib.sha256(b"%d" % number).hexdigest().encode() * 200


def _expected(kind: str, number: int) -> tuple[Found | None, Found | None]:
    """What is at the path of a number before the push, and after it."""
    old, new = contents(number)
    before: dict[str, Found] = {
        "replaced": Found("file", _OLD, old),
        "attributes": Found("file", _OLD, new),
        "absent": Found("file", _OLD, old),
        "link": Found("link", data=b"old"),
    }
    after: dict[str, Found] = {
        "directory": Found("directory", (0o755, 0, 0)),
        "command": Found("file", _NEW),
        "link": Found("link", data=b"new"),
        "archive": Found("directory", (0o755, 0, 0), b"all members"),
    }
    written = None if kind == "absent" else Found("file", _NEW, new)
    return before.get(kind), after.get(kind, written)


@contextlib.contextmanager
def _mounted(what: Path, place: Path, *options: str) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", *options, what, place], check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@contextlib.contextmanager
def _disk(top: Path) -> Iterator[tuple[Recording, Path]]:
    """The recording of a disk, and where its file system is mounted."""
    with recorded_disk(top, _MIB << 20) as (recording, device):
        # What a file system does of its own accord later would be recorded as well.
        quiet = "lazy_itable_init=0,lazy_journal_init=0"
        subprocess.run(
            ["mkfs.ext4", "-q", "-F", "-b", str(BLOCK), "-E", quiet, device],
            check=True,
            capture_output=True,
        )
        with _mounted(device, top / "disk") as place:
            yield recording, place


def _prepare(root: Path, kinds: list[str]) -> None:
    root.mkdir()
    for number, kind in enumerate(kinds):
        path, (before, _) = root / f"f{number}", _expected(kind, number)
        if before is not None and before.kind == "link":
            path.symlink_to(before.data.decode())
        elif before is not None:
            path.write_bytes(before.data)
            os.chown(path, _OWNER, _OWNER)
            path.chmod(before.attributes[0])
        if kind == "archive":
            _pack(root / f"f{number}.tar", number)


def _pack(path: Path, number: int) -> None:
    with tarfile.open(path, "w") as tar:
        for member in range(_MEMBERS):
            data = contents(number + member)[1]
            info = tarfile.TarInfo(f"f{number}/{'inner/' * (member % 2)}m{member}")
            info.size, info.mode, info.mtime = len(data), 0o644, 1_700_000_000
            tar.addfile(info, io.BytesIO(data))


def _resource(root: Path, kind: str, number: int) -> dict[str, Any]:
    path = str(root / f"f{number}")
    own: dict[str, Any] = {"owner": "root", "group": "root"}
    if kind == "archive":
        url = "http://127.0.0.1:9/never-asked.tar"
        extract = {"extract_parent": str(root), "creates": f"{path}/m0"}
        return {
            "type": "archive",
            "name": f"{path}.tar",
            "properties": {"url": url, **extract, **own},
        }
    if kind == "link":
        return {"type": "link", "name": path, "properties": {"target": "new", "force": True}}
    if kind == "command":  # before it runs, what was done until then is told
        script = {"command": f"umask 022; touch {path}", "creates": path}
        return {"type": "exec", "name": path, "provider": "shell", "properties": script}
    if kind == "absent":
        properties: dict[str, Any] = {"ensure": "absent"}
    elif kind == "directory":
        properties = {"ensure": "directory", "mode": "0755", **own}
    else:
        properties = {"mode": "0644", "content": blob(contents(number)[1]), **own}
    return {"type": "file", "name": path, "properties": properties}


class Push:
    """A push of resources of these ``kinds``, in turn, to a disk that records, and the cuts that
    are made from the record."""

    def __init__(self, top: Path, kinds: Sequence[str] = _KINDS) -> None:
        self._top = top
        self._kinds = [kinds[number % len(kinds)] for number in range(_FILES)]
        self._cuts = 0
        self._told: dict[int, int] = {}  # by number, where the log was when its event had come
        with _disk(top) as (self.recording, disk):
            _prepare(disk / "root", self._kinds)
            subprocess.run(["sync", "-f", disk], check=True)
            self.recording.begin()
            self.events = self._push(disk)
            self.length = len(self.recording.log)

    def _push(
        self, disk: Path, run_id: str = "R1", receipt: str = _RECEIPT
    ) -> list[dict[str, Any]]:
        blobs = [contents(number)[1] for number in range(_FILES)]
        rebooted = _REBOOTED if self._told else ""
        target = Target(
            str(self._top / "lock"), str(disk / "state"), blobs, prologue=rebooted, started=True
        )
        if not self._told:
            target.on["event"] = self._note
        resources = [_resource(disk / "root", kind, n) for n, kind in enumerate(self._kinds)]
        target.start(*resources, receipt=receipt, run_id=run_id)
        target.until("done")
        target.send({"t": "bye"})
        target.end()
        return target.events

    def _note(self, frame: dict[str, Any]) -> None:
        name = frame["event"]["name"].rpartition("/f")[2].partition(".")[0]
        self._told[int(name)] = len(self.recording.log)

    def cut(self, moment: int, chance: random.Random | None) -> tuple[int, int, list[str]]:
        """Cut the power after so many entries of the log: how many resources had changed on the
        disk, how many blocks were lost in its cache, and what does not hold."""
        self._cuts += 1
        image = self._top / f"image{self._cuts}"  # a loop device may still have the one before
        lost = self.recording.after(moment, image, chance)
        with _mounted(image, self._top / "disk", "-o", "loop") as disk:
            changed, found = self._look(disk, moment)
            found += self._again(disk)
        image.unlink()
        text = f"cut {moment} of {self.length}, {lost} blocks lost"
        return len(changed), lost, [f"{text}: {one}" for one in found]

    def _look(self, disk: Path, moment: int) -> tuple[set[int], list[str]]:
        problems, changed = [], set()
        for number, kind in enumerate(self._kinds):
            before, after = _expected(kind, number)
            found = _found(disk / "root", kind, number)
            told = kind != "command" and self._told.get(number, moment + 1) <= moment
            if found == after:
                changed.add(number)
            elif found != before:
                problems.append(f"{kind} {number} is {str(found)[:200]}")
            elif told:
                problems.append(f"{kind} {number} was told as changed and is not there")
        return changed, problems + _of_record(disk, changed)

    def _again(self, disk: Path) -> list[str]:
        """What does not hold of the same push after the power is back."""
        problems = []
        for turn in ("second", "third"):
            events = self._push(disk, f"{turn}", turn[0] * 32)
            failed = [f"{e['name']}: {e['error']}" for e in events if e["failed"]]
            changed = [(e["name"], e["changes"]) for e in events if e["changed"]]
            problems += [f"the {turn} push fails: {text}" for text in failed]
            if len(events) != _FILES:
                problems.append(f"the {turn} push has {len(events)} events")
            if turn == "third" and changed:
                problems.append(f"the third push changes {changed}")
        for number, kind in enumerate(self._kinds):
            if _found(disk / "root", kind, number) != _expected(kind, number)[1]:
                problems.append(
                    f"{kind} {number} is not in the desired state after the second push"
                )
        left = [path.name for path in (disk / "root").rglob("*ccm-*")]
        return problems + [f"{name} is left" for name in left]


def _found(root: Path, kind: str, number: int) -> Found | None:
    """What is at the path of a number; an archive's directory counts as one thing."""
    path = root / f"f{number}"
    if path.is_symlink():
        return Found("link", data=os.fsencode(os.readlink(path)))
    if not path.exists():
        return None
    status = path.stat()
    attributes = stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
    if path.is_file():
        return Found("file", attributes, path.read_bytes())
    members = _members(path, number) if kind == "archive" else b""
    return Found("directory", attributes, members)


def _members(path: Path, number: int) -> bytes:
    """What is there of an archive. Without what `creates` names it is extracted again."""
    whole = {
        f"{'inner/' * (member % 2)}m{member}": contents(number + member)[1]
        for member in range(_MEMBERS)
    }
    there = {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
    if there == whole:
        return b"all members"
    torn = [name for name, data in there.items() if whole.get(name) != data]
    return f"{len(there)} members, torn: {torn}".encode()


def _of_record(disk: Path, changed: set[int]) -> list[str]:
    """What the host's record of the run denies."""
    with mock.patch.object(run_record, "boot", return_value="another"):
        told = run_record.past_messages(StateStore(str(disk / "state")), _RECEIPT, False)
    state = told[-1]["state"]
    known = {turn["index"] for message in told for turn in message["results"]}
    known.update(told[-1]["started"])
    if state in ("none", "cut", "ended"):
        return [f"{n} changed and is said to have not run" for n in sorted(changed - known)]
    return ["the record of the run is lost"] if changed else []


def run(seconds: float, seed: int) -> Figures:
    """Cut the power of one push after the other, at least once."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    while not tried or time.monotonic() < deadline:
        with tempfile.TemporaryDirectory(prefix="power-") as top:
            kinds = chance.sample(_KINDS, chance.randint(1, 3)) if tried else _KINDS
            push = Push(Path(top), kinds)
            tried["pushes"] += 1
            broken += [f"the first push fails: {e['error']}" for e in push.events if e["failed"]]
            for number in range(_MANY):
                moment = chance.randint(0, push.length)
                cache = chance if number % 3 else None
                changed, lost, found = push.cut(moment, cache)
                broken += found
                tried["cuts"] += 1
                tried["cuts in the middle of a push"] += 0 < changed < _FILES
                tried["blocks lost in the cache"] += lost
                tried["changes already on the disk"] += changed
                if time.monotonic() >= deadline:
                    break
    return Figures(dict(tried), broken)
