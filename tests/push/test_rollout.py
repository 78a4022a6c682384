"""Rollouts with the real command: who is touched, by what the hosts themselves have noted."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.push.command import Ccm

HOSTS = 12


class Fleet:
    """Logical hosts of this machine: each notes its turns in a file of its own."""

    def __init__(self, ccm: Ccm, directory: Path) -> None:
        self.ccm = ccm
        self.directory = directory
        directory.mkdir()
        self.inventory = directory / "hosts.yaml"
        lines = [f"  h{n:02}: {{vars: {{n: {n}, rack: {n % 3}}}}}\n" for n in range(HOSTS)]
        text = "defaults: {connection: local}\nhosts:\n" + "".join(lines)
        self.inventory.write_text(text, encoding="utf-8")

    def site(self, shell: str = "", check: str = "true") -> Path:
        """A manifest that notes the turn; then ``shell`` decides, with the host's number in $N."""
        return self.ccm.site(
            f"""\
ccm:
  resources:
    - exec:
        - turn:
            provider: shell
            environment: ["N={{{{ lookup('facts.n') }}}}"]
            command: |
              echo turn >> {self.directory}/$N.log
              {shell or "true"}
            health_checks:
              - {{command: "/bin/sh -c '{check}'", name: well, tries: 1}}
"""
        )

    def touched(self) -> list[int]:
        """The numbers of the hosts that had a turn."""
        return sorted(int(path.stem) for path in self.directory.glob("*.log"))


@pytest.fixture
def fleet(ccm: Ccm, tmp_path: Path) -> Fleet:
    """A fleet that nobody has touched."""
    return Fleet(ccm, tmp_path / "fleet")


def document(fleet: Fleet, site: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = fleet.ccm.run("push", "-i", str(fleet.inventory), "--json", *options, str(site))
    assert done.stdout, done.stderr
    return done.code, json.loads(done.stdout)


def test_a_bad_change_touches_its_wave_and_no_more(fleet: Fleet) -> None:
    """The third host fails: of 12 hosts in waves of 1, 3 and 12 nine are never touched, and the
    run that goes on has exactly those."""
    site = fleet.site("test $N != 2")
    done = fleet.ccm.push(fleet.inventory, site, "--waves", "1,25%", "--forks", "4")
    assert done.code == 1, done.output
    assert fleet.touched() == [0, 1, 2]
    assert "stopped: 1 host failed (limit 0); 9 hosts not started" in done.stdout
    again = next(line for line in done.stdout.splitlines() if "resume with: " in line)
    words = shlex.split(again.partition("resume with: ccm ")[2])
    followed = fleet.ccm.run(*words, "--max-fail", "100%")
    assert followed.code == 0, followed.output
    assert fleet.touched() == list(range(HOSTS))
    assert [len((fleet.directory / f"{n}.log").read_text().split()) for n in range(HOSTS)] == [
        1
    ] * 12


def test_a_failure_names_the_command_that_tries_again(fleet: Fleet) -> None:
    """Hosts that failed alike have their command, live and kept: it is the same push, on them."""
    site = fleet.site(f"test -e {fleet.directory}/mended || test $N -gt 2")
    failed = fleet.ccm.push(fleet.inventory, site, "--data", "unused=x", "--timeout", "90")
    assert failed.code == 1, failed.output
    told = next(line for line in failed.stdout.splitlines() if "ccm push" in line).strip()
    words = ["-i", str(fleet.inventory), "--timeout=90", "--data", "unused=...", str(site)]
    assert told == shlex.join(["ccm", "push", "-l", "h[00-02]", *words])
    assert told in fleet.ccm.run("report").stdout
    failures = json.loads(fleet.ccm.run("report", "--json").stdout)["failures"]
    assert [one["again"] for one in failures] == [told]
    (fleet.directory / "mended").touch()
    again = fleet.ccm.run(*shlex.split(told.replace("unused=...", "unused=x"))[1:])
    assert again.code == 0, again.output
    assert [len((fleet.directory / f"{n}.log").read_text().split()) for n in range(4)] == [
        2,
        2,
        2,
        1,
    ]


def test_the_run_is_kept_and_told_again(fleet: Fleet) -> None:
    """``--json`` and ``ccm report`` know the waves, and why the rollout was held."""
    code, told = document(fleet, fleet.site("test $N != 0"), "--waves", "1,50%")
    assert code == told["exit_code"] == 1
    assert [step["step"] for step in told["rollout"]] == [
        "RolloutPlanned",
        "WaveStarted",
        "RolloutHeld",
    ]
    assert {how["outcome"] for how in told["hosts"].values()} == {"failed", "held"}
    shown = fleet.ccm.run("report")
    assert "stopped: 1 host failed (limit 0); 11 hosts not started" in shown.stdout
    assert "--waves 1,50%" in shown.stdout


def test_a_preview_shows_the_waves_and_runs_without_them(fleet: Fleet) -> None:
    """All hosts are previewed, and who would be in which wave is told."""
    options = ("--noop", "--waves", "1,50%", "--gate", "false")
    done = fleet.ccm.push(fleet.inventory, fleet.site(), *options)
    assert done.code == 0, done.output
    assert fleet.touched() == []
    assert "Waves      1: h00\n" in done.stdout
    assert "2: h[01-05] (5 hosts)" in done.stdout
    assert "12 would change" in done.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--waves", "10%,5%"], "5% comes after 10%"),
        (["--waves", "0"], "a wave of 0 has no hosts"),
        (["--max-fail", "200%"], "'200%' is more than 100%"),
        (["--max-fail", "-1"], "--max-fail"),
        (["--per", "rak=1"], "did you mean rack?"),
        (["--per", "rack"], "such as rack=1"),
        (["--until", "25:00"], "neither a time such as 05:00"),
        (["--until", "2020-01-01T05:00"], "is in the past"),
        (["--soak", "soon"], "is not a duration"),
        (["--gate-timeout", "-1"], "--gate-timeout"),
        (["--gate-timeout", "0"], "must be longer than 0"),
        (["--gate", ""], "--gate: the command is empty"),
        (["--before-host", " "], "--before-host: the command is empty"),
        (["--after-host", ""], "--after-host: the command is empty"),
    ],
)
def test_a_rollout_that_cannot_be_is_refused(fleet: Fleet, options: list[str], says: str) -> None:
    """Before any host is touched, with what was expected."""
    done = fleet.ccm.push(fleet.inventory, fleet.site(), *options)
    assert done.code == 2, done.output
    assert says in done.stderr
    assert fleet.touched() == []


