"""Logins with certificates of users and of hosts, at a real sshd."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.transport import Connector
from orchestrator.transport.connection_settings import Settings
from orchestrator.transport.host_keys.key_trust import ScanFailure, ScannedKey
from orchestrator.transport.host_keys.known_hosts import fingerprint, hashed, parse_line
from orchestrator.transport.host_keys.scanning import scan
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.authority import Authority, certify
from tests.orchestrator.transport.conftest import Connect, StartSshd
from tests.orchestrator.transport.fakes import Host, Phases
from tests.orchestrator.transport.sshd import Sshd, make_key, public

USER = getpass.getuser()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A CA."""
    return Authority(tmp_path / "ca")


@pytest.fixture
def other(tmp_path: Path) -> Authority:
    """A CA that nobody trusts."""
    return Authority(tmp_path / "other")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key that no server knows."""
    return make_key(tmp_path / "id")


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent without keys."""
    path = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
    while not path.exists():
        assert process.poll() is None
    yield path
    process.terminate()
    process.wait(10)


def trusting(start_sshd: StartSshd, authority: Authority) -> Sshd:
    """A server that lets in who has a certificate of the CA."""
    server = start_sshd(f"TrustedUserCAKeys {authority.public_file}")
    server.authorized.write_text("")
    return server


def logs_in(connector: Connector, host: Host) -> bool:
    """Log in and start the runtime: whether the host has shown its key. ``UnreachableError``."""
    link = connector.open(host, Phases())
    link.close()
    return link.host_key.startswith("SHA256:")


def failure(connector: Connector, host: Host) -> UnreachableError:
    with pytest.raises(UnreachableError) as caught:
        logs_in(connector, host)
    return caught.value


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_certificate_beside_the_key(
    connect: Connect, start_sshd: StartSshd, tmp_path: Path, kind: str
) -> None:
    """It is shown without being named, with keys and CAs of each kind."""
    authority, key = Authority(tmp_path / "ca", kind), make_key(tmp_path / "id", kind)
    authority.sign(key, "-n", USER)
    assert logs_in(connect(), trusting(start_sshd, authority).host(key_file=str(key)))


def test_the_key_goes_on_without_its_certificate(
    connect: Connect, sshd: Sshd, other: Authority
) -> None:
    """A server that does not know the CA, and has the key itself, lets it in."""
    key = make_key(sshd.directory / "plain")
    other.sign(key, "-n", USER)
    sshd.authorized.write_text(f"{sshd.authorized.read_text()}{public(key)}\n")
    assert logs_in(connect(), sshd.host(key_file=str(key)))


def test_certificate_file_names_it(
    connect: Connect,
    start_sshd: StartSshd,
    authority: Authority,
    key: Path,
    ssh_config: Path,
    tmp_path: Path,
) -> None:
    """CertificateFile, with tokens and more than once, goes with the key that fits it."""
    authority.sign(key, "-n", USER, to=tmp_path / f"mine-{USER}.pub")
    ssh_config.write_text(
        f"CertificateFile {tmp_path}/missing.pub\nCertificateFile {tmp_path}/mine-%r.pub\n"
    )
    assert logs_in(connect(), trusting(start_sshd, authority).host(key_file=str(key)))


def test_a_passphrase_is_asked_for(
    connect: Connect, start_sshd: StartSshd, authority: Authority, tmp_path: Path
) -> None:
    """The key of a certificate may have one."""
    from orchestrator.transport import Credentials

    key = make_key(tmp_path / "locked", passphrase="open sesame")
    authority.sign(key, "-n", USER)
    asked: list[str] = []

    def prompt(text: str) -> str:
        asked.append(text)
        return "open sesame"

    connector = connect(credentials=Credentials(prompt=prompt, environ={}))
    host = trusting(start_sshd, authority).host(key_file=str(key))
    connector.prepare([host])
    assert logs_in(connector, host)
    assert len(asked) == 1


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_an_agent_has_the_certificate(
    connect: Connect, start_sshd: StartSshd, tmp_path: Path, agent: Path, kind: str
) -> None:
    """No file of either is needed."""
    authority, key = Authority(tmp_path / "ca"), make_key(tmp_path / "id", kind)
    authority.sign(key, "-n", USER)
    subprocess.run(["ssh-add", "-q", str(key)], check=True)
    for path in tmp_path.glob("id*"):
        path.unlink()
    assert logs_in(connect(), trusting(start_sshd, authority).host(key_file=None))


