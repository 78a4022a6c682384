"""Rollouts over a fleet of 60 that stands on three booted hosts: never one host more is touched
than the rule allows, by what the hosts themselves have noted."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm

pytestmark = pytest.mark.begun_first

USERS = 20
NOTES = "/srv/turns"


class Fleet:
    """Twenty users of each booted host, each of whom is a host: h00 on web1, h01 on web2, …"""

    def __init__(self, ccm: Ccm, lab: Lab, boxes: list[Host], directory: Path) -> None:
        self.ccm = ccm
        self.boxes = boxes
        self.inventory = directory / "sixty.yaml"
        keys = "/root/.ssh/authorized_keys"
        for box in boxes:
            box.run(
                f"mkdir -m 1777 {NOTES}; for n in $(seq {USERS}); do useradd -m u$n; "
                f"install -d -o u$n -g u$n -m 700 /home/u$n/.ssh; "
                f"install -o u$n -g u$n -m 600 {keys} /home/u$n/.ssh/authorized_keys; done"
            )
        lines = [
            f"  h{n:02}: {{address: {box.address}, user: u{n // 3 + 1}, "
            f"vars: {{n: {n}, box: {box.name}}}}}"
            for n in range(3 * USERS)
            for box in [boxes[n % 3]]
        ]
        common = {"key_file": str(lab.key_file), "known_hosts": str(lab.known_hosts)}
        text = "\n".join([f"defaults: {json.dumps(common)}", "hosts:", *lines, ""])
        self.inventory.write_text(text, encoding="utf-8")

    def site(self, shell: str, kinds: int = 1) -> Path:
        """Notes when a turn begins and ends; ``shell`` is what goes on between, of host $N.

        In a preview there are so many ``kinds`` of hosts.
        """
        turns = f"""\
        - turn KIND:
            control: {{if: "lookup('facts.n') % {kinds} == KIND"}}
            provider: shell
            environment: ["N={{{{ lookup('facts.n') }}}}"]
            command: |
              date +%s.%N > {NOTES}/$N.begin
              {shell}
              date +%s.%N > {NOTES}/$N.end
