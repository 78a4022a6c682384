"""``ccm hosts trust`` and what a connector finds out before it connects, over a real sshd."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import paramiko
import pytest

from orchestrator.cli import app
from orchestrator.transport import Connector, Credentials, Settings
from orchestrator.transport.host_keys.key_trust import ScanFailure, ScannedKey, trust
from orchestrator.transport.host_keys.known_hosts import fingerprint
from orchestrator.transport.host_keys.scanning import scan
from remote_runtime.errors import InputError, UsageError
from tests.orchestrator.transport.conftest import Connect, StartSshd
from tests.orchestrator.transport.fakes import Host, Phases, local
from tests.orchestrator.transport.sshd import Sshd, make_key, public
from tests.texts import expect_text


def scanned(ssh_config: Path, *hosts: Host, **settings: Any) -> list[ScannedKey | ScanFailure]:
    made = Settings(ssh_config=(ssh_config,), **settings)
    return scan(hosts, made, Credentials(environ={}), forks=4)


def test_a_scan_asks_each_host_once_and_nobody_logs_in(
    start_sshd: StartSshd, ssh_config: Path, tmp_path: Path
) -> None:
    """Hosts come in their order; the local one has no key; a dead one is told."""
    server = start_sshd()
    empty = str(tmp_path / "known")
    found = scanned(
        ssh_config,
        server.host(known_hosts=empty),
        local(),
        Host(name="dead", port=1, connect_timeout=3.0),
        server.host(name="again", known_hosts=empty),
    )
    assert [type(one).__name__ for one in found] == ["ScannedKey", "ScanFailure"]
    assert isinstance(found[0], ScannedKey)
    assert found[0].state == "new"
    assert "Accepted" not in server.log()


def test_a_scan_leaves_no_thread_for_each_host(
    start_sshd: StartSshd, ssh_config: Path, tmp_path: Path
) -> None:
    """Thousands of hosts are asked with as many threads as forks."""
    host = start_sshd().host(known_hosts=str(tmp_path / "known"))
    assert [type(one) for one in scanned(ssh_config, host)] == [ScannedKey]
    left = [one for one in threading.enumerate() if isinstance(one, paramiko.Transport)]
    for one in left:  # one that was told to end may be in its last lines
        one.join(30)
    assert [one for one in left if one.is_alive()] == []


def test_what_is_trusted_can_be_connected_to(
    sshd: Sshd, connect: Connect, ssh_config: Path, tmp_path: Path
) -> None:
    """Scan, trust, open."""
    host = sshd.host(known_hosts=str(tmp_path / "known"))
    trust([one for one in scanned(ssh_config, host) if isinstance(one, ScannedKey)])
    link = connect().open(host, Phases())
    assert link.nonce
    link.close()


def test_a_jump_host_is_scanned_before_the_hosts_behind_it(
    sshd: Sshd, start_sshd: StartSshd, ssh_config: Path, tmp_path: Path
) -> None:
    """Its key comes first; once it is trusted, those behind it are reached."""
    known = str(tmp_path / "known")
    gate = start_sshd().host(name="gate", known_hosts=known)
    host = sshd.host(known_hosts=known, jump="gate")
    first = scanned(ssh_config, host, hosts={"gate": gate})
    assert [type(one).__name__ for one in first] == ["ScannedKey", "ScanFailure"]
    trust([one for one in first if isinstance(one, ScannedKey)])
    second = scanned(ssh_config, host, hosts={"gate": gate})
    assert [one.state for one in second if isinstance(one, ScannedKey)] == ["same", "new"]


def inventory(tmp_path: Path, host: Host, name: str = "web1") -> str:
    path = tmp_path / "hosts.yaml"
    path.write_text(
        f"hosts:\n  {name}: {{address: 127.0.0.1, port: {host.port}, "
        f"known_hosts: {tmp_path / 'known'}}}\n"
    )
    return str(path)


def test_the_command_shows_and_writes(
    sshd: Sshd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--yes writes what is new; the second time there is nothing to write."""
    arguments = ["hosts", "trust", "-i", inventory(tmp_path, sshd.host()), "--yes"]
    assert app.main(arguments) == 0
    assert f"written: {tmp_path / 'known'}" in capsys.readouterr().out
    assert app.main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("same      web1")
    assert "no new keys" in shown


