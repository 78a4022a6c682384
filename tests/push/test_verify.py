"""``ccm verify`` on real hosts: what a push cannot see, and what ends a verify."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.lab import Host, Lab
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
    assert "1 host: 9 passed" in done.stdout
    left_out = "2 resources without a check: 1 left out by control, 1 with nothing to look at"
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
        "file#/srv/verified/gone", "path: expected nothing, found a symlink that leads nowhere",
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


def test_what_was_broken_by_hand_is_named(ccm: Ccm, lab: Lab, converged: Host) -> None:
    """Whatever somebody changes, verify names the resource, what it expected and what it found."""
    converged.run("mkdir /srv/kept && cp -a /srv/verified /srv/kept/")
    for what, (command, identity, line) in BROKEN.items():
        converged.run(command)
        done = verify(ccm, lab.inventory(), "-l", "web1")
        assert done.code == 1, (what, done.output)
        below = done.stdout.partition(f"  failed   {identity}\n")[2]
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
    replace(wrong / "remote_runtime/system/files.py", "os.fchown(", "(lambda *_: None)(")
    replace(wrong / "remote_runtime/resources/file/resource.py", "status.uid != want.uid", "False")
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
