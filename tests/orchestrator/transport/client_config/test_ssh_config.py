"""OpenSSH's client configuration, as ccm reads it."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.transport import Settings
from orchestrator.transport.client_config.ssh_config import MAX_DEPTH, Config
from orchestrator.transport.host_keys.known_hosts import matches
from orchestrator.transport.route import Route, Router, ignored_directives
from remote_runtime.errors import InputError
from tests.calls import calls_of
from tests.orchestrator.transport.fakes import Host


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a configuration below a scratch home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / ".ssh").mkdir()
    return tmp_path / ".ssh" / "config"


def route(config: Path, text: str, name: str = "web1", **changes: Any) -> Route:
    config.write_text(text)
    settings = Settings(ssh_config=(config,))
    host = Host(address=name, **changes)
    return Router(settings).route(host)


def first(config: Path, text: str, key: str, name: str = "web1") -> str | None:
    config.write_text(text)
    return Config([config]).lookup(name).first(key)


def refusal(config: Path, text: str, name: str = "web1") -> str:
    with pytest.raises(InputError) as caught:
        route(config, text, name)
    return str(caught.value)


def test_without_a_configuration_the_defaults_hold(config: Path) -> None:
    """The host itself, port 22, the local user, the usual keys and files."""
    found = Router(Settings(ssh_config=(config,))).route(Host(address="web1"))
    assert (found.address, found.port, found.user) == ("web1", 22, getpass.getuser())
    assert [path.name for path in found.identities] == ["id_ed25519", "id_ecdsa", "id_rsa"]
    assert str(found.known_hosts[0]).endswith("/.ssh/known_hosts")
    assert found.methods == ("publickey", "keyboard-interactive", "password")
    assert found.timeout == 10.0


def test_the_first_value_wins(config: Path) -> None:
    """As in OpenSSH, a later block does not change what is decided."""
    text = "Host web1\n User a\nHost *\n User b\n Port 2222\n"
    assert route(config, text).user == "a"
    assert route(config, text).port == 2222
    assert route(config, text, "web2").user == "b"


@pytest.mark.parametrize(
    ("patterns", "name", "holds"),
    [
        ("web*", "web1", True),
        ("web?", "web12", False),
        ("* !web1", "web1", False),
        ("!web1 *", "web2", True),
        ("!web2", "web1", False),
        ("WEB1", "web1", True),
        ("w[e]b1", "web1", False),
        ('"web1" db1', "db1", True),
    ],
)
def test_host_patterns(config: Path, patterns: str, name: str, holds: bool) -> None:
    """Stars, question marks, negation; brackets mean themselves."""
    assert (first(config, f"Host {patterns}\n User x\n", "user", name) == "x") is holds


def test_keywords_are_written_in_many_ways(config: Path) -> None:
    """Case, equals signs, quotes, tabs and comments are as OpenSSH takes them."""
    text = '# c\n\n\tHOSTNAME = "a.example"  # why\nuser=bob\nPort\t2200\n'
    found = route(config, text)
    assert (found.address, found.user, found.port) == ("a.example", "bob", 2200)


def test_the_inventory_beats_the_configuration(config: Path) -> None:
    """What the inventory says is as if it stood on ssh's command line."""
    text = "User a\nPort 1\nIdentityFile ~/k\nUserKnownHostsFile ~/kh\nConnectTimeout 3\n"
    found = route(
        config, text, user="b", port=2, key_file="/key", known_hosts="/known", connect_timeout=7.0
    )
    assert (found.user, found.port, found.timeout) == ("b", 2, 7.0)
    assert str(found.identities[0]) == "/key"
    assert [str(path) for path in found.known_hosts] == ["/known"]
    assert route(config, text).timeout == 3.0


def test_how_long_a_host_may_be_silent_is_its_connect_timeout() -> None:
    """That of the command line, of the inventory, or ten seconds."""
    settings, patient = Settings(), Host(connect_timeout=7.0)
    assert [settings.patience(host) for host in (Host(), patient)] == [10.0, 7.0]
    assert settings._replace(connect_timeout=2.5).patience(patient) == 2.5


def test_identity_files_add_up(config: Path, tmp_path: Path) -> None:
    """Several lines give several keys, with tokens and variables replaced."""
    text = "IdentityFile ~/a_%h_%r\nHost web1\n User bob\n IdentityFile ${HOME}/b\n"
    found = route(config, text).identities
    assert [str(path) for path in found] == [f"{tmp_path}/a_web1_bob", f"{tmp_path}/b"]


