"""Which ``Match`` lines hold, and what becomes of hosts for which that cannot be determined."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orchestrator.transport import Settings
from orchestrator.transport.client_config.ssh_config import Config
from orchestrator.transport.route import Router
from remote_runtime.errors import InputError
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Host
from tests.texts import expect_text

UNKNOWN = "Match invented thing"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The path of a configuration."""
    return tmp_path / "config"


def holds(config: Path, match: str, name: str = "web1", before: str = "") -> bool | None:
    """Whether a line ``Match`` holds for a host; None where that is not known."""
    config.write_text(f"{before}\n{match}\n Port 7\n")
    found = Config([config]).lookup(name)
    return None if found.undecided else found.first("port") == "7"


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("Match host=web1", True),
        ("Match host = web2", False),
        ("Match Host=web*,!web1", False),
        ("Match !host=web2", True),
        ('Match host="web1" originalhost=web1', True),
        ("Match=host web1", True),
        ('Match exec="test %h = web1"', True),
        ('Match host=web1 exec "test %h = web2"', False),
        ("Match localnetwork 127.0.0.0/8", True),
        ("Match localnetwork=203.0.113.0/24,2001:db8::/32", False),
        ("Match !localnetwork 203.0.113.0/24", True),
        ("Match sessiontype exec", True),
        ("Match sessiontype shell,subsystem", False),
        ("Match !sessiontype=shell", True),
        ('Match command "rsync *"', False),
        ("Match command git-*,scp", False),
        ("Match command *", True),
        ("Match command *sh*", True),
        ("Match !command *", False),
        ("Match tagged work", False),
        ('Match tagged ""', True),
        ("Match host web2 invented thing", False),
        ("Match invented thing host web2", None),
        ("Match host web1 invented", None),
        ("Match localnetwork nonsense", None),
        ('Match exec "test %Z"', None),
    ],
)
def test_what_holds(config: Path, match: str, expected: bool | None) -> None:
    """As ssh decides, with a blank or an equals sign before the value."""
    assert holds(config, match) is expected


def test_a_tag_is_the_one_that_was_set_first(config: Path) -> None:
    """Tag above the Match counts, for the hosts that have it."""
    before = "Host web*\n Tag work\nHost *\n Tag home\n"
    assert holds(config, "Match tagged work", before=before)
    assert not holds(config, "Match tagged work", "db1", before)
    assert holds(config, "Match !tagged w*", "db1", before)


def test_the_version_is_that_of_ssh(config: Path) -> None:
    """What `ssh -V` says before its comma."""
    said = subprocess.run(["ssh", "-V"], capture_output=True, text=True, check=True).stderr
    assert said.startswith("OpenSSH_")
    assert holds(config, "Match version OpenSSH_*")
    assert not holds(config, "Match version OpenSSH_1.*")


def test_the_version_without_ssh_is_not_known(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A machine without it decides nothing by its version."""
    from orchestrator.transport.client_config import ssh_match

    ssh_match._ssh_version.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert holds(config, "Match version OpenSSH_*") is None
    ssh_match._ssh_version.cache_clear()


def refused(config: Path, text: str, host: Host) -> str:
    """Why a host is refused, "" where it is not."""
    config.write_text(text)
    try:
        Router(Settings(ssh_config=(config,))).route(host)
    except InputError as error:
        return str(error)
    return ""


def test_only_what_hangs_on_it_is_refused(config: Path) -> None:
    """A host whose outcome is the same either way is let pass; the others name line and words."""
    text = f"Host web2\n User ann\n{UNKNOWN}\n User bob\n ForwardAgent yes\nHost web3\n User bob\n"
    why = refused(config, text, Host(address="web1"))
    expect_text(why)
    assert f"{config}:3:1" in why
    assert not refused(config, text, Host(address="web2"))
    assert not refused(config, text, Host(address="web3"))
    assert not refused(config, text, Host(address="web1", user="carl"))


@pytest.mark.parametrize(
    ("line", "matters"),
    [
        ("ForwardAgent yes", False),
        ("Ciphers aes128-ctr", False),
        ("HostbasedAuthentication no", False),
        ("HostbasedAuthentication yes", True),
        ("IdentityFile ~/.ssh/other", True),
        ("Tag work", True),
        ("ProxyJump gate", True),
    ],
)
def test_what_has_no_effect_refuses_nothing(config: Path, line: str, matters: bool) -> None:
    """What ccm passes over anyway may hold or not."""
    assert bool(refused(config, f"{UNKNOWN}\n {line}\n", Host(address="web1"))) is matters


def test_the_inventory_settles_it(config: Path) -> None:
    """Its own jump and known_hosts beat the configuration, whatever that says."""
    text = f"{UNKNOWN}\n ProxyJump gate\n UserKnownHostsFile ~/other\n"
    assert not refused(config, text, Host(address="web1", jump="none", known_hosts="/k"))


def test_an_include_below_it_counts(config: Path) -> None:
    """What a file says that would be included then."""
    other = config.with_name("included")
    other.write_text("User bob\n")
    expect_text(refused(config, f"{UNKNOWN}\n Include {other}\n", Host()))


def test_the_other_hosts_of_a_run_go_on(connect: Connect, ssh_config: Path) -> None:
    """A run is prepared, and only the host in question is refused when its turn comes."""
    from orchestrator.fleet.host.phases import Phase
    from remote_runtime.errors import UnreachableError

    ssh_config.write_text(f"Host web2\n User ann\n{UNKNOWN}\n User bob\n")
    connector = connect()
    connector.prepare([Host(name=name, address=name) for name in ("web1", "web2")])
    phases: list[Phase] = []
    with pytest.raises(UnreachableError, match="invented thing"):
        connector.open(Host(name="web1", address="web1"), phases.append)
    assert phases == []


def test_a_criterion_without_its_value_is_refused(config: Path) -> None:
    """As with ssh, that is a mistake in the file."""
    assert f"{config}:1:1" in refused(config, "Match host\n User x\n", Host())
