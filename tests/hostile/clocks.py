"""A booted host whose clock jumps: before a run, between runs, and in the middle of a run.

libfaketime is loaded into every process of the host and moves its wall clock by days or years.
The monotonic clock goes on as always, as it does on a real machine. Whatever the clock says, the
push does what the manifest says, a second push changes nothing, a preview is right, a due refresh
is not lost, and no report names a duration that is negative or longer than the run took.
"""

import json
import random
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.hostile.figures import Figures
from tests.lab import Host, Lab
from tests.push.command import Ccm, Run
from tests.remote_runtime.controller import within

TITLE = "Clocks that jump"
JUMPS = ("-2d", "+10y", "-1y", "+3d", "-3m", "+1h", "+0")
_ROOT = "/srv/clocks"
_SETTING = "/etc/faketimerc"
_PRELOAD = "/etc/ld.so.preload"
_SSHD = "/etc/ssh/sshd_config.d/clocks.conf"
_PATIENCE = 60


class Clock:
    """The wall clock of a lab host, which jumps when it is told to."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def __enter__(self) -> "Clock":
        """Have every process of the host from now on read the moved clock."""
        library = self._host.run("ls /usr/lib/*/faketime/libfaketime.so.1").stdout.strip()
        # The cache of the setting is short, so that a process sees a jump while it runs.
        self._host.write(
            _SSHD,
            "SetEnv DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1 "
            "FAKETIME_CACHE_DURATION=1\n",
        )
        # A systemd does not start with the library: root's own is there before, and stays.
        self._host.run("loginctl enable-linger root; systemctl start user@0.service")
        self.jump("+0")
        self._host.write(_PRELOAD, library + "\n")
        self._host.run("systemctl restart ssh")
        return self

    def __exit__(self, *_: object) -> None:
        self._host.run(f"rm -f {_PRELOAD} {_SSHD}", check=False)
        self._host.run(f"rm -f {_SETTING}; systemctl restart ssh", check=False)
        self._host.run("loginctl disable-linger root", check=False)

    def jump(self, offset: str) -> None:
        """Set the clock to an offset from the real time: ``-2d``, ``+10y``."""
        self._host.write(_SETTING, f"{offset}\n")


def _site(turn: int) -> str:
    own = "owner: root, group: root, mode: '0644'"
    return f"""ccm:
  resources:
    - file: [{{{_ROOT}/first: {{content: 'first {turn}', {own}}}}}]
    - exec:
        - wait-for-the-jump:
            command: 'touch {_ROOT}/waits; sleep 3; date +%Y >> {_ROOT}/years; rm {_ROOT}/waits'
            provider: shell
            refresh_only: true
            subscribe: ['file#{_ROOT}/first']
    - file: [{{{_ROOT}/second: {{content: 'second {turn}', {own}}}}}]
    - exec:
        - refresh:
            command: 'echo {turn} >> {_ROOT}/refreshed'
            provider: shell
            refresh_only: true
            subscribe: ['file#{_ROOT}/second']
"""


def _durations(value: Any) -> list[float]:
    """Every number that a document calls a duration, in seconds; documents count nanoseconds."""
    if isinstance(value, dict):
        own = [
            number / 1e9
            for name, number in value.items()
            if "duration" in name and isinstance(number, (int, float))
        ]
        return own + [one for member in value.values() for one in _durations(member)]
    if isinstance(value, list):
        return [one for member in value for one in _durations(member)]
    return []


class Turn:
    """One manifest on one host, pushed while the clock jumps."""

    def __init__(self, lab: Lab, scratch: Path, number: int) -> None:
        self.host = lab.hosts[lab.names[0]]
        self.ccm = Ccm(scratch)
        self.inventory = lab.inventory(scratch / "hosts.yaml")
        self.site = self.ccm.site(_site(number))
        self.number = number
        self.broken: list[str] = []

    def expect(self, holds: bool, what: str, run: Run | None = None) -> None:
        if not holds:
            self.broken.append(what + (f": {run.output[-800:]}" if run else ""))

    def run(self, *arguments: str) -> Run:
        only = ("-i", str(self.inventory), "-l", self.host.name)
        return self.ccm.run(arguments[0], *only, *arguments[1:])

    def take(self, clock: Clock, jumps: tuple[str, str, str]) -> list[str]:
        """Preview, push with a jump in the middle, push again, and read what reports say."""
        before, amid, after = jumps
        clock.jump(before)
        plan = self.ccm.scratch / f"turn{self.number}.plan"
        made = self.run("plan", str(self.site), "-o", str(plan))
        self.expect(plan.exists(), "the plan is not made", made)
        began = time.monotonic()
        push = self.ccm.start("push", str(plan))
        within(_PATIENCE, lambda: self.host.exists(f"{_ROOT}/waits") or push.poll() is not None)
        clock.jump(amid)
        told, errors = push.communicate(timeout=3 * _PATIENCE)
        took = time.monotonic() - began
        self.expect(push.returncode == 0, f"the plan is not applied: {told[-800:]}{errors[-800:]}")
        self._check_report(took)
        clock.jump(after)
        preview = self.run("push", "--noop", str(self.site))
        self.expect(
            "would change" not in preview.output.replace("0 would change", ""),
            "a preview of what is as desired",
            preview,
        )
        refreshed = self.host.read(f"{_ROOT}/refreshed").split()
        again = self.ccm.push(self.inventory, self.site, "-l", self.host.name)
        changed = [e["name"] for e in again.events if e.get("changed")]
        self.expect(again.code == 0 and not changed, f"the second push changes {changed}", again)
        self.expect(refreshed[-1:] == [str(self.number)], f"refreshes: {refreshed}")
        self.expect(
            self.host.read(f"{_ROOT}/refreshed").split() == refreshed, "refreshed a second time"
        )
        for command in ("drift", "status"):
            asked = self.run(command, *([] if command == "drift" else [f"file#{_ROOT}/first"]))
            self.expect(asked.code in (0, 1, 2), f"{command} ends with {asked.code}", asked)
        return self.broken

    def _check_report(self, took: float) -> None:
        report = self.ccm.run("report", "--json")
        try:
            document = json.loads(report.stdout)
        except ValueError:
            self.expect(False, "the report cannot be read", report)
            return
        durations = _durations(document)
        self.expect(bool(durations), "the report names no duration", report)
        odd = [one for one in durations if not 0 <= one <= took + 1]
        self.expect(not odd, f"durations of a run of {took:.1f} s: {odd}")


def one_turn(lab: Lab, number: int, jumps: tuple[str, str, str]) -> list[str]:
    """One turn in a lab that is up."""
    host = lab.hosts[lab.names[0]]
    host.run(f"rm -rf {_ROOT}; mkdir {_ROOT}")
    with TemporaryDirectory(prefix="clocks-") as top, Clock(host) as clock:
        return Turn(lab, Path(top), number).take(clock, jumps)


def run(seconds: float, seed: int) -> Figures:
    """Take turns with jumps drawn at random until the time is over."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    with Lab(count=1) as lab:
        while not tried or time.monotonic() < deadline:
            jumps = chance.choice(JUMPS), chance.choice(JUMPS), chance.choice(JUMPS)
            found = one_turn(lab, tried["pushes of a plan"], jumps)
            broken += [f"{' then '.join(jumps)}: {text}" for text in found]
            tried["pushes of a plan"] += 1
            tried["jumps"] += len(jumps)
    return Figures(dict(tried), broken)
