"""ccm init from an inventory of Ansible."""

from pathlib import Path

import pytest
import yaml

import inventory
from orchestrator.cli.app import main

INI = """\
# production
mail ansible_host=192.0.2.5 ansible_user=deploy # comment
gate:2222

[web]
web[01:03].example.net http_port=8080

[db]
db-[a:b] ansible_ssh_pass=hunter2

[site:children]
web
db

[web:vars]
workers=4
greeting='Hello {{ inventory_hostname }}'

[all:vars]
domain=example.net
"""
YAML = """\
all:
  hosts:
    mail: {ansible_host: 192.0.2.5}
  children:
    web:
      hosts:
        web[1:2]: {http_port: 8080}
      vars: {workers: 4, motto: yes}
    site:
      children: {web: }
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, and a state directory elsewhere."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    monkeypatch.chdir(home)
    return home


def check_project() -> None:
    """The project is canonical where it is ours, and valid for all hosts."""
    assert main(["validate", "-i", "hosts.yaml", "site.yaml"]) == 0


def test_ini(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hosts, ranges, ports, groups and variables; a password is left out, and ccm says so."""
    (directory / "production.ini").write_text(INI)
    (directory / "group_vars").mkdir()
    (directory / "group_vars/db.yml").write_text("pool: 20\n")
    assert main(["init", "site", "--ansible", "production.ini", "--ci", "none"]) == 0
    assert "an inventory never contains passwords" in capsys.readouterr().err
    monkeypatch.chdir(directory / "site")
    known = inventory.load("hosts.yaml")
    assert list(known.hosts) == [
        "mail", "gate", "web01.example.net", "web02.example.net", "web03.example.net", "db-a",
        "db-b",
    ]  # fmt: skip
    assert known.hosts["mail"].address == "192.0.2.5"
    assert known.hosts["gate"].port == 2222
    assert sorted(host.name for host in known.select("site")) == sorted(list(known.hosts)[2:])
    assert yaml.safe_load(Path("hosts.yaml").read_text())["defaults"] == {"become": True}
    assert "hunter2" not in "".join(path.read_text() for path in Path().rglob("*.yaml"))
    check_project()
    words = ["hiera", "parse", "-i", "hosts.yaml", "-l", "web01.example.net", "--offline"]
    assert main([*words, "site.yaml"]) == 0
    shown = capsys.readouterr().out
    assert '"workers": 4' in shown
    assert '"greeting": "Hello web01.example.net"' in shown
    assert '"domain": "example.net"' in shown
    assert '"pool"' not in shown


def test_yaml(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same from YAML, which Ansible reads as version 1.1."""
    (directory / "hosts.yml").write_text(YAML)
    assert main(["init", "site", "--ansible", "hosts.yml", "--ci", "none", "--no-become"]) == 0
    monkeypatch.chdir(directory / "site")
    assert list(inventory.load("hosts.yaml").hosts) == ["mail", "web1", "web2"]
    check_project()
    capsys.readouterr()
    words = ["hiera", "parse", "-i", "hosts.yaml", "-l", "web1", "--offline", "site.yaml"]
    assert main(words) == 0
    assert '"motto": true' in capsys.readouterr().out


def test_what_is_none(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file, a program and an empty file are refused; nothing is written."""
    (directory / "empty.ini").write_text("[web]\n")
    program = directory / "cloud"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (directory / "bad.ini").write_text("[web:wars]\nx\n")
    for name in ("missing.ini", "cloud", "empty.ini", "bad.ini"):
        assert main(["init", "site", "--ansible", name]) == 2
        assert name in capsys.readouterr().err
        assert list((directory / "site").iterdir()) == []
    assert main(["init", "site", "--ansible", "empty.ini", "--host", "a"]) == 2


def test_files_that_may_hold_secrets_are_for_the_user_alone(tmp_path: Path) -> None:
    """A data file with a password has the mode 0600, others 0644."""
    source = tmp_path / "inv.ini"
    source.write_text(
        "[db]\ndb1\n[db:vars]\ndb_password=hunter2\n[web]\nweb1\n[web:vars]\nport=1\n"
    )
    assert main(["init", "--ansible", str(source), "--ci", "none"]) == 0
    modes = {
        str(one.relative_to(Path.cwd())): one.stat().st_mode & 0o777
        for one in Path.cwd().rglob("*.yaml")
    }
    secret = [name for name in modes if "hunter2" in Path(name).read_text()]
    assert secret
    assert {modes[name] for name in secret} == {0o600}
    assert modes["site.yaml"] == 0o644
