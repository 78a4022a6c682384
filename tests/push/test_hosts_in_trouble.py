"""Hosts that cannot be reached, trusted or used: one clear result each, the others unharmed."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.lab import (
    Host,
    Lab,
    find_interpreter,
    in_order,
    interpreter_path,
    with_interpreter,
    with_minimal_python,
    without_python,
)
from tests.lab.rootfs import Prepare
from tests.push.command import Ccm, runtimes

TOUCH = """\
ccm:
  resources:
    - file:
        - /srv/made: {ensure: present, content: "by ccm\\n", owner: root, group: root, mode: "0644"}
"""

SLOW = """\
ccm:
  resources:
    - file:
        - /srv/before: {ensure: present, content: "x", owner: root, group: root, mode: "0644"}
    - exec:
        - wait: {command: "sh -c 'echo $$ > /srv/pid; exec sleep 300'"}
    - file:
        - /srv/after: {ensure: present, content: "x", owner: root, group: root, mode: "0644"}
"""


def wait_for(host: Host, path: str, seconds: float = 30) -> None:
    """Wait until a path exists on a host."""
    deadline = time.monotonic() + seconds
    while not host.exists(path):
        assert time.monotonic() < deadline, f"{path} did not appear on {host.name}"
        time.sleep(0.1)


def result(ccm: Ccm, inventory: Path, site: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Push with --json; return the exit code and the result of each host by name."""
    done = ccm.run("push", "-i", str(inventory), "--json", *options, str(ccm.site(site)))
    document = json.loads(done.stdout)
    return done.code, document["hosts"]


def test_a_host_that_is_down_costs_only_itself(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """A host without power is unreachable, the others are pushed, and the exit code is 3."""
    hosts[1].stop()
    try:
        done = ccm.push(lab.inventory(), TOUCH, "--connect-timeout", "3")
    finally:
        hosts[1].start()
    assert done.code == 3, done.output
    assert "web2" in done.output
    assert set(done.of("web1")) == set(done.of("web3")) == {"file#/srv/made"}
    assert not hosts[1].exists("/srv/made")


def test_an_unknown_host_key_is_refused_with_the_way_out(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path
) -> None:
    """A host that known_hosts does not hold is not talked to; the message names the command."""
    empty = tmp_path / "known_hosts"
    empty.touch()
    inventory = lab.inventory(tmp_path / "hosts.yaml", known_hosts=str(empty))
    done = ccm.push(inventory, TOUCH, "-l", "web1")
    assert done.code == 3, done.output
    assert "ccm hosts trust" in done.output
    assert "SHA256:" in done.output
    assert not host.exists("/srv/made")


def test_a_changed_host_key_is_refused(ccm: Ccm, lab: Lab, host: Host, tmp_path: Path) -> None:
    """A host whose key is another one than known is not talked to."""
    other = lab.hosts["web2"].public_host_key
    known = tmp_path / "known_hosts"
    known.write_text(f"{host.address} {other}\n")
    inventory = lab.inventory(tmp_path / "hosts.yaml", known_hosts=str(known))
    done = ccm.push(inventory, TOUCH, "-l", "web1")
    assert done.code == 3, done.output
    assert "changed" in done.output.lower()
    assert not host.exists("/srv/made")


def test_trust_then_push(ccm: Ccm, lab: Lab, host: Host, tmp_path: Path) -> None:
    """``ccm hosts trust`` shows the fingerprints and writes them; the push works then."""
    known = tmp_path / "known_hosts"
    known.touch()
    inventory = lab.inventory(tmp_path / "hosts.yaml", known_hosts=str(known))
    trusted = ccm.run("hosts", "trust", "-i", str(inventory), "-l", "web1", "--yes")
    assert trusted.code == 0, trusted.output
    (shown,) = (line for line in trusted.stdout.splitlines() if "SHA256:" in line)
    assert len(shown) <= 80
    assert ccm.push(inventory, TOUCH, "-l", "web1").code == 0
    assert host.exists("/srv/made")


def test_a_refused_key_says_so(ccm: Ccm, lab: Lab, host: Host, tmp_path: Path) -> None:
    """A key that the host does not accept is an authentication failure of that host."""
    stranger = tmp_path / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stranger], check=True)
    inventory = lab.inventory(tmp_path / "hosts.yaml", hosts={"web1": {"key_file": str(stranger)}})
    code, found = result(ccm, inventory, TOUCH)
    assert code == 3
    assert found["web1"]["kind"] == "transport.auth"
    assert found["web2"]["outcome"] == "ok"


def test_connections_reset_before_login_are_tried_again(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path
) -> None:
    """Resets as sshd's MaxStartups makes them are retried until the login works."""
    with lab.proxy(host, reset_first=2) as proxy:
        lab.trust(host, "127.0.0.1", proxy.port)
        inventory = lab.inventory(
            tmp_path / "hosts.yaml", hosts={"web1": {"address": "127.0.0.1", "port": proxy.port}}
        )
        done = ccm.push(inventory, TOUCH, "-l", "web1")
        assert proxy.connections >= 3
    assert done.code == 0, done.output