def test_include_keeps_to_its_block(config: Path) -> None:
    """What is included under Host holds for that host, its own Host blocks included."""
    directory = config.parent
    (directory / "inner").write_text("User inner\nHost db*\n Port 3\n")
    text = "Host web1\n Include inner\n IdentitiesOnly yes\nHost *\n User outer\n"
    assert route(config, text).user == "inner"
    assert route(config, text).identities_only
    other = route(config, text, "db1")
    assert (other.user, other.port, other.identities_only) == ("outer", 22, False)


def test_include_takes_globs_in_order(config: Path) -> None:
    """Files are read sorted, relative to ~/.ssh, and one that is missing is empty."""
    directory = config.parent / "conf.d"
    directory.mkdir()
    (directory / "20.conf").write_text("User late\n")
    (directory / "10.conf").write_text("User early\n")
    assert route(config, "Include conf.d/*.conf nowhere\n").user == "early"


def test_include_of_itself_is_refused(config: Path) -> None:
    """The depth is bounded, and the line is named."""
    text = refusal(config, "User a\nInclude config\n")
    assert f"deeper than {MAX_DEPTH}" in text
    assert f"{config}:2:1" in text


def test_match_criteria(config: Path) -> None:
    """host looks at HostName, originalhost at what was asked for, user at the one decided."""
    text = (
        "Host web1\n HostName real.example\n User bob\n"
        "Match originalhost web1 host *.example user bob\n Port 1\n"
        "Match all\n Port 2\n"
    )
    assert route(config, text).port == 1
    assert route(config, text, "web2").port == 2
    assert route(config, "Match !user root localuser nobody-here\n Port 9\n").port == 22


def test_match_exec_runs_a_command(config: Path) -> None:
    """Its exit status decides, with tokens replaced."""
    text = 'Match exec "test %h = web1"\n Port 7\n'
    assert route(config, text).port == 7
    assert route(config, text, "web2").port == 22


def test_match_final_is_a_second_pass(config: Path) -> None:
    """Final blocks fill what the first pass left open."""
    text = "Match final host real\n Port 5\nHost web1\n HostName real\n"
    assert route(config, text).port == 5


def test_a_keyword_without_a_value_is_refused(config: Path) -> None:
    """A broken line is named."""
    assert f"{config}:2:3" in refusal(config, "Host *\n  User\n")


@pytest.mark.parametrize(
    "line",
    [
        "PKCS11Provider /usr/lib/pkcs11.so",
        "SecurityKeyProvider /usr/lib/sk.so",
        "HostbasedAuthentication yes",
        "KnownHostsCommand /bin/kh %H",
        "VerifyHostKeyDNS yes",
        "VerifyHostKeyDNS ask",
        "PreferredAuthentications gssapi-with-mic,hostbased",
        "ProxyUseFdpass yes",
    ],
)
def test_what_decides_trust_and_cannot_be_honoured_is_refused(config: Path, line: str) -> None:
    """The directive is named with file and line."""
    text = refusal(config, f"Host web1\n  {line}\n")
    assert line.split()[0].lower() in text
    assert f"{config}:2:3" in text
    assert route(config, f"Host other\n  {line}\n").port == 22


@pytest.mark.parametrize(
    "line",
    [
        "CertificateFile none",
        "HostbasedAuthentication no",
        "KnownHostsCommand none",
        "VerifyHostKeyDNS no",
        "SecurityKeyProvider internal",
        "GSSAPIAuthentication yes",
        "PreferredAuthentications gssapi-with-mic,publickey",
    ],
)
def test_what_changes_nothing_is_let_pass(config: Path, line: str) -> None:
    """A directive that is switched off, or that leaves us a method, is no error."""
    assert route(config, f"{line}\n").port == 22


def test_the_rest_is_listed(config: Path) -> None:
    """Directives without effect are told with their place; harmless and honoured ones are not."""
    config.write_text(
        "Compression yes\nForwardAgent yes\nUser bob\nBindAddress 10.0.0.1\n"
        "StrictHostKeyChecking no\nHost other\n Ciphers aes256-ctr\n"
    )
    found = ignored_directives(Host(address="web1"), Settings(ssh_config=(config,)))
    assert [(line.key, line.where.line) for line in found] == [
        ("bindaddress", 4),
        ("compression", 1),
        ("stricthostkeychecking", 5),
    ]


