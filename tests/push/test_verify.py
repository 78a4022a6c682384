"""``ccm verify`` on real hosts: what a push cannot see, and what ends a verify."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.lab import PASSWORDS, Host, Lab
from tests.push.command import REPOSITORY, Ccm, Run

SITE = """
data:
  greeting: hello
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /srv/verified: {ensure: directory, mode: "0755"}
        - /srv/verified/motd: {content: "{{ Data.greeting }} from {{ Host.name }}\\n"}
        - /srv/verified/copy: {source: /srv/verified/motd}
        - /srv/verified/gone: {ensure: absent}
        - /srv/verified/left-out: {content: never, control: {if: "Host.name == 'nobody'"}}
    - package:
        - ccm-pkg01: {ensure: present}
        - ccm-pkg02: {ensure: absent}
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /usr/lib/systemd/system/clock.service:
            content: |
              [Service]
              ExecStart=/bin/sleep infinity
              [Install]
              WantedBy=multi-user.target
    - service:
        - clock: {ensure: running, enable: true}
    - exec:
        - make: {command: touch /srv/verified/made, creates: /srv/verified/made}
        - say: {command: echo said}
"""


def verify(ccm: Ccm, inventory: Path, *options: str, site: str = SITE) -> Run:
    return ccm.run("verify", "-i", str(inventory), *options, str(ccm.site(site)))


@pytest.fixture
def converged(ccm: Ccm, lab: Lab, host: Host) -> Host:
    """web1, pushed to a moment ago."""
    pushed = ccm.push(lab.inventory(), SITE, "-l", "web1")
    assert pushed.code == 0, pushed.output
    return host


def test_a_converged_host_passes(ccm: Ccm, lab: Lab, converged: Host) -> None:
    """Every resource that can be looked at passes by its own name, and the others are counted."""
    done = verify(ccm, lab.inventory(), "-l", "web1", "-v")
    assert done.code == 0, done.output
    for identity in (
        "file#/srv/verified", "file#/srv/verified/motd", "file#/srv/verified/copy",
        "file#/srv/verified/gone", "package#ccm-pkg01", "package#ccm-pkg02", "service#clock",
        "exec#make",
    ):  # fmt: skip
        assert f"passed   {identity}\n" in done.stdout
    assert "1 host: 9 checks passed" in done.stdout
    left_out = "2 resources not checked: 1 excluded by control, 1 without a check"
    assert left_out in done.stdout


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


BROKEN = {
    "an edited file": (
        "echo mallory >> /srv/verified/motd",
        "file#/srv/verified/motd", "content: expected SHA-256 ",
    ),
    "a stopped service": (
        "systemctl stop clock", "service#clock", "state: expected running, found inactive",
    ),
    "a disabled service": (
        "systemctl disable -q clock", "service#clock", "at boot: expected enabled, found disabled",
    ),
    "a masked service": (
        "systemctl mask -q --now clock", "service#clock", "at boot: expected enabled, found masked",
    ),
    "a removed package": (
        "dpkg --remove ccm-pkg01", "package#ccm-pkg01", "state: expected installed, found not i",
    ),
    "a changed owner": (
        "chown daemon /srv/verified/motd",
        "file#/srv/verified/motd", "owner: expected root, found daemon",
    ),
    "a changed mode": (
        "chmod 0600 /srv/verified/motd",
        "file#/srv/verified/motd", "mode: expected 0644, found 0600",
    ),
    "a file where nothing should be": (
        "touch /srv/verified/gone",
        "file#/srv/verified/gone", "path: expected nothing, found a file",
    ),
    "a link where nothing should be": (
        "ln -s nowhere /srv/verified/gone",
        "file#/srv/verified/gone", "path: expected nothing, found a symlink to a missing target",
    ),
    "a link in place of a file": (
        "mv /srv/verified/motd /srv/m && ln -s /srv/m /srv/verified/motd",
        "file#/srv/verified/motd", "type: expected a file, found a symlink",
    ),
    "a removed directory": (
        "rm -r /srv/verified", "file#/srv/verified", "type: expected a directory, found nothing",
    ),
    "what a command made": (
        "rm /srv/verified/made", "exec#make", "creates: expected /srv/verified/made, found nothing",
    ),
}  # fmt: skip
ALONE = "a removed directory"


def rounds() -> list[list[str]]:
    """What is broken at once: each resource in one way, and what others lie in alone."""
    made: list[list[str]] = []
    for what, (_, identity, _) in BROKEN.items():
        for together in made:
            taken = {BROKEN[other][1] for other in together}
            if identity not in taken and ALONE not in (what, *together):
                together.append(what)
                break
        else:
            made.append([what])
    return sorted(made, key=lambda together: ALONE in together)


def test_what_was_broken_by_hand_is_named(ccm: Ccm, lab: Lab, converged: Host) -> None:
    """Whatever somebody changes, verify names the resource, what it expected and what it found."""
    converged.run("mkdir /srv/kept && cp -a /srv/verified /srv/kept/")
    for together in rounds():
        for what in together:
            converged.run(BROKEN[what][0])
        done = verify(ccm, lab.inventory(), "-l", "web1")
        assert done.code == 1, (together, done.output)
        for what in together:
            _, identity, line = BROKEN[what]
            below = done.stdout.partition(f"  failed   {identity}\n")[2].partition("  failed ")[0]
            assert line in below, (what, done.output)
        converged.run(
            "rm -rf /srv/verified; cp -a /srv/kept/verified /srv/; "
            "systemctl unmask -q clock; systemctl enable -q --now clock; "
            "apt-get install -y -q ccm-pkg01"
        )
    assert verify(ccm, lab.inventory(), "-l", "web1").code == 0


def test_a_wrong_provider_is_caught(ccm: Ccm, lab: Lab, host: Host, tmp_path: Path) -> None:
    """Providers that neither set an owner nor see one deceive the push, not the verify."""
    wrong = tmp_path / "wrong"
    for package in ("orchestrator", "inventory", "schemas", "remote_runtime"):
        shutil.copytree(
            REPOSITORY / package, wrong / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    replace(wrong / "remote_runtime/system/temporary_file.py", "os.fchown(", "(lambda *_: None)(")
    replace(wrong / "remote_runtime/resources/file/resource.py", "node.uid != want.uid", "False")
    deceived = Ccm(tmp_path, {"PYTHONPATH": str(wrong)})
    site = """