def test_an_agent_has_the_key_of_a_named_certificate(
    connect: Connect,
    start_sshd: StartSshd,
    authority: Authority,
    key: Path,
    agent: Path,
    ssh_config: Path,
    tmp_path: Path,
) -> None:
    """The certificate is a file, its private key is only in the agent."""
    certificate = authority.sign(key, "-n", USER, to=tmp_path / "named.pub")
    subprocess.run(["ssh-add", "-q", str(key)], check=True)
    key.unlink()
    ssh_config.write_text(f"CertificateFile {certificate}\n")
    assert logs_in(connect(), trusting(start_sshd, authority).host(key_file=None))


def test_a_public_key_chooses_one_of_the_agent(
    connect: Connect, sshd: Sshd, agent: Path, tmp_path: Path, ssh_config: Path
) -> None:
    """IdentityFile may name the public half, or a key of which only that is there."""
    subprocess.run(["ssh-add", "-q", str(sshd.user_key)], check=True)
    half = tmp_path / "half.pub"
    half.write_text(public(sshd.user_key))
    ssh_config.write_text("IdentitiesOnly yes\n")
    for name in (half, half.with_suffix("")):
        assert logs_in(connect(), sshd.host(key_file=str(name)))


def test_why_a_certificate_does_not_log_in(
    connect: Connect, start_sshd: StartSshd, authority: Authority, key: Path
) -> None:
    """One that has expired or is for somebody else is tried, and told with the reason."""
    server = trusting(start_sshd, authority)
    host = server.host(key_file=str(key))
    authority.sign(key, "-n", USER, "-V", "20200101:20200102")
    error = failure(connect(), host)
    assert error.kind == "transport.auth"
    assert "expired on 2020-01-0" in error.message
    assert "tried: certificate " in error.message
    authority.sign(key, "-n", "somebody-else")
    assert f"it is for somebody-else, not for {USER}" in failure(connect(), host).message
    Path(f"{key}-cert.pub").write_text("ssh-ed25519-cert-v01@openssh.com AAAA broken\n")
    assert "-cert.pub is not a certificate" in failure(connect(), host).message


def test_a_certificate_of_another_ca_is_refused(
    connect: Connect, start_sshd: StartSshd, authority: Authority, other: Authority, key: Path
) -> None:
    """The server decides, and the certificate stands among what was tried."""
    other.sign(key, "-n", USER)
    error = failure(connect(), trusting(start_sshd, authority).host(key_file=str(key)))
    assert error.kind == "transport.auth"
    assert "id-cert.pub" in error.message


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_host_certificate_is_enough(
    connect: Connect, start_sshd: StartSshd, tmp_path: Path, kind: str
) -> None:
    """Of a CA of each kind; the host's own key is nowhere."""
    authority = Authority(tmp_path / "ca", kind)
    server = start_sshd(kinds=(kind,))
    certify(server, authority, "-n", "127.0.0.1")
    server.known_hosts.write_text(authority.known("10.0.0.1,127.0.0.*"))
    assert logs_in(connect(), server.host())


def test_a_host_certificate_of_a_hashed_name(
    connect: Connect, start_sshd: StartSshd, authority: Authority
) -> None:
    """With its port, and without it."""
    server = start_sshd()
    certify(server, authority, "-n", "127.0.0.1")
    for name in (server.name, "127.0.0.1"):
        server.known_hosts.write_text(authority.known(hashed(name)))
        assert logs_in(connect(), server.host())


def test_host_key_alias_is_the_name_in_the_certificate(
    connect: Connect, start_sshd: StartSshd, authority: Authority, ssh_config: Path
) -> None:
    """As with ssh, it is looked up in known_hosts and in the certificate."""
    server = start_sshd()
    certify(server, authority, "-n", "fleet")
    server.known_hosts.write_text(authority.known("fleet"))
    ssh_config.write_text("HostKeyAlias fleet\n")
    assert logs_in(connect(), server.host())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("-n", "web1"), "it is for web1, not for 127.0.0.1"),
        (("-n", "127.0.0.1", "-V", "20200101:20200102"), "it expired on"),
        (("-n", "127.0.0.1", "-V", "20900101:20900102"), "it is not valid before"),
    ],
)
def test_a_host_certificate_that_is_not_valid(
    connect: Connect,
    start_sshd: StartSshd,
    authority: Authority,
    options: tuple[str, ...],
    why: str,
) -> None:
    """Another name or time refuses the host with the reason, even if its key is known."""
    server = start_sshd()
    certify(server, authority, *options)
    server.known_hosts.write_text(server.known_hosts.read_text() + authority.known())
    error = failure(connect(), server.host())
    assert error.kind == "transport.host_key.certificate"
    assert why in error.message


