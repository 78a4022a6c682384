"""Why no scheduler answers is told in words that say what to mend."""

import contextlib
import datetime
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.cluster import certificates, scheduler_probe
from orchestrator.cluster.scheduler_probe import probe
from tests.texts import expect_text


@contextlib.contextmanager
def listening(context: ssl.SSLContext | None, greeting: bytes = b"") -> Iterator[str]:
    """A server on loopback that greets, and then listens."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = server.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                if context is not None:
                    line = context.wrap_socket(line, server_side=True)
                line.sendall(greeting)
                line.recv(1)
            line.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(10)


def scheduler_of(directory: Path) -> ssl.SSLContext:
    """How a scheduler with the certificates of a directory listens."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(directory / "ca.pem")
    context.load_cert_chain(directory / "scheduler.pem", directory / "scheduler-key.pem")
    return context


def client_of(directory: Path) -> Any:
    """What Dask has of a client's certificates."""
    return SimpleNamespace(
        tls_ca_file=str(directory / "ca.pem"),
        tls_client_cert=str(directory / "client.pem"),
        tls_client_key=str(directory / "client-key.pem"),
    )


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A directory of certificates."""
    certificates.make_authority(tmp_path / "ours")
    return tmp_path / "ours"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Those of another CA, which has the same name."""
    certificates.make_authority(tmp_path / "theirs")
    return tmp_path / "theirs"


def what(address: str, security: Any = None) -> str:
    """What is found, with its hint."""
    protocol = "tcp" if security is None else "tls"
    found = probe(f"{protocol}://{address}", security, "CCM_ENGINE_TLS")
    return f"{found.what} -> {found.hint}" if found else ""


def test_nothing_is_found_where_all_is_well(ours: Path) -> None:
    """Then it is something else."""
    with listening(scheduler_of(ours), b"hello") as address:
        assert what(address, client_of(ours)) == ""
    with listening(None, b"\x02" + 30 * b"\0") as address:
        assert what(address) == ""


def test_nobody_is_there(ours: Path) -> None:
    """A wrong port, or a name that nobody knows."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    assert re.match(
        "Connection refused -> start one on that host with 'dask scheduler',", what(address)
    )
    said = what(address, client_of(ours))
    expect_text(said)
    assert "timed out" not in what("nobody.invalid:8786").lower()


def test_a_scheduler_of_another_authority(ours: Path, theirs: Path) -> None:
    """The files of both sides have to be of one CA."""
    with listening(scheduler_of(theirs), b"hello") as address:
        said = what(address, client_of(ours))
    assert f"its certificate is not signed by the CA {ours / 'ca.pem'}" in said
    assert f"to {ours}" in said


def test_a_scheduler_that_trusts_another_authority(ours: Path, theirs: Path) -> None:
    """It refuses the certificate of here, though its own is good."""
    strange = client_of(theirs)
    strange.tls_ca_file = str(ours / "ca.pem")
    with listening(scheduler_of(ours), b"hello") as address:
        assert f"it rejects the certificate {theirs / 'client.pem'}" in what(address, strange)


def test_one_side_has_tls(ours: Path) -> None:
    """The side that has none is told to have it."""
    with listening(scheduler_of(ours)) as address:
        assert what(address).startswith(
            "it uses TLS -> set the directory of the certificates with C"
        )
    with listening(None, b"\x02" + 30 * b"\0") as address:
        assert what(address, client_of(ours)).startswith("it does not use TLS -> start it with")


@pytest.mark.parametrize("tls", [True, False])
def test_what_listens_and_says_nothing(
    ours: Path, tls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be anything, a scheduler that hangs included."""
    monkeypatch.setattr(scheduler_probe, "_PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        found = probe(address, client_of(ours) if tls else None, "--tls")
    assert found is not None
    expect_text(found.what)
    expect_text(found.hint)


@pytest.mark.parametrize("side", ["scheduler", "client"])
def test_a_certificate_that_has_expired(
    side: str, ours: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whosever it is: new ones are made for all."""
    monkeypatch.setattr(certificates, "_DAYS", -1)
    monkeypatch.setattr(certificates, "_BACK", datetime.timedelta(days=9))
    old = tmp_path / "old"
    certificates.make_authority(old)
    monkeypatch.undo()
    authority = certificates._Identity(*_read(old / "ca"))
    for role in certificates.ROLES:
        if role != side:
            for part in ("", "-key"):
                (old / f"{role}{part}.pem").unlink()
            certificates._keep(old, role, certificates._issue(role, authority, 9))
    with listening(scheduler_of(old), b"hello") as address:
        said = what(address, client_of(old))
    assert "expired" in said
    expect_text(said)


def _read(path: Path) -> tuple[Any, Any]:
    """A certificate and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    certificate = x509.load_pem_x509_certificate(path.with_suffix(".pem").read_bytes())
    key = path.with_name(f"{path.name}-key.pem").read_bytes()
    return certificate, load_pem_private_key(key, None)