"""
        text = "".join(turns.replace("KIND", str(kind)) for kind in range(kinds))
        return self.ccm.site(f"ccm:\n  resources:\n    - exec:\n{text}")

    def push(self, site: Path, *options: str) -> "Pushed":
        done = self.ccm.run(*self._words(site, options))
        assert done.stdout, done.stderr
        return Pushed(done.code, json.loads(done.stdout))

    def start(self, site: Path, *options: str) -> "subprocess.Popen[str]":
        """The same while it goes on."""
        return self.ccm.start(*self._words(site, options))

    def _words(self, site: Path, options: tuple[str, ...]) -> tuple[str, ...]:
        return ("push", "-i", str(self.inventory), "--json", *options, str(site))

    def notes(self) -> dict[int, tuple[float, float]]:
        """When each host's turn began and ended by the hosts' own clock; 0 for one without end."""
        found: dict[int, tuple[float, float]] = {}
        for box in self.boxes:
            said = box.run(f"cd {NOTES}; grep -H . *.begin *.end 2>/dev/null || true").stdout
            times: dict[str, float] = {}
            for line in said.splitlines():
                name, _, told = line.partition(":")
                times[name] = float(told)
            for name, at in times.items():
                number, _, what = name.partition(".")
                if what == "begin":
                    found[int(number)] = at, times.get(f"{number}.end", 0.0)
        return found


class Pushed(NamedTuple):
    """How a push ended."""

    code: int
    document: dict[str, Any]

    def hosts(self, *outcomes: str) -> set[int]:
        """The numbers of the hosts that came to one of these."""
        hosts = self.document["hosts"]
        return {int(name[1:]) for name, how in hosts.items() if how["outcome"] in outcomes}


@pytest.fixture
def fleet(ccm: Ccm, lab: Lab, hosts: list[Host], tmp_path: Path) -> Fleet:
    """A fleet that nobody has touched."""
    return Fleet(ccm, lab, hosts, tmp_path)


def test_hosts_that_fail_and_hang_hold_the_wave_after_them(fleet: Fleet) -> None:
    """In waves of 1, 6 and 60 one host of the second fails and one hangs: both are counted, and
    none of the last 54 is touched."""
    site = fleet.site("case $N in 3) exit 1;; 5) sleep 600;; esac")
    options = ("--waves", "1,10%,100%", "--max-fail", "1", "--forks", "4", "--timeout", "15")
    pushed = fleet.push(site, *options)
    assert pushed.code == 3
    assert set(fleet.notes()) == set(range(6))
    assert pushed.hosts("failed", "unreachable") == {3, 5}
    assert pushed.hosts("held") == set(range(6, 60))


def test_a_machine_that_vanishes_spends_the_budget(fleet: Fleet) -> None:
    """A third of the fleet loses its network in the middle: at most the budget, the host that is
    one too many and those that ran beside it have begun in vain."""
    forks, budget = 6, 2
    site = fleet.site("sleep 0.3")
    bounds = ("--max-fail", str(budget), "--connect-timeout", "10", "--timeout", "40")
    process = fleet.start(site, "--forks", str(forks), *bounds)
    lost = fleet.boxes[2]
    try:
        _wait_for(lambda: len(fleet.notes()) > 12)
        lost.plug(False)
        stdout, stderr = process.communicate(timeout=150)
    finally:
        process.kill()
        lost.plug(True)
    pushed = Pushed(process.returncode, json.loads(stdout))
    assert pushed.code == 3, stderr
    wrong, held = pushed.hosts("failed", "unreachable"), pushed.hosts("held")
    assert budget < len(wrong) <= budget + 1 + forks - 1
    assert {number % 3 for number in wrong} == {2}
    assert len(held) == 60 - len(wrong) - len(pushed.hosts("ok"))
    assert not held & set(fleet.notes())


def test_a_machine_that_comes_back_goes_on_in_its_wave(fleet: Fleet) -> None:
    """A third of the fleet loses its network in the middle of the first wave, until one of its
    hosts is told lost: only its hosts fail, those whose turn comes later are well, and the second
    wave begins behind the first by the hosts' own clocks. What goes on touches those that failed
    and nobody else."""
    site = fleet.site("sleep 0.3")
    bounds = ("--max-fail", "30", "--connect-timeout", "10", "--timeout", "60")
    process = fleet.start(site, "--forks", "6", "--waves", "40,100%", *bounds)
    away = fleet.boxes[2]
    try:
        _wait_for(lambda: len(fleet.notes()) > 8)
        away.plug(False)
        _wait_for(lambda: _lost(fleet.ccm), 120)
        away.plug(True)
        stdout, stderr = process.communicate(timeout=170)
    finally:
        process.kill()
        away.plug(True)
    pushed = Pushed(process.returncode, json.loads(stdout))
    assert pushed.code == 3, stderr
    wrong, well = pushed.hosts("failed", "unreachable"), pushed.hosts("ok")
    assert {number % 3 for number in wrong} == {2}
    assert {number for number in well if number % 3 == 2}
    assert wrong | well == set(range(60))
    notes = fleet.notes()
    assert well <= set(notes)
    first = [notes[number][1] for number in well if number < 40]
    assert max(first) <= min(begin for number, (begin, _) in notes.items() if number >= 40)
    run = pushed.document["run_id"]
    again = fleet.push(site, "-l", f"run:{run}:failed")
    assert again.code == 0, again.document
    assert again.hosts("ok") == wrong
    after = fleet.notes()
    assert set(after) == set(range(60))
    assert {number: after[number] for number in well} == {number: notes[number] for number in well}


def _lost(ccm: Ccm) -> bool:
    """Whether the run has told of a host that it is lost."""
    files = (ccm.scratch / "state/ccm/runs").glob("*/hosts.jsonl")
    return any('"unreachable"' in file.read_text(encoding="utf-8") for file in files)


@pytest.mark.long  # test_rollout.py holds it on this machine
def test_two_at_once_on_a_machine(fleet: Fleet) -> None:
    """By the hosts' own clock never more than two of a machine run side by side, and those of the
    other machines do not wait for them."""
    pushed = fleet.push(fleet.site("sleep 0.2"), "--per", "box=2", "--forks", "30")
    assert pushed.code == 0
    notes = fleet.notes()
    assert len(notes) == 60
    everywhere = [at for number in notes for at in [notes[number]]]
    assert max(_side_by_side([notes[n] for n in notes if n % 3 == box]) for box in range(3)) <= 2
    assert _side_by_side(everywhere) > 2


def _side_by_side(turns: list[tuple[float, float]]) -> int:
    """How many ran at once at most."""
    changes = sorted([(begin, 1) for begin, _ in turns] + [(end, -1) for _, end in turns])
    running = maximum = 0
    for _, change in changes:
        running += change
        maximum = max(maximum, running)
    return maximum


@pytest.mark.long  # test_rollout.py and test_stages.py hold it on this machine
def test_a_gate_lets_no_host_through_before_it_has_answered(fleet: Fleet, tmp_path: Path) -> None:
    """Not yet, twice, then yes: the wave behind it begins after that, by the hosts' own clock."""
    asked = tmp_path / "asked"
    gate = f"date +%s.%N >> {asked}; test $(wc -l < {asked}) -ge 2 || exit 75"
    pushed = fleet.push(fleet.site(":"), "-l", "h0[0-5]", "--waves", "2", "--gate", gate)
    assert pushed.code == 0, pushed.document
    notes = fleet.notes()
    answered = float(asked.read_text().split()[1])
    assert max(notes[number][1] for number in (0, 1)) < answered
    assert min(notes[number][0] for number in (2, 3, 4, 5)) > answered