def test_a_connection_that_dies_in_the_middle(
    ccm: Ccm, lab: Lab, hosts: list[Host], tmp_path: Path
) -> None:
    """When sshd dies during a command, the host is lost, its command ends, the others finish."""
    site = ccm.site(SLOW.replace("sleep 300", "sleep 8"))
    push = ccm.start("push", "-i", str(lab.inventory()), str(site))
    wait_for(hosts[0], "/srv/pid")
    hosts[0].run("pkill -KILL sshd")
    out, err = push.communicate(timeout=60)
    hosts[0].run("systemctl restart ssh")
    assert push.returncode == 3, out + err
    assert hosts[1].exists("/srv/after")
    assert not hosts[0].exists("/srv/after")
    hosts[0].run(
        "for i in 1 2 3 4 5 6 7 8; do kill -0 $(cat /srv/pid) 2>/dev/null || exit 0; "
        "sleep 1; done; exit 1"
    )


def test_a_host_that_falls_silent(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """A host whose cable is cut is lost within the bound, and ends its command by itself."""
    push = ccm.start("push", "-i", str(lab.inventory()), "-l", "web1", str(ccm.site(SLOW)))
    wait_for(hosts[0], "/srv/pid")
    hosts[0].plug(False)
    try:
        out, err = push.communicate(timeout=150)
        assert push.returncode == 3, out + err
        hosts[0].run(
            "for i in $(seq 20); do kill -0 $(cat /srv/pid) 2>/dev/null || exit 0; sleep 1; done;"
            " exit 1"
        )
    finally:
        hosts[0].plug(True)
    assert not hosts[0].exists("/srv/after")


def test_ctrl_c_ends_the_run_on_every_host(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """After one Ctrl-C nothing of ours runs on any host, and the exit code is 130."""
    push = ccm.start("push", "-i", str(lab.inventory()), str(ccm.site(SLOW)))
    for host in hosts:
        wait_for(host, "/srv/pid")
    push.send_signal(signal.SIGINT)
    out, err = push.communicate(timeout=120)
    assert push.returncode == 130, out + err
    for host in hosts:
        assert host.run("kill -0 $(cat /srv/pid)", check=False).returncode != 0
        assert runtimes(host) == ""
        assert host.exists("/srv/before")
        assert not host.exists("/srv/after")


def test_two_pushes_at_once_wait_for_each_other(ccm: Ccm, lab: Lab, host: Host) -> None:
    """A second push waits for the lock of the first and fails, naming its holder, after a bound."""
    first = ccm.start(
        "push", "-i", str(lab.inventory()), "-l", "web1", str(ccm.site(SLOW, "slow.yaml"))
    )
    wait_for(host, "/srv/pid")
    second = ccm.push(lab.inventory(), TOUCH, "-l", "web1", "--lock-timeout", "2")
    assert second.code == 1, second.output
    assert "lock" in second.output
    assert not host.exists("/srv/made")
    preview = ccm.push(lab.inventory(), TOUCH, "-l", "web1", "--noop", "--lock-timeout", "2")
    assert preview.code == 0, preview.output
    host.run("kill $(cat /srv/pid)")
    first.communicate(timeout=120)
    third = ccm.push(lab.inventory(), TOUCH, "-l", "web1", "--lock-timeout", "2")
    assert third.code == 0, third.output


@pytest.mark.usefixtures("needs_lab")
def test_hosts_by_their_python(ccm: Ccm, tmp_path: Path) -> None:
    """No Python, one without json: one clear sentence each. Python 3.6 to 3.13: pushed.

    In the short form, the oldest and the newest of this machine.
    """
    versions = [
        v for v in ("3.6", "3.7", "3.8", "3.9", "3.10", "3.12", "3.13") if find_interpreter(v)
    ]
    if not os.environ.get("CCM_TEST_ALL_PYTHONS"):
        versions = sorted({*versions[:1], *versions[-1:]}, key=versions.index)
    print("interpreters found:", ", ".join(versions) or "none")
    prepare: dict[str, Prepare] = {"none": without_python, "minimal": with_minimal_python}
    prepare |= {
        f"py{v.replace('.', '')}": in_order(without_python, with_interpreter(v)) for v in versions
    }
    named = {f"py{v.replace('.', '')}": {"python": interpreter_path(v)} for v in versions}
    with Lab(names=list(prepare), prepare=prepare) as lab:
        inventory = lab.inventory(tmp_path / "hosts.yaml", hosts=named)
        code, found = result(ccm, inventory, TOUCH)
        assert code == 3
        for name, word in (("none", "python"), ("minimal", "json")):
            assert found[name]["kind"] == "transport.python", found[name]
            assert word in found[name]["message"].lower()
            assert found[name]["hint"]
        for name in named:
            assert found[name]["tally"]["changed"] == 1, found[name]
            assert lab.hosts[name].read("/srv/made") == "by ccm\n"
