"""TLS is there wherever the scheduler may be another machine."""

import stat
from pathlib import Path

import pytest

from orchestrator.cluster import certificates
from remote_runtime.errors import UsageError
from tests.texts import expect_text


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(certificates.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host",
        "host:",
        ":8786",
        "host:0",
        "host:99999",
        "host:1_0",
        "a b:1",
        "h/x:1",
        "::1:8786",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """With where it was given, and how one is written there."""
    for scheme in ("", "dask://"):
        with pytest.raises(UsageError, match=r"^--engine .* is not the address") as caught:
            certificates.scheduler_address("--engine", scheme + text, scheme)
        assert f"write {scheme}HOST:PORT, " in caught.value.hint


@pytest.mark.parametrize("text", ["host:1", "192.0.2.1:8786", "[::1]:65535", "[fe80::1%eth0]:80"])
def test_an_address_is_taken_as_it_is(text: str) -> None:
    """Without the word for Dask before it."""
    assert certificates.scheduler_address("--engine", f"dask://{text}", "dask://") == text


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1:1", True),
        ("127.9.9.9:1", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("192.0.2.1:1", False),
        ("localhost.example.net:1", False),
        ("127.0.0.1.example.net:1", False),
    ],
)
def test_loopback(address: str, here: bool) -> None:
    """A name that only looks like it is another machine's."""
    assert certificates.is_loopback(address) is here


def test_another_machine_without_certificates_is_refused() -> None:
    """Nothing goes there in plain text."""
    with pytest.raises(UsageError, match="no TLS for the scheduler") as caught:
        certificates.protected("192.0.2.1:8786", "client")
    assert "ccm engine init" in caught.value.hint


def test_certificates_are_made_once_and_are_private(tmp_path: Path) -> None:
    """A second time would leave two that are mixed up."""
    made = certificates.make_authority(tmp_path / "tls")
    assert {path.name for path in made} == {
        f"{name}{part}.pem" for name in ("ca", *certificates.ROLES) for part in ("", "-key")
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}
    with pytest.raises(UsageError, match="already contains certificates"):
        certificates.make_authority(tmp_path / "tls")


def test_a_directory_is_taken_from_the_flag_the_environment_or_the_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In this order; on this machine only where it is named."""
    certificates.make_authority(tmp_path / "named")
    certificates.make_authority(certificates.default_directory())
    address, security = certificates.protected("192.0.2.1:1", "client")
    assert address == "tls://192.0.2.1:1"
    assert security.require_encryption
    assert security.tls_client_cert == str(certificates.default_directory() / "client.pem")
    assert certificates.protected("127.0.0.1:1", "client") == ("tcp://127.0.0.1:1", None)
    monkeypatch.setenv(certificates.VARIABLE, str(tmp_path / "named"))
    _, security = certificates.protected("127.0.0.1:1", "worker")
    assert security.tls_worker_key == str(tmp_path / "named/worker-key.pem")
    with pytest.raises(UsageError, match="is missing"):
        certificates.protected("127.0.0.1:1", "worker", str(tmp_path))


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """As ssh does it."""
    certificates.make_authority(tmp_path / "tls")
    (tmp_path / "tls/client-key.pem").chmod(0o644)
    with pytest.raises(UsageError) as refused:
        certificates.protected("192.0.2.1:1", "client", str(tmp_path / "tls"))
    expect_text(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("ca.pem", b"", "it contains no certificate"),
        ("worker.pem", b"else", "not in PEM"),
        ("worker-key.pem", b"else", "not in PEM"),
        ("worker-key.pem", None, "the key belongs to another certificate"),
    ],
)
def test_files_that_are_something_else_are_refused(
    tmp_path: Path, name: str, text: bytes | None, why: str
) -> None:
    """Before anybody is asked, who could only say that this is no good."""
    certificates.make_authority(tmp_path)
    other = (tmp_path / "client-key.pem").read_bytes()
    (tmp_path / name).write_bytes(other if text is None else text)
    with pytest.raises(UsageError, match=rf"{name} .*cannot be used: {why}"):
        certificates.protected("127.0.0.1:1", "worker", str(tmp_path))


def test_a_directory_without_a_name_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is empty says nothing, an option that is was meant to say something."""
    monkeypatch.setenv(certificates.VARIABLE, "")
    assert certificates.protected("127.0.0.1:1", "client") == ("tcp://127.0.0.1:1", None)
    with pytest.raises(UsageError) as refused:
        certificates.protected("127.0.0.1:1", "worker", "")
    expect_text(refused.value)
