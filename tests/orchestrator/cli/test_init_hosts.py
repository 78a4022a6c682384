"""The hosts of a new project."""

import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator.cli.app import main
from tests.texts import expect_text

CONFIG = """\
Include more
Host web1 web2 *.example.com !bad
    User deploy
Host *
    ForwardAgent no
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, and a home with a configuration of SSH."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    ssh = tmp_path / "home" / ".ssh"
    ssh.mkdir(parents=True)
    (ssh / "config").write_text(CONFIG)
    (ssh / "more").write_text("Host db1\n    Port 2222\n")
    home = tmp_path / "project"
    home.mkdir(mode=0o755)
    monkeypatch.chdir(home)
    return home


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


def hosts(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((directory / "hosts.yaml").read_text())["hosts"]
    return found


def test_hosts_are_given(directory: Path) -> None:
    """A name, with a user and an address where they are said."""
    assert main(["init", "--host", "web1", "--host", "deploy@web2=192.0.2.10"]) == 0
    assert hosts(directory) == {"web1": None, "web2": {"address": "192.0.2.10", "user": "deploy"}}
    assert main(["inventory", "-i", "hosts.yaml"]) == 0


def test_hosts_of_the_ssh_configuration(directory: Path) -> None:
    """Its names, those of included files first, and no pattern."""
    assert main(["init", "--ssh-config"]) == 0
    assert list(hosts(directory)) == ["db1", "web1", "web2"]


def test_hosts_are_asked_for(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal; an empty line takes those of the SSH configuration."""
    monkeypatch.setattr("sys.stdin", Terminal("app1, root@app2\n"))
    assert main(["init"]) == 0
    assert hosts(directory) == {"app1": None, "app2": {"user": "root"}}
    assert "db1, web1, web2 from ~/.ssh/config" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    assert main(["init", "other"]) == 0
    assert list(hosts(directory / "other")) == ["db1", "web1", "web2"]


def test_three_questions(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hosts, sudo and CI; flags answer them; an answer that is none is refused."""
    monkeypatch.setattr("sys.stdin", Terminal("app1\nn\ngitlab\n"))
    assert main(["init"]) == 0
    asked = capsys.readouterr().err
    assert asked.count("]: ") == 3
    assert "not a terminal" not in asked
    assert (directory / ".gitlab-ci.yml").exists()
    text = (directory / "hosts.yaml").read_text()
    assert yaml.safe_load(text)["defaults"] == {"known_hosts": "known_hosts"}
    monkeypatch.setattr("sys.stdin", Terminal(""))
    assert main(["init", "b", "--host", "web1", "--become", "--ci", "none"]) == 0
    assert capsys.readouterr().err == ""
    assert yaml.safe_load((directory / "b/hosts.yaml").read_text())["defaults"] == {"become": True}
    for typed in ("app1\nmaybe\n", "app1\ny\nsourceforge\n", "-oProxyCommand=x\n"):
        monkeypatch.setattr("sys.stdin", Terminal(typed))
        assert main(["init", "c"]) == 2
        assert list((directory / "c").iterdir()) == []


def test_without_a_terminal_nothing_is_asked(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The project is for this machine only, and standard error says so."""
    monkeypatch.setattr("sys.stdin", io.StringIO("web1\n"))
    assert main(["init"]) == 0
    expect_text(capsys.readouterr().err)
    assert hosts(directory) == {"this-machine": {"connection": "local"}}


def test_what_is_no_host(directory: Path) -> None:
    """Nothing is written."""
    assert main(["init", "--host", "-oProxyCommand=x"]) == 2
    assert main(["init", "--host", "a b"]) == 2
    assert list(directory.iterdir()) == []


def test_an_inventory_that_is_there_is_not_replaced(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hosts beside an inventory are refused."""
    (directory / "hosts.yaml").write_text("hosts: {a: }\n")
    assert main(["init", "--host", "b"]) == 2
    expect_text(capsys.readouterr().err)
