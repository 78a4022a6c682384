"""Kills of a push that is under way: of its controller, its runtime, its sshd, its line.

A site is pushed over SSH to an sshd on loopback, or here; once a resource of chance has had its
turn one of them is ended. Whatever was ended, no file is half there, nothing goes on, and the same
push again brings all to its state, makes up for a refresh that was due, leaves nothing of the
killed one, and finds it stable after.
"""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests import own_lock
from tests.hostile.figures import Figures
from tests.lab.proxy import DelayProxy
from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm, Run
from tests.remote_runtime.controller import alive, within
from tests.remote_runtime.fakes import GROUP, OWNER

TITLE = "Kills of a push"
_FILES = 6
_OLD = "old\n"
_PATIENCE = 60  # seconds until whatever was left alone has noticed
_VICTIMS = (
    *("controller SIGKILL", "controller SIGTERM", "controller SIGHUP", "controller SIGINT"),
    *("runtime SIGKILL", "runtime SIGTERM", "sshd SIGKILL", "half-open line"),
)


class _Place:
    """A directory of this machine, and the ways to push to it."""

    def __init__(self, scratch: Path, sshd: Sshd, proxy: DelayProxy) -> None:
        self.root = scratch / "root"
        self.proxy = proxy
        (scratch / "tmp").mkdir()
        self.ccm = Ccm(scratch, {"TMPDIR": str(scratch / "tmp")})
        known = scratch / "known_hosts"
        key = sshd.known_hosts.read_text().partition(" ")[2]
        known.write_text(f"[127.0.0.1]:{proxy.port} {key}")
        ssh = (
            f"{{address: 127.0.0.1, port: {proxy.port}, key_file: {sshd.user_key}, "
            f"known_hosts: {known}, user: {OWNER}}}"
        )
        self.inventories = {}
        for route, properties in {"ssh": ssh, "local": "{connection: local}"}.items():
            self.inventories[route] = scratch / f"{route}.yaml"
            self.inventories[route].write_text(f"hosts: {{h: {properties}}}\n")
        self.site = self.ccm.site(self._site())

    def _site(self) -> str:
        """Files and commands in turn; the first file is there already, and is subscribed to."""
        lines = ["ccm:", "  resources:"]
        own = f"owner: {OWNER}, group: '{GROUP}', mode: '0644'"
        for number in range(_FILES):
            path = self.root / f"f{number}"
            lines.append(f"    - file: [{{{path}: {{content: '{self.content(number)}', {own}}}}}]")
            script = f"echo $PPID > runtime; echo $$ >> pids; sleep 0.2; touch done{number}"
            lines.append(
                f"    - exec: [{{x{number}: {{command: '{script}', cwd: {self.root}, "
                f"provider: shell, creates: {self.root}/done{number}}}}}]"
            )
        lines.append(
            f"    - exec: [{{refresh: {{command: echo >> refreshed, cwd: {self.root}, provider: "
            f"shell, refresh_only: true, subscribe: ['file#{self.root}/f0']}}}}]"
        )
        return "\n".join(lines) + "\n"

    @staticmethod
    def content(number: int) -> str:
        return f"file {number} " + "x" * 100_000

    def renew(self) -> None:
        """As before the first push."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        (self.root / "f0").write_text(_OLD)

    def start(self, route: str) -> "subprocess.Popen[str]":
        return self.ccm.start("push", "-i", str(self.inventories[route]), str(self.site))

    def push(self, route: str) -> Run:
        return self.ccm.push(self.inventories[route], self.site)

    def pids(self, name: str) -> list[int]:
        path = self.root / name
        return [int(pid) for pid in path.read_text().split()] if path.exists() else []

    def torn(self) -> list[str]:
        found = []
        for number in range(_FILES):
            path = self.root / f"f{number}"
            if path.exists() and path.read_text() not in (self.content(number), _OLD):
                found.append(f"{path.name} is half-written")
        return found

    def left(self) -> list[str]:
        found = [path.name for path in self.root.rglob("*ccm-*")]
        found += [path.name for path in (self.ccm.scratch / "tmp").iterdir()]
        return found + [f"process {pid}" for pid in self.pids("pids") if alive(pid)]

    def lost_refresh(self) -> bool:
        changed = (self.root / "f0").read_text() != _OLD
        return changed and not (self.root / "refreshed").exists()


def _sshd_of(pid: int) -> int:
    """The process of sshd that serves a process."""
    while pid > 1:
        _, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        pid = int(rest.split()[1])
        if Path(f"/proc/{pid}/comm").read_text().startswith("sshd"):
            return pid
    raise AssertionError("no sshd")


def _end(victim: str, push: "subprocess.Popen[str]", place: _Place) -> None:
    who, _, how = victim.partition(" ")
    if who == "half-open":
        place.proxy.black_hole = True
        return
    number = getattr(signal, how)
    if who == "controller":
        push.send_signal(number)
        return
    (runtime,) = place.pids("runtime")
    os.kill(runtime if who == "runtime" else _sshd_of(runtime), number)


def _killed(place: _Place, route: str, victim: str, chance: random.Random) -> list[str]:
    """Push, end the victim, and say what does not hold until all is quiet."""
    turn = chance.randrange(_FILES)
    push = place.start(route)
    try:
        begun = within(_PATIENCE, lambda: (place.root / f"f{turn}").exists() and _ready(place))
        if not begun:
            return [f"the push did not begin: {push.communicate(timeout=_PATIENCE)}"]
        time.sleep(chance.uniform(0, 0.3))
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it was quicker
            _end(victim, push, place)
        push.communicate(timeout=2 * _PATIENCE)
    except subprocess.TimeoutExpired:
        push.kill()
        push.communicate()
        return ["the controller does not end"]
    found = place.torn()
    if not within(_PATIENCE, lambda: not any(alive(pid) for pid in place.pids("runtime"))):
        found.append("the runtime does not end")
    place.proxy.black_hole = False
    return found


def _ready(place: _Place) -> bool:
    return bool(place.pids("runtime"))


def _again(place: _Place, route: str) -> list[str]:
    """What does not hold of the pushes that follow."""
    found = []
    for wanted in ("changed", "stable"):
        done = place.push(route)
        if done.code != 0:
            found.append(f"the next push ended with {done.code}: {done.output[-500:]}")
        elif wanted == "stable" and {event["status"] for event in done.events} != {"stable"}:
            found.append("the push after it changes something again")
    if place.lost_refresh():
        found.append("the refresh was lost")
    return found + place.torn() + [f"{what} is left" for what in place.left()]


@contextlib.contextmanager
def _place() -> Iterator[_Place]:
    own_lock.take()
    with tempfile.TemporaryDirectory(prefix="kills-") as top:
        sshd = Sshd(Path(top) / "sshd")
        try:
            with DelayProxy("127.0.0.1", sshd.port) as proxy:
                yield _Place(Path(top), sshd, proxy)
        finally:
            sshd.stop()


def run(seconds: float, seed: int, choose: Callable[[str], bool] = lambda victim: True) -> Figures:
    """Kill one after the other of those that are chosen, in an order of chance, at least once."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    with _place() as place:
        while not tried or time.monotonic() < deadline:
            ways = [(v, r) for v in _VICTIMS for r in ("ssh", "local") if choose(v)]
            chance.shuffle(ways)
            for victim, route in ways:
                if route == "local" and victim in ("sshd SIGKILL", "half-open line"):
                    continue
                place.renew()
                found = _killed(place, route, victim, chance) + _again(place, route)
                broken += [f"{victim}, {route}: {text}" for text in found]
                tried["kills"] += 1
                tried[victim] += 1
                if time.monotonic() >= deadline:
                    break
    return Figures(dict(tried), broken)
