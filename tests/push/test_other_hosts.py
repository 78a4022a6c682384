"""Templates that read other hosts, in every command that makes plans."""

import getpass
import grp
import json
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
    assert "hosts.yaml has changed since the plan was created" in refused.stderr


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
    assert "all resources of 3 hosts were checked" in valid.stdout
    site = (tmp_path / "site.yaml").read_text()
    (tmp_path / "site.yaml").write_text(site.replace("Hosts.db1", "Hosts.db2"))
    wrong = ccm.run("validate", "-i", "hosts.yaml", "site.yaml")
    assert "there is no key 'db2' (did you mean db1?)" in wrong.output


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


READS = """\
ccm:
  resources:
    - file:
        - SCRATCH/{{ Host.name }}:
            content: "{{ Hosts.db1.facts.host.info.os }} {{ Hosts.db1.facts.words.evil }} \\
              {{ Hosts.gone.facts.host.info.os | default('none') }}"
            owner: USER
            group: GROUP
            mode: "0600"
"""
EVIL = "{{ 7 * 7 }} $(id) ../../etc"


@pytest.fixture
def reads(ccm: Ccm, tmp_path: Path) -> Ccm:
    """Hosts of which one reads facts of two others: one that answers, one that does not."""
    hosts = HOSTS.replace("address: 192.0.2.10", "address: 192.0.2.10, python: python3")
    gone = "  gone: {connection: ssh, address: 127.0.0.1, port: 1}\n"
    (tmp_path / "hosts.yaml").write_text(hosts.replace("groups:", f"{gone}groups:", 1))
    facts = tmp_path / "home/.config/choria/ccm"
    facts.mkdir(parents=True)
    (facts / "facts.json").write_text(json.dumps({"words": {"evil": EVIL}}))
    site = (tmp_path / "site.yaml").read_text()
    head, tail = site.index('"{{ Data.peers'), site.index("            owner")
    mine = READS.index('"{{ Hosts'), READS.index("            owner")
    (tmp_path / "site.yaml").write_text(site[:head] + READS[mine[0] : mine[1]] + site[tail:])
    return ccm


def kept(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "state/ccm/facts").glob("*.json"))


def test_facts_of_others_are_gathered_before_the_push(reads: Ccm, tmp_path: Path) -> None:
    """Facts of hosts that are not selected are asked for once, kept, and used until too old."""
    words = ("push", "-i", "hosts.yaml", "-l", "web", "site.yaml")
    found = reads.run(*words)
    assert found.code == 0, found.output
    assert "gathering the facts of 2 hosts for templates" in found.output
    for name in ("web1", "web2"):
        assert (tmp_path / name).read_text() == f"linux {EVIL} none"
    (path,) = kept(tmp_path)
    assert path.name.startswith("db1-")
    assert path.stat().st_mode & 0o777 == 0o600
    (tmp_path / "site.yaml").write_text(
        (tmp_path / "site.yaml")
        .read_text()
        .replace("Hosts.gone.facts.host.info.os", "nothing")
        .replace("nothing | default('none')", "Hosts.db1.gathered[:2]")
    )
    again = reads.run(*words, "--noop")
    assert again.code == 0, again.output
    assert "gathering" not in again.output
    assert "templates read the facts of db1 (20" in again.output
    (tmp_path / "ccm.yaml").write_text("facts_max_age: 0s\n")
    old = reads.run(*words, "--noop")
    assert "gathering the facts of 1 host for templates" in old.output


def test_a_host_that_does_not_answer_refuses_who_reads_it(reads: Ccm, tmp_path: Path) -> None:
    """Without a default, the facts of a host that cannot be asked refuse the hosts that read them,
    and change nothing there."""
    site = (tmp_path / "site.yaml").read_text()
    (tmp_path / "site.yaml").write_text(site.replace(" | default('none')", ""))
    found = reads.run("push", "-i", "hosts.yaml", "-l", "web", "site.yaml")
    assert found.code == 1, found.output
    assert "the facts of gone are not known: gone could not be queried" in found.output
    assert not (tmp_path / "web1").exists()


def test_commands_without_a_push_use_what_is_kept(reads: Ccm, tmp_path: Path) -> None:
    """``validate -i`` contacts nobody and says what it could not look into; ``facts`` keeps what
    hosts say; ``render`` asks for what is missing."""
    check = ("validate", "-i", "hosts.yaml", "-l", "web", "site.yaml")
    unknown = reads.run(*check)
    assert unknown.code == 0, unknown.output
    assert "0 of 2 resources of 2 hosts were checked; 2 need facts" in unknown.stdout
    rendered = reads.run("render", "-i", "hosts.yaml", "-l", "web1", "site.yaml")
    assert rendered.code == 0, rendered.output
    assert f"linux {EVIL} none" in rendered.stdout
    for path in kept(tmp_path):
        path.unlink()
    assert reads.run("facts", "-i", "hosts.yaml", "-l", "db1", "host.info.os").code == 0
    assert len(kept(tmp_path)) == 1
    valid = reads.run(*check)
    assert "all resources of 2 hosts were checked" in valid.stdout


def test_a_plan_is_held_to_the_facts_that_it_saw(reads: Ccm, tmp_path: Path) -> None:
    """A plan whose push would come out otherwise, for another host says something else, is
    refused."""
    made = reads.run("plan", "-i", "hosts.yaml", "-l", "web1", "-o", "web.plan", "site.yaml")
    assert made.code == 0, made.output
    (tmp_path / "home/.config/choria/ccm/facts.json").write_text('{"words": {"evil": "other"}}')
    (tmp_path / "ccm.yaml").write_text("facts_max_age: 0s\n")
    pushed = reads.run("push", "-l", "web1", "web.plan")
    assert pushed.code == 1, pushed.output
    assert not (tmp_path / "web1").exists()


def test_data_that_reads_data_and_groups(ccm: Ccm, tmp_path: Path) -> None:
    """A value of the data may read another one beside groups and hosts."""
    site = (tmp_path / "site.yaml").read_text()
    data = "data: {peers: \"{{ Groups[Data.group] | join('+') }}\", group: web}\n"
    (tmp_path / "site.yaml").write_text(data + site[site.index("ccm:") :])
    rendered = ccm.run("render", "-i", "hosts.yaml", "-l", "web1", "--offline", "site.yaml")
    assert rendered.code == 0, rendered.output
    assert TEXT.strip() in rendered.stdout


def test_facts_that_cannot_be_kept_are_used_once(reads: Ccm, tmp_path: Path) -> None:
    """Where the state directory takes no facts, they are read all the same, with one warning."""
    state = tmp_path / "state/ccm"
    state.mkdir(parents=True)
    (state / "facts").write_text("no folder")
    shown = reads.run("facts", "-i", "hosts.yaml", "-l", "db1,web", "host.info.os")
    assert shown.code == 0, shown.output
    assert shown.stderr.count("facts cannot be stored in") == 1
    rendered = reads.run("render", "-i", "hosts.yaml", "-l", "web1", "site.yaml")
    assert rendered.code == 0, rendered.output
    assert f"linux {EVIL} none" in rendered.stdout