ccm:
  resources:
    - file:
        - /srv/owned: {content: "mine\\n", owner: daemon, group: root, mode: "0644"}
"""
    pushed = deceived.push(lab.inventory(), site, "-l", "web1")
    found = verify(ccm, lab.inventory(), "-l", "web1", site=site)
    assert pushed.code == 0, pushed.output
    assert found.code == 1, found.output
    assert "failed   file#/srv/owned" in found.stdout
    assert "owner: expected daemon, found root" in found.stdout


OWN = """
def test_who(host):
    for _ in range(20):
        assert host.check_output("id -un") == "root"
"""


def test_one_connection_serves_a_whole_verify(lab: Lab, converged: Host, tmp_path: Path) -> None:
    """Facts, checks and the user's own tests share one login, with a password for sudo as well."""
    secret = {"CCM_BECOME_PASSWORD": PASSWORDS["alice"]}
    ccm = Ccm(tmp_path, secret)
    inventory = lab.inventory(tmp_path / "alice.yaml", user="alice", become=True)
    (tmp_path / "test_own.py").write_text(OWN, encoding="utf-8")
    count = "journalctl -b -q -t sshd -g 'Accepted .* for alice' | wc -l"
    before = int(converged.run(count).stdout)
    site = ccm.site(SITE)
    done = ccm.run(
        "verify", "-i", str(inventory), "-l", "web1", str(site), str(tmp_path / "test_own.py")
    )
    assert done.code == 0, done.output
    assert "10 passed" in done.stdout
    assert int(converged.run(count).stdout) - before == 1
    assert PASSWORDS["alice"] not in done.output


def test_a_server_that_allows_one_session(ccm: Ccm, lab: Lab, converged: Host) -> None:
    """With MaxSessions 1 the commands wait until the runtime that told the facts has gone."""
    converged.write("/etc/ssh/sshd_config.d/one.conf", "MaxSessions 1\n")
    converged.run("systemctl reload ssh")
    done = verify(ccm, lab.inventory(), "-l", "web1")
    assert done.code == 0, done.output
    assert "web1  9 passed" in done.stdout