def test_hosts_of_a_rack_come_one_after_the_other(fleet: Fleet) -> None:
    """Never two hosts of a rack are between their commands at once."""
    log = fleet.directory / "racks"
    script = fleet.directory / "note.py"
    script.write_text(
        "import json, sys\nprint(sys.argv[1], json.load(sys.stdin)['host']['vars']['rack'])\n"
    )
    note = f"{sys.executable} {script} %s >> {log}"
    options = ("--per", "rack=1", "--before-host", note % "+", "--after-host", note % "-")
    done = fleet.ccm.push(fleet.inventory, fleet.site(), *options)
    assert done.code == 0, done.output
    running: list[str] = []
    lines = log.read_text().splitlines()
    for line in lines:
        sign, rack = line.split()
        assert (rack in running) == (sign == "-"), (lines, done.output)
        running = [*running, rack] if sign == "+" else [one for one in running if one != rack]
    assert running == []
    assert fleet.touched() == list(range(HOSTS))


def test_a_gate_decides_between_waves(fleet: Fleet) -> None:
    """It reads what the wave came to; where it says no, no host of the next one is touched."""
    record = f"{fleet.directory}/told"
    gate = f"cat >> {record}; echo >> {record}; echo the pool is full; exit 9"
    done = fleet.ccm.push(fleet.inventory, fleet.site(), "--waves", "2", "--gate", gate)
    assert done.code == 1, done.output
    assert fleet.touched() == [0, 1]
    told = json.loads((fleet.directory / "told").read_text())
    assert sorted(host["host"] for host in told["hosts"]) == ["h00", "h01"]
    assert "exited with 9: the pool is full" in done.stdout
    assert "10 hosts not started" in done.stdout


