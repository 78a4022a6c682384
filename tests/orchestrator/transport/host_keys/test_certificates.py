"""What is read of certificates that ssh-keygen makes."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from orchestrator.transport.host_keys.certificates import (
    Certificate,
    parse_certificate,
    read_certificate,
)
from tests.orchestrator.transport.authority import Authority
from tests.orchestrator.transport.sshd import make_key, public
from tests.texts import expect_text

NOON = 1767268800  # 2026-01-01 12:00:00 UTC


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A CA that the tests share."""
    return Authority(tmp_path_factory.mktemp("ca"))


def made(
    authority: Authority, directory: Path, *options: str, kind: str = "ed25519"
) -> Certificate:
    """A new certificate, as it is read."""
    found = read_certificate(authority.sign(make_key(directory / "key", kind), *options))
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_a_certificate_is_read(authority: Authority, tmp_path: Path, kind: str) -> None:
    """Its key, its kind, its names, its time and its CA are what ssh-keygen was told."""
    found = made(authority, tmp_path, "-n", "ann,bob", "-V", "20260101:20260102", kind=kind)
    assert base64.b64encode(found.key_blob).decode() == public(tmp_path / "key").split()[1]
    assert base64.b64encode(found.ca_blob).decode() == authority.public.split()[1]
    assert (found.kind, found.key_id, found.principals) == ("user", "id of key", ("ann", "bob"))
    assert found.valid_before - found.valid_after == 24 * 3600
    assert (found.ca_type, found.signature_type) == ("ssh-ed25519", "ssh-ed25519")


def test_critical_options_are_read(authority: Authority, tmp_path: Path) -> None:
    """Their names, not their values; extensions are passed over."""
    found = made(authority, tmp_path, "-O", "force-command=id", "-O", "source-address=10.0.0.0/8")
    assert found.critical == ("force-command", "source-address")


def test_why_a_certificate_is_not_valid(authority: Authority, tmp_path: Path) -> None:
    """The kind, the time by UTC, and the names are told."""
    found = made(authority, tmp_path, "-h", "-n", "web1,web2")
    limited = found._replace(valid_after=NOON, valid_before=NOON + 60)
    assert limited.invalid_for("host", "web1", NOON) == ""
    expect_text(limited.invalid_for("user", "web1", NOON))
    expect_text(limited.invalid_for("host", "web3", NOON))
    before = limited.invalid_for("host", "web1", NOON - 1)
    expect_text(before)
    after = limited.invalid_for("host", "web1", NOON + 60)
    expect_text(after)


def test_a_certificate_for_ever_and_for_everybody(authority: Authority, tmp_path: Path) -> None:
    """Without a time it does not expire, without principals it is for every name."""
    found = made(authority, tmp_path)
    assert found.invalid_for("user", "anybody", 10**15) == ""


def test_what_is_no_certificate(authority: Authority, tmp_path: Path) -> None:
    """Plain keys, files that are missing or cut off, and what is longer than it says."""
    whole = made(authority, tmp_path).blob
    for size in range(len(whole)):
        assert parse_certificate(whole[:size]) is None
    assert parse_certificate(whole + b"\0") is None
    assert read_certificate(tmp_path / "key.pub") is None
    assert read_certificate(tmp_path / "nothing") is None
    assert read_certificate(tmp_path) is None
