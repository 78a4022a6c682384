"""Reboots of booted hosts in the middle of a push."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import PASSWORDS, Host, Lab
from tests.push.command import Ccm, Run
from tests.push.target import Target, over_ssh

SITE = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/kernel.conf: {content: "quiet\\n"}
        - /run/gone: {content: "in memory\\n"}
    - exec:
        - note: {command: "cat /proc/sys/kernel/random/boot_id >> /srv/before", provider: shell,
                 refresh_only: true, subscribe: ["file#/etc/kernel.conf"]}
    - reboot:
        - kernel: {subscribe: ["file#/etc/kernel.conf"], timeout: 2m}
    - exec:
        - after: {command: "cat /proc/sys/kernel/random/boot_id >> /srv/after", provider: shell,
                  refresh_only: true, subscribe: ["file#/etc/kernel.conf"]}
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /srv/last: {content: x, require: ["reboot#kernel"]}
"""
CHANGED = {
    "file#/etc/kernel.conf": "changed",
    "file#/run/gone": "changed",
    "exec#note": "changed",
    "reboot#kernel": "changed",
    "exec#after": "changed",
    "file#/srv/last": "changed",
}


@pytest.fixture(scope="module")
def rebooting(needs_lab: None) -> Iterator[Lab]:
    """A lab of one host, which the tests reboot."""
    with Lab(count=1) as opened:
        yield opened


@pytest.fixture
def machine(rebooting: Lab) -> Host:
    """That host, as new."""
    rebooting.hosts["web1"].reset()
    return rebooting.hosts["web1"]


@pytest.fixture
def target(ccm: Ccm, rebooting: Lab, machine: Host) -> Target:
    """The same to push to."""
    return over_ssh(ccm, rebooting, machine)


def statuses(run: Run) -> dict[str, str]:
    """``type#name`` → status, in the order of the events."""
    return {f"{event['type']}#{event['name']}": event["status"] for event in run.events}


def test_a_push_goes_on_behind_the_reboot(target: Target, machine: Host) -> None:
    """The part before and the part behind are one run: each resource has its turn once, what was
    changed before fires what subscribes behind, and nothing is left for the next push."""
    preview = target.push(SITE, "--noop")
    assert preview.code == 0, preview.output
    assert preview.event("reboot#kernel")["noop_message"] == "Would have rebooted via subscribe"
    done = target.push(SITE, "--json")
    assert done.code == 0, done.output
    assert statuses(done) == CHANGED
    before, after = machine.read("/srv/before"), machine.read("/srv/after")
    assert before != after
    assert after.count("\n") == before.count("\n") == 1
    assert not machine.exists("/run/gone")
    told = json.loads(done.stdout)
    assert told["summary"]["changed"] == told["summary"]["total"] == len(CHANGED)
    host = told["hosts"]["web1"]
    assert host["planned"] == len(CHANGED)
    assert "rebooting" in [phase for phase, _ in host["phases"]]
    again = target.push(SITE, "--detailed-exitcode")
    assert again.code == 4, again.output  # what was in memory is written again
    assert statuses(again)["reboot#kernel"] == "stable"
    assert machine.read("/srv/after") == after


@pytest.mark.parametrize("user", ["deploy", "alice"])
@pytest.mark.long("deploy")
def test_a_user_with_sudo(rebooting: Lab, machine: Host, tmp_path: Path, user: str) -> None:
    """Who becomes root reboots the host and is root behind that, with a password or without one,
    which is asked for and kept nowhere."""
    secret = PASSWORDS["alice"]
    ccm = Ccm(tmp_path, {"CCM_BECOME_PASSWORD": secret} if user == "alice" else None)
    inventory = rebooting.inventory(tmp_path / "sudo.yaml", user=user, become=True)
    done = ccm.push(inventory, SITE, "-v")
    assert done.code == 0, done.output
    assert statuses(done) == CHANGED
    assert machine.read("/srv/before") != machine.read("/srv/after")
    assert machine.run("stat -c %U /srv/last").stdout == "root\n"
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert not any(secret.encode() in path.read_bytes() for path in kept)
    assert secret not in done.output


