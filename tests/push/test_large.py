"""Large is not bad: a 1 GB source and 10,000 resources in bounded memory; prints the figures.

The short form pushes a quarter of each.
"""

import contextlib
import hashlib
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Host
from tests.push.command import Run
from tests.push.target import Target

pytestmark = [pytest.mark.begun_first, pytest.mark.timeout(1500)]

GIGABYTE = 1 << 30
MEGABYTE = 1 << 20

BIG = """\
ccm:
  resources:
    - file:
        - DIR/big: {source: big, owner: OWNER, group: GROUP, mode: "0644"}
"""


def resident(pid: str) -> int:
    """The peak memory of a process so far in bytes, 0 once it has ended."""
    try:
        lines = Path("/proc", pid, "status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)


class Memory:
    """The peaks of the processes whose command lines match, looked up while a block runs."""

    def __init__(self, **patterns: str) -> None:
        self._patterns = {name: re.compile(pattern) for name, pattern in patterns.items()}
        self._names: dict[str, str] = {}
        self.peaks = dict.fromkeys(patterns, 0)
        self._over = threading.Event()

    @contextlib.contextmanager
    def watching(self) -> Iterator["Memory"]:
        watcher = threading.Thread(target=self._watch)
        watcher.start()
        try:
            yield self
        finally:
            self._over.set()
            watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                name = self._names.get(pid) or self._called(pid)
                if name:
                    self.peaks[name] = max(self.peaks[name], resident(pid))

    def _called(self, pid: str) -> str:
        try:
            command = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, UnicodeDecodeError):
            return ""
        for name, pattern in self._patterns.items():
            if pattern.match(command):
                self._names[pid] = name
                return name
        return ""


def measured(target: Target, site: str, *options: str) -> tuple[Run, dict[str, int], float]:
    """Push; the peak memory of the controller and of the runtime in MB, and the seconds."""
    memory = Memory(
        controller=rf".*push .*{re.escape(str(target.ccm.scratch))}/site.yaml",
        target=r"\S*python\S* -I -S -B ",
    )
    target.ccm.forks = False
    began = time.monotonic()
    with memory.watching():
        done = target.push(site, *options)
    seconds = time.monotonic() - began
    return done, {name: peak // MEGABYTE for name, peak in memory.peaks.items()}, seconds


@pytest.mark.long("4")
@pytest.mark.parametrize("quarters", [1, 4])
def test_a_gigabyte_is_streamed(remote: Target, host: Host, quarters: int) -> None:
    """Quarters of 1 GB arrive whole, and neither side ever holds more than a small part of them."""
    source = remote.ccm.scratch / "big"
    digest = hashlib.sha256()
    size = quarters * GIGABYTE // 4
    with source.open("wb") as big:
        for start in range(0, size, 256 * MEGABYTE):
            big.seek(start)
            big.write(os.urandom(MEGABYTE))
        big.truncate(size)
    with source.open("rb") as big:
        while block := big.read(MEGABYTE):
            digest.update(block)
    for title, status in (("first", "changed"), ("converged", "stable")):
        done, peaks, seconds = measured(remote, BIG)
        assert done.code == 0, done.output
        assert remote.statuses(done) == {"file#big": status}
        print(f"{size >> 20} MB, {title}: {seconds:.1f} s, MB at most: {peaks}")
        assert 0 < peaks["controller"] < 150
        assert 0 < peaks["target"] < 60
    assert host.run("sha256sum /srv/t/big", timeout=60).stdout.split()[0] == digest.hexdigest()


@pytest.mark.long("10000")
@pytest.mark.parametrize("count", [2_500, 10_000])
def test_many_resources(local: Target, count: int) -> None:
    """Files are made and found stable, with events for all of them and bounded memory."""
    last = count - 101
    entries = "".join(
        f'        - DIR/{n % 100}/{n}: {{content: "{{{{ Host.name }}}} {n}\\n"}}\n'
        for n in range(last + 1)
    )
    directories = "".join(
        f'        - DIR/{n}: {{ensure: directory, mode: "755"}}\n' for n in range(100)
    )
    defaults = '        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}\n'
    site = f"ccm:\n  resources:\n    - file:\n{defaults}{directories}{entries}"
    for title, status in (("first", "changed"), ("converged", "stable")):
        done, peaks, seconds = measured(local, site)
        assert done.code == 0, done.output[-2000:]
        assert len(done.events) == count
        assert {e["status"] for e in done.events} == {status}
        print(f"{count} resources, {title}: {seconds:.1f} s, MB at most: {peaks}")
        assert 0 < peaks["controller"] < 250
        assert 0 < peaks["target"] < 150
    assert local.read(f"99/{last}") == f"web1 {last}\n"
