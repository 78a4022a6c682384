"""What a lab has made on this machine, written down before it is made, so that anyone can remove
all of it.

`remove` is the only way a lab goes: the lab calls it when it closes, its janitor (a process that
waits for the lab's owner to end, in whatever way) when it did not, and the next lab or `python -m
tests.lab clean` when the janitor was ended too.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from . import cgroups, network
from .machine import LabError
from .rootfs import unmount

STATE = Path("/run/ccm-lab")
"""The directory of the records; like everything that they name, it does not outlive the machine's
next boot.
"""

_INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")
_INOTIFY_NEEDED = 8192
_REPOSITORY_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Record:
    """One lab: its id, scratch directory, control group in each hierarchy, and the process that
    owns it.
    """

    lab: str
    directory: str
    groups: list[str]
    owner: int
    owner_started: str

    @property
    def path(self) -> Path:
        """The file that holds this record."""
        return STATE / f"{self.lab}.json"


def create(lab: str, directory: Path, groups: cgroups.Group) -> Record:
    """Write down a lab that this process is about to make, and return its record."""
    owner = os.getpid()
    record = Record(lab, str(directory), [str(group) for group in groups], owner, _started(owner))
    record.path.write_text(json.dumps(asdict(record)))
    return record


def load_all() -> list[Record]:
    """Return the records of all labs of this machine; unreadable files are left out."""
    found = []
    for path in sorted(STATE.glob("*.json")):
        try:
            found.append(Record(**json.loads(path.read_text())))
        except (OSError, ValueError, TypeError):
            continue
    return found


def _started(pid: int) -> str:
    """Return when a process started, in clock ticks, so that a later one with the same id is told
    apart; "" if gone.
    """
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


@contextmanager
def locked() -> Iterator[None]:
    """Hold the lock of all that labs on this machine share: subnets, settings, records."""
    STATE.mkdir(mode=0o700, exist_ok=True)
    with open(STATE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def sweep(everything: bool = False) -> list[str]:
    """Remove labs whose owner has ended, or all of them. Returns their ids."""
    removed = []
    for record in load_all():
        if everything or _started(record.owner) != record.owner_started:
            remove(record)
            removed.append(record.lab)
    return removed


def remove(record: Record) -> None:
    """Remove a lab: processes, mounts, namespaces, links, control groups, scratch directory. May be
    called again.

    Raises LabError if something resists; what has been removed by then stays removed.
    """
    groups = [Path(group) for group in record.groups]
    cgroups.kill(groups)
    with locked():
        _unmount_all(Path(record.directory))
        network.remove(record.lab)
        cgroups.remove(groups)
        _remove_nspawn_traces(record.lab)
        shutil.rmtree(record.directory, ignore_errors=True)
        record.path.unlink(missing_ok=True)
        if not load_all():
            _restore_inotify()


def _unmount_all(directory: Path) -> None:
    """Unmount the scratch directory and everything below it, latest first."""
    points = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = Path(line.split()[4])
        if point == directory or directory in point.parents:
            points.append(point)
    for point in reversed(points):
        unmount(point)


def _remove_nspawn_traces(lab: str) -> None:
    """Remove the directories that systemd-nspawn leaves in /run when it is killed."""
    for directory in Path("/run/systemd/nspawn/propagate").glob(f"ccm-{lab}-*"):
        shutil.rmtree(directory, ignore_errors=True)


def raise_inotify() -> None:
    """Raise the limit of inotify instances: every systemd takes several. Hold the lock."""
    before = int(_INOTIFY.read_text())
    if before < _INOTIFY_NEEDED:
        (STATE / "inotify").write_text(str(before))
        _INOTIFY.write_text(str(_INOTIFY_NEEDED))


def _restore_inotify() -> None:
    saved = STATE / "inotify"
    if saved.exists():
        _INOTIFY.write_text(saved.read_text())
        saved.unlink()


class Janitor:
    """A process that removes a lab once the process that made it has ended, however that came
    about.
    """

    def __init__(self, record: Record) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.lab", "janitor", record.lab],
            cwd=_REPOSITORY_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """End the janitor; a lab that still has its record is removed by it first."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise LabError("the lab's janitor did not end") from None


def serve_as_janitor(lab: str) -> None:
    """Wait until standard input ends, then remove that lab if it is still on record."""
    sys.stdin.read()
    for record in load_all():
        if record.lab == lab:
            remove(record)