def test_a_certificate_of_another_ca_leaves_the_key(
    connect: Connect, start_sshd: StartSshd, authority: Authority, other: Authority
) -> None:
    """The key of the host counts then: it is known, or refused with both CAs."""
    server = start_sshd()
    certify(server, other, "-n", "127.0.0.1")
    known = server.known_hosts.read_text()
    server.known_hosts.write_text(known + authority.known())
    assert logs_in(connect(), server.host())
    server.known_hosts.write_text(authority.known())
    error = failure(connect(), server.host())
    assert error.kind == "transport.host_key.unknown"
    for one in (authority, other):
        line = parse_line(one.known())
        assert line is not None
        assert fingerprint(line.blob) in error.message


def test_a_server_without_the_certificate_is_held_to_its_key(
    connect: Connect, start_sshd: StartSshd, authority: Authority
) -> None:
    """A CA in known_hosts does not keep a host out that shows the key which is known."""
    server = start_sshd()
    known = server.known_hosts.read_text()
    server.known_hosts.write_text(known + authority.known())
    assert logs_in(connect(), server.host())
    server.known_hosts.write_text(authority.known())
    assert "the host presents no certificate" in failure(connect(), server.host()).message


def test_what_is_revoked(connect: Connect, start_sshd: StartSshd, authority: Authority) -> None:
    """The CA, or the key that a valid certificate is for."""
    server = start_sshd()
    certify(server, authority, "-n", "127.0.0.1")
    revoked_key = f"@revoked * {public(server.host_keys[0])}\n"
    for line in (authority.known(marker="@revoked"), revoked_key):
        server.known_hosts.write_text(authority.known() + line)
        error = failure(connect(), server.host())
        assert error.kind == "transport.host_key.revoked"
        assert f"{server.known_hosts}:2" in error.message


def test_a_jump_host_with_certificates(
    connect: Connect,
    start_sshd: StartSshd,
    authority: Authority,
    key: Path,
) -> None:
    """Both hosts on the way prove themselves by one, and let us in by one."""
    authority.sign(key, "-n", USER)
    gate, inner = trusting(start_sshd, authority), trusting(start_sshd, authority)
    for server in (gate, inner):
        certify(server, authority, "-n", "127.0.0.1")
        server.known_hosts.write_text(authority.known())
    hosts = {"gate": gate.host(name="gate", key_file=str(key))}
    connector = connect({"hosts": hosts})
    assert logs_in(connector, inner.host(key_file=str(key), jump="gate"))
    gate.known_hosts.write_text("")
    error = failure(connect({"hosts": hosts}), inner.host(key_file=str(key), jump="gate"))
    assert error.kind == "transport.host_key.unknown"


def test_two_jumps_of_which_the_inner_is_loopback(
    connect: Connect, start_sshd: StartSshd, authority: Authority, key: Path, ssh_config: Path
) -> None:
    """127.0.0.1 is what the host before it calls so; each hop has its own port, key and user."""
    authority.sign(key, "-n", USER)
    outer, inner, last = (trusting(start_sshd, authority) for _ in range(3))
    known = "".join(server.known_hosts.read_text() for server in (outer, inner, last))
    last.known_hosts.write_text(known)
    ssh_config.write_text(
        f"Host outer\n HostName 127.0.0.1\n Port {outer.port}\n"
        f"Host inner\n HostName 127.0.0.1\n Port {inner.port}\n"
        f"Host *\n IdentityFile {key}\n"
        f" UserKnownHostsFile {last.known_hosts.with_name('none')} {last.known_hosts}\n"
    )
    for jump in ("outer,inner", f"outer,{USER}@127.0.0.1:{inner.port}"):
        host = last.host(key_file=None, known_hosts=None, jump=jump)
        assert logs_in(connect(), host)


def test_trust_writes_nothing_for_a_certified_host(
    connect: Connect, start_sshd: StartSshd, authority: Authority
) -> None:
    """Its state says so; one whose certificate is not valid shows nothing to be trusted."""
    from orchestrator.transport import Credentials

    server = start_sshd()
    certify(server, authority, "-n", "127.0.0.1")
    server.known_hosts.write_text(authority.known())
    settings = Settings(ssh_config=(Path(os.devnull),))
    (found,) = scan([server.host()], settings, Credentials(environ={}), 1)
    assert isinstance(found, ScannedKey)
    assert found.state == "certified"
    certify(server, authority, "-n", "web1")
    (found,) = scan([server.host()], settings, Credentials(environ={}), 1)
    assert isinstance(found, ScanFailure)
    assert found.error.kind == "transport.host_key.certificate"
