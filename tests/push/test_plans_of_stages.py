"""A plan of stages in which later stages manage what earlier ones leave: on a booted host."""

import json
from pathlib import Path

import pytest

from tests.lab import Host
from tests.lab.packages import Package
from tests.push.command import Run
from tests.push.plans import plan, push
from tests.push.target import NAME, Target

UNIT = """\
[Unit]
Description=app
[Service]
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
"""
FIRST = f"""\
ccm:
  resources:
    - package:
        - ccm-app: {{ensure: "1.0-1"}}
        - ccm-tool: {{ensure: present}}
        - ccm-old: {{ensure: absent}}
    - exec:
        - user: {{command: /usr/sbin/useradd app, unless: /usr/bin/id app}}
        - makes: {{command: "/bin/sh -c 'echo made > /etc/made'", creates: /etc/made}}
    - file:
        - defaults: {{owner: root, group: root, mode: "0644"}}
        - /etc/app.conf: {{content: "one\\n"}}
        - /etc/app.d: {{ensure: directory, mode: "0755"}}
        - /etc/app.d/a: {{content: "a\\n"}}
        - /etc/systemd/system/app.service: {{content: {json.dumps(UNIT)}}}
    - service:
        - app: {{ensure: running, enable: false, subscribe: [file#/etc/app.conf]}}
        - ccm-tool: {{ensure: running, enable: true}}
    - exec:
        - mark: {{command: "/bin/sh -c 'echo one > /var/tmp/mark'", creates: /var/tmp/mark}}
"""
SECOND = """\
ccm:
  resources:
    - package:
        - ccm-app: {ensure: latest}
        - ccm-old: {ensure: present}
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/app.conf: {content: "two\\n", mode: "0600"}
        - /etc/app.d/a: {ensure: absent}
        - /etc/made: {content: "two\n"}
        - /etc/app.d/large: {ensure: absent}
        - /etc/app.d/owned: {content: "", owner: root}
        - /etc/app/shipped.conf: {content: "mine\\n"}
    - service:
        - app: {ensure: running, enable: true, subscribe: [file#/etc/app.conf]}
        - ccm-tool: {ensure: stopped, enable: false}
    - exec:
        - again:
            command: "/bin/sh -c 'echo two >> /var/tmp/mark'"
            unless: "/bin/grep two /var/tmp/mark"
            subscribe: [package#ccm-app]
"""


@pytest.fixture
def stages(remote: Target, host: Host) -> Path:
    """Two stages of one host, and what they manage in its repository."""
    for version in ("1.0-1", "2.0-1"):
        files = {"/usr/share/app/version": version, "/etc/app/shipped.conf": f"{version}\n"}
        host.publish(
            Package("ccm-app", version, files=files, conffiles=("/etc/app/shipped.conf",)),
            Package("ccm-tool", version, files={"/lib/systemd/system/ccm-tool.service": UNIT}),
            Package("ccm-old", version, files={"/usr/share/old": version}),
        )
    host.run("apt-get -q update && apt-get -qy install ccm-old=1.0-1")
    for name, text in (("first", FIRST), ("second", SECOND)):
        remote.ccm.site(text, f"{name}.yaml")
    return stages_of(remote)


def stages_of(target: Target) -> Path:
    """A file of the two stages."""
    document = [
        {"name": name, "hosts": NAME, "manifest": f"{name}.yaml"} for name in ("first", "second")
    ]
    return target.ccm.site(json.dumps({"stages": document}), "release.yaml")


def planned(target: Target, stages: Path) -> Run:
    words = ["-i", str(target.inventory), "-l", NAME, "-o", "change.plan", str(stages)]
    return target.ccm.run("plan", *words)


def test_a_later_stage_is_bound_to_what_the_earlier_leaves(
    remote: Target, host: Host, stages: Path
) -> None:
    """Both stages manage the same packages, files, unit and marker: the plan is pushed whole."""
    made = planned(remote, stages)
    assert made.code == 0, made.output
    done = push(remote.ccm)
    assert done.code == 0, done.output
    assert "2.0-1" in host.run("dpkg-query -W ccm-app").stdout
    assert host.run("cat /etc/app.conf /etc/app/shipped.conf").stdout == "two\nmine\n"
    assert host.run("systemctl is-enabled app").stdout == "enabled\n"


def test_what_was_put_right_and_what_drifted(remote: Target, host: Host) -> None:
    """A unit that somebody enabled does not refuse the plan; a file that somebody edited does, and
    is told alone and with its diff."""
    host.write("/etc/systemd/system/app.service", UNIT)
    host.write("/etc/app.conf", "one\n")
    host.write("/etc/other.conf", "one\n")
    host.run("systemctl daemon-reload")
    site = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/app.conf: {content: "two\\n"}
        - /etc/other.conf: {content: "one\\n"}
    - service:
        - app: {ensure: running, enable: true, subscribe: [file#/etc/other.conf]}
"""
    assert plan(remote, site).code == 0
    host.run("systemctl enable app")
    host.write("/etc/other.conf", "theirs\n")
    refused = push(remote.ccm)
    assert (refused.code, refused.events) == (1, []), refused.output
    assert "file#/etc/other.conf (content differs)" in " ".join(refused.stdout.split())
    assert "-theirs" in refused.stdout
    for word in ("service#app", "/etc/app.conf", "sha256", "not run"):
        assert word not in refused.stdout
    assert "refused; nothing was changed" in refused.stdout
    host.write("/etc/other.conf", "one\n")
    done = push(remote.ccm)
    assert done.code == 0, done.output
    assert host.run("systemctl is-active app").stdout == "active\n"
