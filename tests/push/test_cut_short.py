"""Runs that end before their end: interrupted, out of time, or without the rights they need."""

import re
import signal
import subprocess
import time

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm, runtimes
from tests.push.target import Target

SLOW_PACKAGE = """\
ccm:
  resources:
    - package:
        - defaults: {provider: PROVIDER}
        - ccm-slow: {ensure: present}
    - file:
        - /srv/between: {content: x, owner: root, group: root, mode: "0644"}
    - package:
        - ccm-hello: {ensure: present, provider: PROVIDER}
    - file:
        - /srv/after: {content: x, owner: root, group: root, mode: "0644"}
"""
# Each package manager: how its script is seen to run, and how packages are looked for.
PACKAGE_MANAGERS = {
    "apt": ("[c]cm-slow.postinst", "dpkg-query -W -f '${Status}'", "install ok installed"),
    "dnf": ("/[r]pm-tmp", "rpm -q", "ccm-slow-1.0-1.noarch\n"),
}


def begun(
    ccm: Ccm, lab: Lab, host: Host, provider: str, seconds: int = 4
) -> "subprocess.Popen[str]":
    """A push that is in the middle of a package transaction of so many seconds."""
    host.write("/etc/ccm-slow.seconds", f"{seconds}\n")
    site = ccm.site(SLOW_PACKAGE.replace("PROVIDER", provider))
    push = ccm.start("push", "-i", str(lab.inventory()), "-l", "web1", str(site))
    deadline = time.monotonic() + 60
    while not host.run(f"pgrep -f '{PACKAGE_MANAGERS[provider][0]}' || true").stdout:
        assert time.monotonic() < deadline, "the package is not being configured"
        assert push.poll() is None, push.communicate()
        time.sleep(0.1)
    return push


@pytest.mark.parametrize("provider", PACKAGE_MANAGERS)
def test_a_package_transaction_is_let_finish(ccm: Ccm, lab: Lab, host: Host, provider: str) -> None:
    """After Ctrl-C the transaction that runs is completed, and nothing more is started."""
    _, query, installed = PACKAGE_MANAGERS[provider]
    push = begun(ccm, lab, host, provider)
    push.send_signal(signal.SIGINT)
    out, err = push.communicate(timeout=60)
    assert push.returncode == 130, out + err
    deadline = time.monotonic() + 60
    while runtimes(host):
        assert time.monotonic() < deadline, "the runtime does not end"
        time.sleep(0.2)
    assert host.run(f"{query} ccm-slow").stdout == installed
    assert host.run(f"{query} ccm-hello", check=False).returncode != 0
    assert not host.exists("/srv/after")
    if provider == "apt":
        assert host.exists("/var/lib/ccm-slow.done")
        assert host.run("dpkg --audit").stdout == ""


@pytest.mark.parametrize("provider", PACKAGE_MANAGERS)
def test_a_transaction_of_a_killed_runtime(ccm: Ccm, lab: Lab, host: Host, provider: str) -> None:
    """It goes on to its end; the next push waits for it, says so, and goes on from there."""
    _, query, installed = PACKAGE_MANAGERS[provider]
    push = begun(ccm, lab, host, provider, seconds=15)
    host.run("pkill -KILL -f '[v]ersion_info<'")
    out, err = push.communicate(timeout=60)
    assert push.returncode == 3, out + err
    again = ccm.push(lab.inventory(), ccm.scratch / "site.yaml", "-l", "web1", "-v")
    assert again.code == 0, again.output
    waiting = r"waiting for process \d+ \(.*\) of run \S+, started by"
    assert re.search(waiting, again.output), again.output
    assert again.event("package#ccm-slow")["status"] == "stable"
    assert host.run(f"{query} ccm-slow").stdout == installed
    if provider == "apt":
        assert host.run("dpkg --audit").stdout == ""


SLOW = """\
ccm:
  resources:
    - file:
        - DIR/before: {content: x, owner: OWNER, group: GROUP, mode: "0644"}
    - exec:
        - slow: {command: "echo $$ > DIR/pid; sleep 300", provider: shell}
    - file:
        - DIR/after: {content: x, owner: OWNER, group: GROUP, mode: "0644"}
"""


@pytest.mark.long("local")
def test_a_host_may_take_only_so_long(target: Target) -> None:
    """At the end of --timeout the command in flight is ended; its event and the result say why."""
    done = target.push(SLOW, "--timeout", "8")
    assert done.code in (1, 3), done.output
    assert "--timeout" in done.output
    slow = done.event("exec#slow")
    assert (slow["status"], slow["error"]) == (
        "failed",
        ["interrupted: timed out (--timeout)"],
    )
    assert target.path("before").exists()
    assert not target.path("after").exists()
    # A process that was not reaped yet is a Z behind its name.
    look = f"! grep -q ') [^Z]' /proc/{target.read('pid').strip()}/stat 2>/dev/null"
    gone = target.push(f'ccm: {{resources: [{{exec: [{{"{look}": {{provider: shell}}}}]}}]}}\n')
    assert gone.code == 0, gone.output


PLAIN_USER = """\
ccm:
  resources:
    - file:
        - defaults: {owner: deploy, group: deploy, mode: "0644"}
        - /home/deploy/mine: {content: "mine\\n"}
        - /home/deploy/given: {content: x, owner: root}
        - /etc/theirs: {content: x}
        - /etc/shadow: {content: x}
        - /etc/hostname: {owner: root, group: root, mode: "0600"}
        - /root/inside: {content: x}
        - /etc: {ensure: absent, force: true}
    - exec:
        - as-root: {command: "true", user: root}
    - package:
        - ccm-hello: {ensure: present}
    - service:
        - ssh: {ensure: stopped, force: true}
"""


def test_without_the_rights(ccm: Ccm, lab: Lab, host: Host) -> None:
    """A user without sudo manages what is their own; all else is refused with what would help."""
    before = host.run("ls -lR /etc /root").stdout
    done = ccm.push(lab.inventory(user="deploy"), PLAIN_USER, "-l", "web1")
    lab.inventory()
    assert done.code == 1, done.output
    mine = done.event("file#/home/deploy/mine")
    assert mine["status"] == "changed"
    assert host.read("/home/deploy/mine") == "mine\n"
    for event in done.events:
        if event is not mine and event["name"] != "/home/deploy/mine":
            assert event["status"] == "failed", event
            assert "become" in " ".join(event["error"]), event["error"]
    assert host.run("ls -lR /etc /root").stdout == before
    assert host.run("systemctl is-active ssh").stdout == "active\n"
    assert host.run("find /home/deploy -name '.*ccm-*'").stdout == ""


def test_only_the_failed_hosts_again(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """-l failed pushes to the hosts that failed in the last run, and to no other."""
    hosts[1].run("mkdir -p /srv/made/in-the-way")
    site = (
        "ccm: {resources: [{file: [{/srv/made: {content: x, owner: root, group: root, "
        "mode: '0644'}}]}]}\n"
    )
    first = ccm.push(lab.inventory(), site)
    assert first.code == 1, first.output
    hosts[1].run("rm -r /srv/made")
    again = ccm.push(lab.inventory(), site, "-l", "failed")
    assert again.code == 0, again.output
    assert {event["host"] for event in again.events} == {"web2"}
    assert hosts[1].read("/srv/made") == "x"