def test_the_command_points_at_a_changed_key(
    sshd: Sshd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CHANGED stands out, and without a terminal nothing is written unasked."""
    old = f"{sshd.name} {public(make_key(tmp_path / 'other'))}\n"
    (tmp_path / "known").write_text(old)
    arguments = ["hosts", "trust", "-i", inventory(tmp_path, sshd.host()), "--replace"]
    assert app.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out.startswith("CHANGED   web1")
    assert "--yes" in captured.err
    assert (tmp_path / "known").read_text() == old


def test_a_changed_key_is_replaced_by_replace_only(
    sshd: Sshd, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--yes writes new keys and leaves a changed one; both show the old and the new fingerprint."""
    other = make_key(tmp_path / "other")
    old = f"{sshd.name} {public(other)}\n"
    (tmp_path / "known").write_text(old)
    arguments = ["hosts", "trust", "-i", inventory(tmp_path, sshd.host()), "--yes"]
    blobs = [base64.b64decode(public(key).split()[1]) for key in (other, sshd.host_keys[0])]
    prints = [fingerprint(blob) for blob in blobs]
    assert app.main(arguments) == 1
    captured = capsys.readouterr()
    assert all(one in captured.out for one in prints)
    assert f"{tmp_path / 'known'}:1" in captured.out
    assert "web1" in captured.err
    assert "--replace" in captured.err
    assert (tmp_path / "known").read_text() == old
    assert app.main([*arguments, "--replace"]) == 0
    out = capsys.readouterr().out
    assert all(one in out for one in prints)
    assert (tmp_path / "known").read_text().split()[1:] == public(sshd.host_keys[0]).split()


def test_the_command_says_which_host_did_not_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, with the reason."""
    arguments = ["hosts", "trust", "-i", inventory(tmp_path, Host(port=1)), "--yes"]
    assert app.main(arguments) == 3
    assert "web1: 127.0.0.1 port 1: connection refused" in capsys.readouterr().err


def prepared(connector: Connector, *hosts: Host) -> None:
    connector.prepare(hosts)


def test_problems_of_all_routes_are_found_before_a_host_is_contacted(
    connect: Connect, ssh_config: Path
) -> None:
    """One report with every directive that cannot be honoured, each once."""
    ssh_config.write_text("Host a\n PKCS11Provider x\nHost b c\n HostbasedAuthentication yes\n")
    with pytest.raises(InputError) as caught:
        prepared(connect(), *(Host(name=n, address=n) for n in "abc"))
    first, second = sorted(problem.message for problem in caught.value.problems)
    assert first.startswith("a: ccm does not support pkcs11provider x")
    assert second.startswith("b and 1 more host: ccm does not support hostbasedauthentication yes")


def test_a_problem_of_a_route_names_its_host_once(connect: Connect, ssh_config: Path) -> None:
    """What is told of a host begins with it already, what is told of its jump host does not."""
    ssh_config.write_text("Host web jump\n IdentityFile %q\nHost behind\n ProxyJump jump\n")

    def told(*names: str) -> list[str]:
        with pytest.raises(InputError) as caught:
            prepared(connect(), *(Host(name=name, address=name) for name in names))
        end = ": the SSH configuration uses %q, which ccm does not support"
        return [one.message.removesuffix(end) for one in caught.value.problems]

    assert told("web", "behind") == ["web", "behind: jump"]
    expect_text(told("jump", "behind"))


def test_passwords_are_asked_for_before_a_host_is_contacted(connect: Connect) -> None:
    """Both prompts come first, in order."""
    asked: list[str] = []

    def prompt(question: str) -> str:
        asked.append(question)
        return "x"

    credentials = Credentials(True, True, prompt, {})
    prepared(connect(credentials=credentials), Host())
    assert asked == ["SSH password: ", "sudo password: "]


def test_a_password_that_cannot_be_asked_for_is_a_usage_error(connect: Connect) -> None:
    """Without a terminal the run does not begin."""
    with pytest.raises(UsageError):
        prepared(connect(credentials=Credentials(ask_pass=True, environ={})), Host())


def test_a_passphrase_is_asked_for_before_a_host_is_contacted(
    connect: Connect, tmp_path: Path
) -> None:
    """The key that is tried first is unlocked while nothing is drawn yet."""
    key = make_key(tmp_path / "locked", passphrase="open sesame")
    asked: list[str] = []

    def prompt(question: str) -> str:
        asked.append(question)
        return "open sesame"

    connector = connect(credentials=Credentials(prompt=prompt, environ={}))
    prepared(connector, Host(key_file=str(key)), Host(name="web2", key_file=str(key)))
    assert len(asked) == 1
