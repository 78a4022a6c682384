"""Templates that read other hosts, in every command that makes plans."""

import getpass
import grp
import os
import sys
from pathlib import Path

import pytest

from tests.push.command import Ccm

HOSTS = """\
hosts:
  db1: {address: 192.0.2.10}
groups:
  web:
    hosts: {web1: {vars: {port: 8081}}, web2: {vars: {port: 8082}}}
    vars: {site: north}
defaults: {connection: local}
"""
SITE = """\
data: {peers: "{{ Groups.web | join('+') }}"}
ccm:
  resources:
    - file:
        - SCRATCH/{{ Host.name }}:
            content: "{{ Data.peers }} {{ Hosts.db1.address }} {{ Hosts.web2.vars.port }} \\
              {{ jet('all.jet') }}"
            owner: USER
            group: GROUP
            mode: "0600"
"""
TEXT = "web1+web2 192.0.2.10 8082 db1 web1 web2 "


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    group = grp.getgrgid(os.getgid()).gr_name
    text = SITE.replace("SCRATCH", str(tmp_path)).replace("USER", getpass.getuser())
    (tmp_path / "site.yaml").write_text(text.replace("GROUP", group))
    (tmp_path / "all.jet").write_text("[[ range i, n := Groups.all ]][[ n ]] [[ end ]]")
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    return Ccm(tmp_path)


@pytest.mark.parametrize("engine", ["threads", "processes:2"])
def test_a_push_sees_all_hosts_whichever_are_selected(
    ccm: Ccm, tmp_path: Path, engine: str
) -> None:
    """A push to a group writes what the inventory says of hosts outside it."""
    if engine != "threads" and sys.platform != "linux":
        pytest.skip("processes are copies, on Linux")
    words = ("-i", "hosts.yaml", "-l", "web", "--engine", engine, "site.yaml")
    found = ccm.run("push", *words)
    assert found.code == 0, found.output
    for name in ("web1", "web2"):
        assert (tmp_path / name).read_text() == TEXT


def test_a_plan_is_held_to_the_hosts_that_it_saw(ccm: Ccm, tmp_path: Path) -> None:
    """A plan is pushed as made; one whose inventory has changed since is refused."""
    where = ("-i", "hosts.yaml", "-l", "web1")
    for name in ("good", "old"):
        made = ccm.run("plan", *where, "-o", f"{name}.plan", "site.yaml")
        assert made.code == 0, made.output
    pushed = ccm.run("push", "good.plan")
    assert pushed.code == 0, pushed.output
    assert (tmp_path / "web1").read_text() == TEXT
    (tmp_path / "hosts.yaml").write_text(HOSTS.replace("192.0.2.10", "192.0.2.11"))
    refused = ccm.run("push", "old.plan")
    assert refused.code == 2
    assert "hosts.yaml is not what the plan was made of" in refused.stderr


def test_stages_see_all_hosts(ccm: Ccm, tmp_path: Path) -> None:
    """Each stage of a file sees the hosts of the others."""
    (tmp_path / "stages.yaml").write_text(
        "stages:\n  - {name: one, manifest: site.yaml, hosts: web1}\n"
        "  - {name: two, manifest: site.yaml, hosts: web2}\n"
    )
    found = ccm.run("push", "-i", "hosts.yaml", "stages.yaml")
    assert found.code == 0, found.output
    for name in ("web1", "web2"):
        assert (tmp_path / name).read_text() == TEXT


def test_commands_that_change_nothing_see_all_hosts(ccm: Ccm, tmp_path: Path) -> None:
    """``render``, ``hiera`` and ``validate -i`` read the same hosts as a push."""
    where = ("-i", "hosts.yaml", "-l", "web1")
    rendered = ccm.run("render", *where, "--offline", "site.yaml")
    assert rendered.code == 0, rendered.output
    assert TEXT.strip() in rendered.stdout
    data = ccm.run("hiera", "parse", *where, "--offline", "site.yaml")
    assert data.code == 0, data.output
    assert "web1+web2" in data.stdout
    valid = ccm.run("validate", "-i", "hosts.yaml", "site.yaml")
    assert valid.code == 0, valid.output
    assert "all 3 resources of 3 hosts were checked" in valid.stdout
    site = (tmp_path / "site.yaml").read_text()
    (tmp_path / "site.yaml").write_text(site.replace("Hosts.db1", "Hosts.db2"))
    wrong = ccm.run("validate", "-i", "hosts.yaml", "site.yaml")
    assert "there is no 'db2', did you mean 'db1'?" in wrong.output


def test_this_machine_alone_has_no_other_hosts(ccm: Ccm, tmp_path: Path) -> None:
    """``apply`` without an inventory sees this machine only."""
    text = "{{ Groups.all | length }} {{ Hosts[Host.name].name == Host.name }}"
    site = (tmp_path / "site.yaml").read_text()
    begin, end = site.index('"{{ Data.peers'), site.index("            owner")
    alone = site[:begin] + f'"{text}"\n' + site[end:]
    (tmp_path / "site.yaml").write_text(alone.replace("{{ Host.name }}:", "here:"))
    found = ccm.run("apply", "site.yaml")
    assert found.code == 0, found.output
    assert (tmp_path / "here").read_text() == "1 true"
