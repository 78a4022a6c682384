"""Power cuts: what is on the disk of a host at any instant of a push.

A push writes to a file system on a loop device. At a random moment the image of that device is
copied, which is what a disk holds when the power goes: nothing that was not written to it yet. The
copy is mounted and looked at. Every file there is whole, as it was or as it is to be. No file has
changed of which the host's own record of the run says that it did not run.
"""

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from remote_runtime.state import run_record
from remote_runtime.system.state_store import Memory
from tests.hostile.figures import Figures
from tests.remote_runtime.controller import Target
from tests.remote_runtime.fakes import blob

TITLE = "Power cuts"
_FILES = 40
_MIB = 64
_RECEIPT = "0123456789abcdef" * 2


def possible() -> str:
    """Why file systems cannot be mounted here; "" where they can."""
    try:
        with tempfile.TemporaryDirectory(prefix="power-") as top, _disk(Path(top)):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)


def contents(number: int) -> tuple[bytes, bytes]:
    """What a file holds before the push, and after it."""
    return b"old %d\n" % number * 50, hashlib.sha256(b"%d" % number).hexdigest().encode() * 200


@contextlib.contextmanager
def _mounted(image: Path, place: Path) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-o", "loop", image, place], check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@contextlib.contextmanager
def _disk(top: Path) -> Iterator[tuple[Path, Path]]:
    """The image of a file system, and where it is mounted."""
    image = top / "image"
    with open(image, "wb") as file:
        file.truncate(_MIB << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
    with _mounted(image, top / "disk") as place:
        yield image, place


def _resources(root: Path) -> list[dict[str, Any]]:
    return [
        {
            "type": "file",
            "name": str(root / f"f{number}"),
            "properties": {
                "owner": "root",
                "group": "root",
                "mode": "0644",
                "content": blob(contents(number)[1]),
            },
        }
        for number in range(_FILES)
    ]


def cut(top: Path, chance: random.Random) -> tuple[int, list[str]]:
    """One push and one copy: how many files had changed on the copy, and what does not hold."""
    with _disk(top) as (image, disk):
        root = disk / "root"
        root.mkdir()
        for number in range(0, _FILES, 2):
            (root / f"f{number}").write_bytes(contents(number)[0])
        subprocess.run(["sync", "-f", disk], check=True)
        blobs = [contents(number)[1] for number in range(_FILES)]
        target = Target(str(top / "lock"), str(disk / "state"), blobs, started=True)
        left = chance.randrange(1, _FILES)

        def pull(event: dict[str, Any]) -> None:
            nonlocal left
            left -= 1
            if not left:
                # Stopped, so that the copy is of one instant.
                os.kill(target.process.pid, signal.SIGSTOP)
                shutil.copy(image, top / "copy")
                os.kill(target.process.pid, signal.SIGCONT)

        target.on["event"] = pull
        target.start(*_resources(root), receipt=_RECEIPT, run_id="R1")
        target.until("done")
        target.send({"t": "bye"})
        target.end()
    with _mounted(top / "copy", top / "after") as after:
        return _look(after)


def _look(disk: Path) -> tuple[int, list[str]]:
    found, changed = [], set()
    for number in range(_FILES):
        path = disk / "root" / f"f{number}"
        old, new = contents(number)
        data = path.read_bytes() if path.exists() else None
        if data == new:
            changed.add(number)
        elif data != (None if number % 2 else old):
            found.append(f"f{number} is neither as it was nor as it is to be")
    with mock.patch.object(run_record, "boot", return_value="another"):
        told = run_record.past_messages(Memory(str(disk / "state")), _RECEIPT, False)
    state = told[-1]["state"]
    known = {turn["index"] for message in told for turn in message["turns"]}
    known.update(told[-1]["begun"])
    if state in ("none", "cut", "ended"):
        found += [f"f{at} changed and is said to have not run" for at in sorted(changed - known)]
    elif changed:
        found.append("the record of the run is lost")
    return len(changed), [f"{len(changed)} files, {state}: {text}" for text in found]


def run(seconds: float, seed: int) -> Figures:
    """Cut the power of one push after the other, at least once."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    while not tried or time.monotonic() < deadline:
        with tempfile.TemporaryDirectory(prefix="power-") as top:
            changed, found = cut(Path(top), chance)
        broken += found
        tried["cuts"] += 1
        tried["in the middle"] += 0 < changed < _FILES
        tried["files on the disk by then"] += changed
    return Figures(dict(tried), broken)
