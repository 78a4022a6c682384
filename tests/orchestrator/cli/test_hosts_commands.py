"""``ccm facts`` and ``ccm inventory`` as a whole."""

import json
from pathlib import Path

import pytest
import yaml

from tests.orchestrator.cli.test_push import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    (tmp_path / "hosts.yaml").write_text(
        "hosts:\n"
        "  here: {connection: local, vars: {role: db}}\n"
        "  there: {connection: local}\n"
        "  gone: {address: 127.0.0.1, port: 1}\n"
        "groups:\n"
        "  near: {hosts: [here, there], vars: {role: web, far: false}}\n",
        encoding="utf-8",
    )
    return made


def test_facts_of_several_hosts_by_a_path(desk: Desk) -> None:
    """A path gives one value per host; vars and --fact lie over what the host says."""
    code, out, _ = desk.ccm("facts", "-i", "hosts.yaml", "-l", "near", "role")
    assert (code, json.loads(out)) == (0, {"here": "db", "there": "web"})
    words = ["facts", "-i", "hosts.yaml", "-l", "here", "--fact", "role=x.y", "--fact", "a.b=1"]
    code, out, _ = desk.ccm(*words, "--yaml")
    facts = yaml.safe_load(out)["here"]
    assert (code, facts["role"], facts["a"]) == (0, "x.y", {"b": 1})
    assert facts["host"]["info"]["os"] == "linux"


def test_a_gjson_query_and_a_missing_path(desk: Desk) -> None:
    """Queries are GJSON's; a host that has nothing there fails, as in ccm hiera parse --query."""
    code, out, _ = desk.ccm("facts", "-i", "hosts.yaml", "-l", "here", "cpu.info.#")
    assert (code, type(json.loads(out)["here"])) == (0, int)
    code, out, err = desk.ccm("facts", "-i", "hosts.yaml", "-l", "here", "no.such.fact")
    assert (code, json.loads(out)) == (1, {})
    assert "here: there is no fact at the path 'no.such.fact'" in err


def test_a_path_that_cannot_be_used_is_refused_before_any_host_is_asked(desk: Desk) -> None:
    """The mistake is told once, not once for each host, and the exit code is 2."""
    code, out, err = desk.ccm("facts", "-i", "hosts.yaml", "a..b")
    assert (code, out) == (2, "")
    assert err.count("is not a GJSON path") == 1
    assert "gone" not in err


def test_a_host_that_is_down_does_not_hide_the_others_facts(desk: Desk) -> None:
    """The facts of the others are written, the error is told, and the exit code is 3."""
    code, out, err = desk.ccm("facts", "-i", "hosts.yaml", "host.info.os")
    assert (code, json.loads(out)) == (3, {"here": "linux", "there": "linux"})
    assert "gone: 127.0.0.1 port 1: connection refused" in err


def test_the_list_the_tree_and_one_host(desk: Desk) -> None:
    """Hosts are listed, shown in their groups, and each value of one says where it is written."""
    ssh = desk.directory / ".ssh"
    ssh.mkdir(mode=0o700)
    (ssh / "config").write_text("Host 127.*\n  RemoteForward 8080 localhost:80\n", encoding="utf-8")
    with (ssh / "config").open("a", encoding="utf-8") as config:
        config.write("  KnownHostsCommand x\n")
    code, out, _ = desk.ccm("inventory", "-i", "hosts.yaml", "-l", "near")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, ["here", "there"])
    code, out, _ = desk.ccm("inventory", "-i", "hosts.yaml", "--graph")
    assert "|--@near:" in out
    code, out, _ = desk.ccm("inventory", "-i", "hosts.yaml", "--host", "here")
    assert code == 0
    assert "(host here, hosts.yaml:2:" in out
    assert "(group near, hosts.yaml:6:" in out
    code, out, _ = desk.ccm("inventory", "-i", "hosts.yaml", "--host", "gone")
    assert "that ccm ignores" in out
    assert "remoteforward 8080 localhost:80" in out
    assert "that prevents the login:\n  ccm does not support knownhostscommand x" in out
    code, _, err = desk.ccm("inventory", "-i", "hosts.yaml", "--host", "heer")
    assert code == 2
    assert "here" in err


def test_the_inventory_as_json(desk: Desk) -> None:
    """--json gives each host with its groups and variables."""
    code, out, _ = desk.ccm("inventory", "-i", "hosts.yaml", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["here"]["vars"] == {"role": "db", "far": False}
    assert document["gone"]["port"] == 1