def test_who_may_not_become_root_reboots_nothing(
    ccm: Ccm, rebooting: Lab, machine: Host, tmp_path: Path
) -> None:
    """The resource fails, says what to do, and the rest of the plan has its turn."""
    boot = machine.read("/proc/sys/kernel/random/boot_id")
    inventory = rebooting.inventory(tmp_path / "plain.yaml", user="deploy")
    site = (
        'ccm: {resources: [{reboot: [now: {onlyif: "true"}]}, {exec: [after: {command: "true"}]}]}'
    )
    done = ccm.push(inventory, site)
    assert done.code == 1, done.output
    assert statuses(done) == {"reboot#now": "failed", "exec#after": "changed"}
    assert "cannot reboot the host" in done.output
    assert "use become" in done.output
    assert machine.read("/proc/sys/kernel/random/boot_id") == boot


def test_a_plan_is_carried_out_behind_the_reboot(ccm: Ccm, target: Target, machine: Host) -> None:
    """A plan that was kept is used once, by one run, which may have the host rebooted."""
    site = ccm.site(SITE)
    kept = ccm.scratch / "change.plan"
    inventory = ["-i", str(target.inventory), "-l", "web1"]
    made = ccm.run("plan", *inventory, str(site), "-o", str(kept))
    assert made.code == 0, made.output
    done = ccm.push(target.inventory, kept, "-l", "web1")
    assert done.code == 0, done.output
    assert statuses(done) == CHANGED
    assert "as predicted: 6 of 6" in " ".join(done.output.split())
    again = ccm.push(target.inventory, kept, "-l", "web1")
    assert again.code == 1, again.output
    assert "the plan was already used on this host" in again.output


def test_a_host_that_does_not_come_back(target: Target, machine: Host) -> None:
    """It is lost, and what its subscribers are due is not: the next push gives it."""
    machine.write(
        "/etc/systemd/system/ssh.service.d/late.conf", "[Service]\nExecStartPre=sleep 20\n"
    )
    late = SITE.replace("timeout: 2m", "timeout: 5s")
    done = target.push(late)
    assert done.code == 3, done.output
    assert "not back within" in done.output
    assert "reboot#kernel" in done.output
    wait_for(machine, "systemctl is-active ssh", seconds=150)
    again = target.push(SITE)
    assert again.code == 0, again.output
    assert again.event("exec#after")["refreshed"]


def test_ctrl_c_while_it_is_rebooted(ccm: Ccm, target: Target, machine: Host) -> None:
    """Nobody waits for the host any more."""
    machine.write(
        "/etc/systemd/system/ssh.service.d/late.conf", "[Service]\nExecStartPre=sleep 40\n"
    )
    site = ccm.site(SITE)
    push = ccm.start("push", "-v", "-i", str(target.inventory), "-l", "web1", str(site))
    for line in push.stdout or ():
        if "rebooting" in line:
            break
    time.sleep(3)
    push.send_signal(signal.SIGINT)
    out, err = push.communicate(timeout=120)
    assert push.returncode == 130, out + err


def wait_for(machine: Host, command: str, seconds: float) -> None:
    """Until a command succeeds on a host that may be on its way up."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            machine.run(command)
            return
        except Exception:  # whatever a machine that boots makes it
            assert time.monotonic() < deadline, command
            time.sleep(0.5)


def test_this_machine_is_not_rebooted(local: Target, tmp_path: Path) -> None:
    """A plan that would reboot the machine of ccm itself is refused before anything is touched."""
    site = """\
ccm:
  resources:
    - file: [{DIR/before: {content: x, owner: OWNER, group: GROUP, mode: "0644"}}]
    - reboot: [{now: {onlyif: "true"}}]
"""
    for options in ((), ("--noop",)):
        done = local.push(site, *options)
        assert done.code == 1, done.output
        assert "reboot#now would reboot this machine" in done.output
        assert "site.yaml:4:" in done.output
        assert not local.path("before").exists()
    left_out = site.replace('onlyif: "true"', 'onlyif: "true", control: {if: "false"}')
    assert local.push(left_out).code == 0