def test_soaking_finds_what_goes_bad_later(fleet: Fleet) -> None:
    """Health checks that fail after a while count as failures of their hosts."""
    young = fleet.directory / "young.sh"
    young.write_text(
        f"find {fleet.directory} -name '*.log' -newermt '2 seconds ago' | grep . || exit 2\n"
    )
    site = fleet.site(check=f"sh {young}")
    code, told = document(fleet, site, "--waves", "1", "--soak", "3")
    assert code == 1
    assert fleet.touched() == [0]
    bad = told["hosts"]["h00"]
    assert (bad["outcome"], bad["kind"]) == ("failed", "rollout.soak")
    assert "well" in bad["message"]
    again = fleet.ccm.run("inventory", "-i", str(fleet.inventory), "-l", "failed")
    assert "h00" in again.stdout


def test_a_verify_is_a_gate(fleet: Fleet) -> None:
    """A host that is not as its plan says, though its push went well, is found wrong."""
    path = fleet.directory / "made"
    who = f'owner: "{os.getuid()}", group: "{os.getgid()}", mode: "0644"'
    site = fleet.ccm.site(
        f"""\
ccm:
  resources:
    - file:
        - {path}-{{{{ lookup('facts.n') }}}}: {{ensure: present, content: x, {who}}}
    - exec:
        - spoil:
            command: "/bin/sh -c 'echo y > {path}-0'"
            onlyif: "test {{{{ lookup('facts.n') }}}} = 0"
"""
    )
    code, told = document(fleet, site, "--waves", "1,3", "--gate", "verify")
    assert code == 1
    assert told["hosts"]["h00"]["kind"] == "rollout.verify", told["hosts"]["h00"]
    assert not Path(f"{path}-1").exists()
    code, told = document(fleet, site, "--waves", "1,3", "--gate", "verify", "-l", "!h00")
    assert code == 0, told
    answers = [step for step in told["rollout"] if step["step"] == "GateAnswered"]
    assert [(one["wave"], one["passed"]) for one in answers] == [(1, True), (2, True), (3, True)]


def test_without_a_terminal_a_confirmation_is_refused(fleet: Fleet) -> None:
    """Nobody can say yes, so no host is changed; a preview asks nobody."""
    for words in (("--waves", "1", "--confirm"), ("--canary", "auto", "--confirm")):
        done = fleet.ccm.push(fleet.inventory, fleet.site(), *words)
        assert done.code == 2, done.output
        assert fleet.touched() == []
        assert "--confirm requires a terminal" in done.stderr
        assert "previewing" not in done.output


@pytest.mark.parametrize(("said", "hosts"), [("y\n", HOSTS), ("n\n", 1)])
def test_a_confirmation_is_asked_for_on_the_terminal(fleet: Fleet, said: str, hosts: int) -> None:
    """``y`` goes on, anything else holds the rollout."""
    words = ("push", "-i", str(fleet.inventory), "--waves", "1", "--confirm", str(fleet.site()))
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        fleet.ccm.argv(*words),
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=fleet.ccm.environment,
        cwd=fleet.ccm.scratch,
        start_new_session=True,
    )
    os.close(follower)
    seen, answered = b"", 0
    try:
        while chunk := _read(leader):
            seen += chunk
            if seen.count(b"Continue? [y/N]") > answered:
                answered += 1
                os.write(leader, said.encode())
        code = process.wait(30)
    finally:
        process.kill()
        os.close(leader)
    assert code == (0 if said == "y\n" else 1), seen.decode()
    assert len(fleet.touched()) == hosts
    assert b"1 host healthy, 1 changed (h00)" in seen


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # the other side is closed
        return b""


