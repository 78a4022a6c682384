"""``RevokedHostKeys``: what it revokes, and files that cannot say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.transport import Credentials
from orchestrator.transport.connection_settings import Settings
from orchestrator.transport.host_keys.key_trust import ScannedKey
from orchestrator.transport.host_keys.known_hosts import fingerprint, parse_line
from orchestrator.transport.host_keys.revoked_keys import KRL, revoked_lines
from orchestrator.transport.host_keys.scanning import scan
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Phases
from tests.orchestrator.transport.sshd import Sshd, make_key, public


@pytest.mark.parametrize(
    "text",
    [
        "# no longer\n\nKEY\n",
        "KEY a comment with blanks\r\n",
        "\ufeffweb1,[web1]:22 KEY\n",
        "@revoked * KEY\n",
    ],
)
def test_lines_of_either_form(tmp_path: Path, text: str) -> None:
    """A key with or without names before it, comments, CRLF and a byte order mark."""
    key = public(make_key(tmp_path / "key"))
    path = tmp_path / "revoked"
    path.write_text(text.replace("KEY", key), encoding="utf-8", newline="")
    (found,) = revoked_lines("web1", [path])
    line = parse_line(f"web1 {key}")
    assert line is not None
    assert (fingerprint(found.blob), found.where.partition(":")[0]) == (
        fingerprint(line.blob),
        str(path),
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (KRL + b"\0\1\2", "is a binary revocation list (KRL)"),
        (b"# fine\nssh-ed25519 AAAA\n", ":2 is not a public key"),
        (b"SHA256:abc\n", ":1 is not a public key"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_cannot_say_it(tmp_path: Path, data: bytes | None, told: str) -> None:
    """The host is refused with the file and what to do."""
    path = tmp_path / "revoked"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(UnreachableError) as caught:
        revoked_lines("web1", [path])
    assert caught.value.kind == "transport.config"
    assert "web1: RevokedHostKeys" in caught.value.message
    assert told in caught.value.message
    assert caught.value.hint


def test_a_host_with_a_revoked_key_is_refused(
    connect: Connect, sshd: Sshd, ssh_config: Path, tmp_path: Path
) -> None:
    """Though known_hosts has the key; other keys let the host in, and a missing file none."""
    path = tmp_path / "revoked"
    path.write_text(f"{public(make_key(tmp_path / 'key'))}\n")
    ssh_config.write_text(f"Match host 127.0.0.1\n  RevokedHostKeys {path}\n")
    connect().open(sshd.host(), Phases()).close()
    path.write_text("".join(f"{public(key)}\n" for key in sshd.host_keys))
    with pytest.raises(UnreachableError) as caught:
        connect().open(sshd.host(), Phases())
    assert caught.value.kind == "transport.host_key.revoked"
    assert f"revoked by {path}:" in caught.value.message
    path.unlink()
    with pytest.raises(UnreachableError, match="RevokedHostKeys"):
        connect().open(sshd.host(), Phases())
    ssh_config.write_text("RevokedHostKeys none\n")
    connect().open(sshd.host(), Phases()).close()


def test_ccm_hosts_trust_does_not_write_it(sshd: Sshd, ssh_config: Path, tmp_path: Path) -> None:
    """A key that a file revokes is shown as revoked, also where nothing else is known of it."""
    path = tmp_path / "revoked"
    path.write_text("".join(f"{public(key)}\n" for key in sshd.host_keys))
    ssh_config.write_text(f"RevokedHostKeys {path}\nUserKnownHostsFile {tmp_path}/none\n")
    host = sshd.host(known_hosts=None)
    settings = Settings({host.name: host}, ssh_config=(ssh_config,))
    (found,) = scan([host], settings, Credentials(environ={}), 1)
    assert isinstance(found, ScannedKey)
    assert found.state == "revoked"