@pytest.mark.long  # test_rollout.py holds it on this machine
def test_a_canary_that_fails_stops_its_cluster_and_no_other(fleet: Fleet) -> None:
    """Of three clusters of 20 one has a canary that fails: nobody else of it is touched, all of the
    others are, each behind its own canary; the rest is what goes on once that is mended."""
    cluster, others = set(range(1, 60, 3)), set(range(60)) - set(range(1, 60, 3))
    site = fleet.site("test $N != 1 || test -e /tmp/mended || exit 1", kinds=3)
    pushed = fleet.push(site, "--canary", "auto", "--forks", "4")
    assert pushed.code == 1, pushed.document
    notes = fleet.notes()
    assert set(notes) == others | {1}
    assert pushed.hosts("failed") == {1}
    assert pushed.hosts("held") == cluster - {1}
    for canary in (0, 2):
        behind = [begin for number, (begin, _) in notes.items() if number % 3 == canary]
        assert sorted(behind)[1] > notes[canary][1]
    fleet.boxes[1].run("touch /tmp/mended")
    run = pushed.document["run_id"]
    again = fleet.push(site, "-l", f"run:{run}:remaining,h01", "--canary", "auto")
    assert again.code == 0, again.document
    assert again.hosts("ok") == cluster
    assert set(fleet.notes()) == set(range(60))


def test_a_rollout_that_is_killed_goes_on_where_it_was(fleet: Fleet) -> None:
    """ccm is killed in the middle of a wave: the hosts without a turn are known, and so are those
    that were cut off; nobody is forgotten."""
    site = fleet.site("sleep 0.3")
    words = ("push", "-i", str(fleet.inventory), "--waves", "5,50%", "--forks", "4", str(site))
    process = fleet.ccm.start(*words)
    _wait_for(lambda: len(fleet.notes()) > 8)
    process.kill()
    process.communicate(timeout=120)
    time.sleep(3)  # what was under way ends with its connection
    before = fleet.notes()
    assert 8 < len(before) < 30
    (run,) = (fleet.ccm.scratch / "state/ccm/runs").iterdir()
    pushed = fleet.push(site, "-l", f"run:{run.name}:remaining")
    assert pushed.code == 0, pushed.document
    remaining = pushed.hosts("ok")
    assert not remaining & set(before)
    cut = fleet.push(site, "-l", f"run:{run.name}:failed").hosts("ok")
    assert len(cut) <= 4
    assert {number for number, (_, end) in before.items() if end} | remaining | cut == set(
        range(60)
    )


@pytest.mark.long  # test_rollout.py and test_stages.py hold it on this machine
def test_stages_touch_nobody_behind_the_one_that_fails(fleet: Fleet) -> None:
    """Six hosts first, one runs the migration, then the rest in waves; in the second of these one
    fails and one vanishes. By the hosts' own clocks no stage begins before the one before it has
    ended, and nobody behind is touched. Mended, the command that goes on touches those only."""

    def release(bad: str) -> Path:
        path = fleet.site(bad)
        stages = [
            {"name": "first", "hosts": "h0[0-5]", "manifest": path.name},
            {"name": "migration", "hosts": "h[30-59]", "take": 1, "manifest": path.name},
            {"name": "rest", "hosts": "h[06-59]", "manifest": path.name, "waves": "4,10"},
        ]
        made = path.with_name("release.yaml")
        made.write_text(json.dumps({"stages": stages}), encoding="utf-8")
        return made

    bad = "case $N in 11) exit 1;; 12) pkill -KILL -u $(id -un) python3;; esac"
    pushed = fleet.push(release(bad), "--forks", "4")
    assert pushed.code in (1, 3), pushed.document
    notes = fleet.notes()
    begun = set(notes) - {30}
    assert begun <= set(range(6 + 4 + 6))
    assert set(range(6 + 4)) < begun
    ended = max(notes[number][1] for number in range(6))
    assert ended <= notes[30][0]
    assert notes[30][1] <= min(notes[number][0] for number in range(6, 10))
    held = {name for name, how in pushed.document["hosts"].items() if how["outcome"] == "held"}
    assert {f"rest/h{number}" for number in range(16, 60)} <= held
    again = fleet.push(
        release(":"), "-l", f"run:{pushed.document['run_id']}:remaining", "--from", "rest"
    )
    assert again.code == 0, again.document
    assert {f"rest/h{number}" for number in range(16, 60)} <= again.document["hosts"].keys()
    assert set(fleet.notes()) >= set(range(60)) - {11, 12}


def _wait_for(condition: Any, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)