def test_ctrl_c_ends_a_gate(fleet: Fleet) -> None:
    """A gate that hangs is ended with the run, and nothing of it is left."""
    gate = f"echo $$ > {fleet.directory}/gate; exec sleep 600"
    words = ("push", "-i", str(fleet.inventory), "--waves", "1", "--gate", gate, str(fleet.site()))
    process = fleet.ccm.start(*words)
    noted = fleet.directory / "gate"
    end = time.monotonic() + 60
    while not (noted.exists() and noted.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stdout + stderr
    assert fleet.touched() == [0]
    assert "stopped: the run was interrupted; 11 hosts not started" in stdout
    assert "resume with: ccm push " in stdout
    assert not running(noted)


def test_leaving_at_once_ends_what_comes_after_a_host(fleet: Fleet) -> None:
    """The second Ctrl-C waits for no command, and nothing of it is left."""
    noted = fleet.directory / "after"
    after = f"echo $$ > {noted}; sleep 600"
    words = ("push", "-i", str(fleet.inventory), "--after-host", after, "--forks", "1")
    process = fleet.ccm.start(*words, str(fleet.site()))
    end = time.monotonic() + 60
    while not (noted.exists() and noted.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stdout + stderr
    assert not running(noted)


def running(noted: Path) -> bool:
    """Whether the process whose id a command has noted still runs after a while."""
    end = time.monotonic() + 10
    process = Path(f"/proc/{noted.read_text().strip()}")
    while process.exists() and time.monotonic() < end:
        time.sleep(0.1)
    return process.exists()


def by_cluster(fleet: Fleet, *options: str) -> tuple[int, dict[str, Any]]:
    """A push that would change the hosts of each rack in its own way, and fails in rack 1."""
    done = fleet.ccm.run("push", "-i", str(fleet.inventory), "--json", *options, str(racks(fleet)))
    assert done.stdout, done.stderr
    return done.code, json.loads(done.stdout)


def racks(fleet: Fleet) -> Path:
    """The site of ``by_cluster``."""
    return fleet.ccm.site(
        f"""\
ccm:
  resources:
    - exec:
        - turn-of-rack-{{{{ lookup('facts.rack') }}}}:
            provider: shell
            environment: ["N={{{{ lookup('facts.n') }}}}", "RACK={{{{ lookup('facts.rack') }}}}"]
            command: |
              echo turn >> {fleet.directory}/$N.log
              test $RACK != 1
"""
    )


def test_canaries_are_chosen_by_what_would_change(fleet: Fleet) -> None:
    """Of three clusters the canary of one fails: its other hosts are never touched, all others
    are, and the run that goes on has those that were left."""
    code, told = by_cluster(fleet, "--canary", "auto")
    assert code == 1
    assert told["rollout"][0]["waves"][0] == ["h00", "h01", "h02"]
    assert fleet.touched() == [n for n in range(HOSTS) if n % 3 != 1 or n == 1]
    held = sorted(name for name, how in told["hosts"].items() if how["outcome"] == "held")
    assert held == ["h04", "h07", "h10"]
    again = fleet.ccm.run(
        "inventory", "-i", str(fleet.inventory), "-l", f"run:{told['run_id']}:remaining"
    )
    assert again.stdout.split()[::2] == held
    assert "failed canaries: h01; 3 hosts not started" in fleet.ccm.run("report").stdout


def test_a_part_of_a_plans_hosts_has_canaries_of_its_own(fleet: Fleet) -> None:
    """A cluster of the plan whose first host is not chosen begins with the first that is."""
    plan = str(fleet.directory / "change.plan")
    made = fleet.ccm.run("plan", "-i", str(fleet.inventory), "-o", plan, str(racks(fleet)))
    assert made.code == 0, made.output
    done = fleet.ccm.run("push", "--json", "-l", "h03,h06,h09,h08", "--canary", "auto", plan)
    assert json.loads(done.stdout)["rollout"][0]["waves"] == [["h03", "h08"], ["h06", "h09"]]


def test_too_many_clusters_are_refused_before_any_change(fleet: Fleet) -> None:
    """The preview is all that there was."""
    options = ("--canary", "auto", "--canary-max", "2")
    done = fleet.ccm.push(fleet.inventory, racks(fleet), *options)
    assert done.code == 2, done.output
    assert "3 groups of hosts" in done.stderr
    assert fleet.touched() == []


def test_a_preview_says_that_clusters_are_too_many(fleet: Fleet) -> None:
    """Nobody learns only from the push that it is refused."""
    words = ("push", "-i", str(fleet.inventory), "--noop", "--canary", "auto")
    for maximum, says in (("2", "a push would be refused: --canary: 3 groups"), ("3", "")):
        done = fleet.ccm.run(*words, "--canary-max", maximum, str(racks(fleet)))
        assert done.code == 0, done.output
        assert ("would be refused" in done.output) == bool(says)
        assert says in " ".join(done.output.split())
        assert "one canary of each group with the same changes" in done.output


def test_where_nothing_would_change_there_are_no_canaries(fleet: Fleet) -> None:
    """All hosts begin at once."""
    site = fleet.ccm.site(
        "ccm: {resources: [{exec: [{never: {command: 'true', onlyif: 'false'}}]}]}"
    )
    code, told = document(fleet, site, "--canary", "auto")
    assert code == 0
    assert len(told["rollout"][0]["waves"]) == 1
