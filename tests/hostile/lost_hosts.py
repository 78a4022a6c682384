"""Booted hosts that vanish in the middle of a rollout: by power, by reboot, by a dead line.

A site is pushed to three hosts in waves. In mid-wave one of them loses its power, reboots, or
loses its line without a packet that says so. Each resource leaves a trace on its host. No form of
the report may contradict that, neither right after the loss nor after the host was spoken with
again; then nothing of it is unknown. What a host did before is on its disk: it boots with it.
"""

import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.hostile.figures import Figures
from tests.hostile.lost_links import CONTACTS, FINDINGS, check, contact, reports
from tests.hostile.quick_ccm import GRACE, SILENCE, quick_ccm
from tests.lab import Host, Lab, LabError
from tests.push.command import Run
from tests.remote_runtime.controller import within

TITLE = "Hosts lost in the middle of a wave"
WAYS = ("switched off", "rebooted", "unplugged", "unplugged for a while")
_ROOT = "/srv/lost"
_TURNS = 6
_PATIENCE = 60


class Fleet:
    """The hosts of a lab as ccm knows them, and what really happened on each."""

    def __init__(self, lab: Lab, scratch: Path) -> None:
        self.lab = lab
        self.ccm = quick_ccm(scratch)
        self.inventory = lab.inventory(scratch / "hosts.yaml")
        self.site = self.ccm.site(_site())

    def renew(self) -> None:
        """As before the first push."""
        for host in self.lab.hosts.values():
            host.plug(connected=True)
            host.start()
            host.run(f"rm -rf {_ROOT}; mkdir {_ROOT}")

    def push(self) -> "subprocess.Popen[str]":
        options = ["--waves", "1,2,100%", "--max-fail", "100%", "--connect-timeout", "3"]
        return self.ccm.start("push", "-i", str(self.inventory), *options, str(self.site))

    def last_run(self) -> str:
        runs = self.ccm.scratch / "state" / "ccm" / "runs"
        return max(path.name for path in runs.iterdir())


def happened(host: Host) -> set[str]:
    """The resources that did what they had to, as the host shows it."""
    listed = host.run(f"cd {_ROOT} && ls && cat log 2>/dev/null", check=False).stdout.split()
    files = {f"file#{_ROOT}/{name}" for name in listed if name.startswith("f")}
    return files | {f"exec#{name}" for name in listed if name.startswith("x")}


def _site() -> str:
    lines = ["ccm:", "  resources:"]
    for number in range(_TURNS):
        path = f"{_ROOT}/f{number}"
        own = "owner: root, group: root, mode: '0644'"
        lines.append(f"    - file: [{{{path}: {{content: 'x', {own}}}}}]")
        script = f"sleep 0.3; echo x{number} >> log; sync"
        lines.append(
            f"    - exec: [{{x{number}: {{command: '{script}', cwd: {_ROOT}, "
            f"provider: shell, subscribe: ['file#{path}']}}}}]"
        )
    return "\n".join(lines) + "\n"


def lose(fleet: Fleet, way: str, how: str, chance: random.Random) -> list[str]:
    """Push in waves, lose a host in the one that is its, and say what does not hold."""
    host = fleet.lab.hosts[chance.choice(fleet.lab.names)]
    push = fleet.push()
    begun = within(_PATIENCE, lambda: host.exists(f"{_ROOT}/f0") or push.poll() is not None)
    if not begun or push.poll() is not None:
        push.kill()
        return [f"the push did not begin: {push.communicate()}"]
    time.sleep(chance.uniform(0.2, 2.2))
    if way == "switched off":
        host.stop()
    elif way == "rebooted":
        boot = _boot(host)
        host.run("systemctl reboot --no-block", check=False)
    else:
        host.plug(connected=False)
    if way == "unplugged for a while":
        time.sleep(chance.uniform(0.5, 2 * SILENCE))
        host.plug(connected=True)
    try:
        push.communicate(timeout=3 * _PATIENCE)
    except subprocess.TimeoutExpired:
        push.kill()
        push.communicate()
        return ["the controller does not end"]
    run_id = fleet.last_run()
    host.plug(connected=True)
    if way == "rebooted" and not within(_PATIENCE, lambda: _boot(host) not in ("", boot)):
        return ["the host does not come back"]
    host.start()
    if not within(
        _PATIENCE, lambda: "yes" in _told(host, "systemctl -q is-active ssh && echo yes")
    ):
        return ["sshd does not come back"]
    time.sleep(2 * SILENCE)  # the runtime gives up, too
    found = _problems(fleet, run_id, later=())
    before = {name: happened(one) for name, one in fleet.lab.hosts.items()}
    if not before[host.name]:
        time.sleep(GRACE)
    done: Run = fleet.ccm.run(*contact(how, fleet.inventory, fleet.site, f"{_ROOT}/f0"))
    if done.code != 0 and done.code not in FINDINGS.get(how, ()):
        found.append(f"{how} ended with {done.code}: {done.output[-800:]}")
    return found + _problems(fleet, run_id, later=(host.name,), before=before)


def _boot(host: Host) -> str:
    """What names this start of the host; "" while it is down."""
    return _told(host, "cat /proc/sys/kernel/random/boot_id")


def _told(host: Host, command: str) -> str:
    try:
        return host.run(command, check=False).stdout.strip()
    except LabError:
        return ""


def _problems(
    fleet: Fleet, run_id: str, *, later: tuple[str, ...], before: dict[str, set[str]] | None = None
) -> list[str]:
    """What does not hold of any form of the report, about each of the hosts."""
    found = []
    for name, host in fleet.lab.hosts.items():
        forms = (form for form in reports(fleet.ccm, run_id, name) if form[0] != "metrics")
        so_far = happened(host) if before is None else before[name]
        found += [f"{name}: {one}" for one in check(forms, so_far, name, later=name in later)]
    return found


def lose_one(lab: Lab, way: str, how: str, chance: random.Random) -> list[str]:
    """One loss in a lab that is up."""
    with tempfile.TemporaryDirectory(prefix="lost-") as top:
        fleet = Fleet(lab, Path(top))
        fleet.renew()
        try:
            return lose(fleet, way, how, chance)
        finally:
            fleet.renew()


def run(seconds: float, seed: int, choose: Callable[[str], bool] = lambda way: True) -> Figures:
    """Lose one host after the other in the ways that are chosen, each at least once."""
    chance = random.Random(seed)
    tried: Counter[str] = Counter()
    broken: list[str] = []
    deadline = time.monotonic() + seconds
    with Lab(count=3) as lab:
        while not tried or time.monotonic() < deadline:
            for way in filter(choose, WAYS):
                how = CONTACTS[tried["losses"] % len(CONTACTS)]
                found = lose_one(lab, way, how, chance)
                broken += [f"{way}, then {how}: {text}" for text in found]
                tried["losses"] += 1
                tried[way] += 1
    return Figures(dict(tried), broken)