def test_a_host_that_is_gone(ccm: Ccm, lab: Lab, converged: Host, tmp_path: Path) -> None:
    """Its block says why, the others are verified, its own tests are skipped, and the code is 3."""
    (tmp_path / "test_own.py").write_text(OWN, encoding="utf-8")
    inventory = tmp_path / "hosts.yaml"
    text = lab.inventory(tmp_path / "lab.yaml").read_text(encoding="utf-8")
    tree = yaml.safe_load(text)
    tree["hosts"] = {
        "web1": tree["hosts"]["web1"],
        "gone": {**tree["hosts"]["web1"], "address": "127.0.0.1", "port": 9},
    }
    inventory.write_text(
        yaml.safe_dump({"defaults": tree.get("defaults", {}), "hosts": tree["hosts"]})
    )
    report = tmp_path / "report.xml"
    done = verify(ccm, inventory, "--junitxml", str(report))
    assert done.code == 3, done.output
    block = done.stdout.partition("gone  1 failed\n")[2]
    assert block.startswith("  failed   connection\n")
    assert "127.0.0.1 port 9: connection refused" in block
    assert "web1  9 passed" in done.stdout
    assert "(1 unreachable)" in done.stdout
    failed = [
        c for c in ElementTree.parse(report).iter("testcase") if c.find("failure") is not None
    ]
    assert [(c.get("classname"), c.get("name")) for c in failed] == [("gone", "connection")]
    own = ccm.run(
        "verify", "-i", str(inventory), "-v", str(ccm.site(SITE)), str(tmp_path / "test_own.py")
    )
    assert own.code == 3, own.output
    assert "gone  1 failed, 1 skipped" in own.stdout


def test_a_host_that_is_lost_on_the_way(
    ccm: Ccm, lab: Lab, converged: Host, tmp_path: Path
) -> None:
    """A connection that breaks during a test fails that test in a sentence, with code 3."""
    test = tmp_path / "test_own.py"
    test.write_text("def test_it(host):\n    host.run('touch /srv/begun; sleep 60')\n")
    process = ccm.start(
        "verify", "-i", str(lab.inventory()), "-l", "web1", str(ccm.site(SITE)), str(test)
    )
    end = time.monotonic() + 30
    while not converged.exists("/srv/begun") and time.monotonic() < end:
        time.sleep(0.05)
    converged.kill_sessions()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3, out
    assert "the connection to web1 was lost" in out
    assert "Traceback" not in out


def test_hosts_are_told_apart(ccm: Ccm, lab: Lab, hosts: list[Host]) -> None:
    """Each host is held against its own plan, child manifests too, in the inventory's order."""
    ccm.site(SITE, "child.yaml")
    parent = """
ccm:
  resources:
    - apply:
        - child.yaml: {}
    - file:
        - defaults: {owner: root, group: root, mode: "0600"}
        - /srv/parent: {content: "{{ file('/etc/hostname') }}"}
"""
    pushed = ccm.push(lab.inventory(), parent)
    assert pushed.code == 0, pushed.output
    hosts[1].write("/srv/verified/motd", "hello from web1\n")
    done = verify(ccm, lab.inventory(), site=parent)
    assert done.code == 1, done.output
    heads = [line for line in done.stdout.splitlines() if line.startswith("web")]
    assert heads == ["web1  10 passed", "web2  8 passed, 2 failed", "web3  10 passed"]
    assert "3 hosts: 28 checks passed, 2 failed" in done.stdout
    hosts[1].write("/etc/hostname", "other\n")
    assert "failed   file#/srv/parent" in verify(ccm, lab.inventory(), site=parent).stdout
    hosts[1].run("rm /etc/hostname")
    gone = verify(ccm, lab.inventory(), "-l", "web2", site=parent)
    assert gone.code == 1, gone.output
    assert (
        "file('/etc/hostname') cannot be read on the host: cat: /etc/hostname: No such"
        in gone.stdout
    )


def test_a_push_verifies_the_hosts_that_it_reached(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path
) -> None:
    """A host that is gone is told once, by the push, and the others are verified."""
    tree = yaml.safe_load(lab.inventory(tmp_path / "lab.yaml").read_text(encoding="utf-8"))
    gone = {**tree["hosts"]["web1"], "address": "127.0.0.1", "port": 9}
    tree["hosts"] = {"web1": tree["hosts"]["web1"], "gone": gone}
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text(yaml.safe_dump({key: tree[key] for key in tree if key != "groups"}))
    done = ccm.push(inventory, SITE, "--verify")
    assert done.code == 3, done.output
    _, _, second = done.stdout.partition("verify: site.yaml on 1 host\n")
    assert "web1  9 passed" in second
    assert "gone" not in second