def test_the_agent_is_chosen(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """IdentityAgent names a socket, a variable, the default, or none."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "/default")
    monkeypatch.setenv("MINE", "/mine")
    assert route(config, "").agent == "/default"
    assert route(config, "IdentityAgent none\n").agent == ""
    assert route(config, "IdentityAgent SSH_AUTH_SOCK\n").agent == "/default"
    assert route(config, "IdentityAgent $MINE\n").agent == "/mine"
    assert route(config, "IdentityAgent ~/sock\n").agent == os.path.expanduser("~/sock")


def test_methods_are_switched_off_and_ordered(config: Path) -> None:
    """PubkeyAuthentication and its like, and PreferredAuthentications."""
    assert route(config, "PasswordAuthentication no\n").methods == (
        "publickey",
        "keyboard-interactive",
    )
    assert route(config, "PreferredAuthentications password,publickey\n").methods == (
        "password",
        "publickey",
    )


def test_known_hosts_names(config: Path, tmp_path: Path) -> None:
    """HostKeyAlias names the host, UserKnownHostsFile the files."""
    found = route(config, "HostKeyAlias fleet\nUserKnownHostsFile ~/a ~/b\n")
    assert found.key_name == "fleet"
    assert [str(p) for p in found.known_hosts[:2]] == [f"{tmp_path}/a", f"{tmp_path}/b"]


def test_jumps_of_the_configuration(config: Path) -> None:
    """user@host:port, chains and addresses in brackets."""
    found = route(config, "Host web1\n ProxyJump ann@gate:2200,[2001:db8::1]:23\n")
    assert [(j.user, j.address, j.port) for j in found.jumps] == [
        ("ann", "gate", 2200),
        (getpass.getuser(), "2001:db8::1", 23),
    ]
    assert [len(hop.jumps) for hop in found.hops()] == [0, 1]


def test_the_inventory_s_jump_beats_the_configuration(config: Path) -> None:
    """A name of the inventory brings that host's properties along."""
    config.write_text("ProxyJump other\n")
    gate = Host(name="gate", address="192.0.2.1", user="ann", port=24, jump="none")
    settings = Settings(ssh_config=(config,), hosts={"gate": gate})
    found = Router(settings).route(Host(address="web1", jump="gate"))
    assert [(j.user, j.address, j.port) for j in found.jumps] == [("ann", "192.0.2.1", 24)]


def test_a_proxy_command_and_its_tokens(config: Path) -> None:
    """The one of ProxyCommand and ProxyJump that stands first counts."""
    text = "ProxyCommand nc %h %p # %%\nProxyJump gate\n"
    assert route(config, text.replace(" # %%", " %%")).proxy_command == "nc web1 22 %"
    assert route(config, "ProxyJump none\nProxyCommand nc %h %p\n").proxy_command == ""
    assert route(config, "ProxyCommand none\nProxyJump gate\n").jumps == ()


def test_a_token_that_is_not_known_is_refused(config: Path) -> None:
    """An unknown percent letter is told, not passed on."""
    assert "%Z" in refusal(config, "ProxyCommand nc %Z\n")


def test_jumps_in_a_circle_are_refused(config: Path) -> None:
    """A host that is its own way is told with the way."""
    a = Host(name="a", address="192.0.2.1", jump="b")
    b = Host(name="b", address="192.0.2.2", jump="a")
    settings = Settings(ssh_config=(config,), hosts={"a": a, "b": b})
    with pytest.raises(InputError, match="a -> b -> a"):
        Router(settings).route(a)


def test_the_system_s_file_comes_second(config: Path, tmp_path: Path) -> None:
    """What the user's file leaves open is taken from the next one."""
    config.write_text("User a\n")
    system = tmp_path / "system"
    system.write_text("User b\nPort 9\n")
    found = Router(Settings(ssh_config=(config, system))).route(Host(address="web1"))
    assert (found.user, found.port) == ("a", 9)


def test_silence_is_noticed_in_thirty_seconds_at_most(config: Path) -> None:
    """ServerAlive may make the bound shorter, never longer."""
    assert route(config, "").alive == 30.0
    assert route(config, "ServerAliveInterval 5\nServerAliveCountMax 2\n").alive == 10.0
    assert route(config, "ServerAliveInterval 300\n").alive == 30.0


def test_a_large_configuration_is_quick(config: Path) -> None:
    """Of a thousand blocks each costs a host a few comparisons."""
    config.write_text("".join(f"Host h{n}\n User u{n}\n Port {n}\n" for n in range(1, 1001)))
    parsed = Config([config])
    assert parsed.lookup("h50").first("user") == "u50"
    assert calls_of(lambda: parsed.lookup("h51")) < 1000 * 20


def test_patterns_need_one_that_is_not_negated() -> None:
    """Only negated patterns match nothing."""
    assert not matches("web1", ["!web2"])
    assert matches("web1", ["web1", "!web2"])
