"""Files that hold a private key are known by what is in them."""

import base64
from pathlib import Path

import pytest

from orchestrator.cluster.private_files import PrivateFiles, holds_private_key, omission_note
from tests.texts import expect_text

PEM = [
    f"-----BEGIN {kind}PRIVATE KEY-----\nMIIE\n-----END {kind}PRIVATE KEY-----\n"
    for kind in ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "ANY OTHER ")
]
KEYS = [
    *PEM,
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n" + PEM[0],
    "Bag Attributes\n    localKeyID: 01\n" + PEM[0],
    "key: |\n  " + PEM[0].replace("\n", "\n  "),
    PEM[1].replace("\n", "\r\n"),
    '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIE"}',
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n",
    "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\n",
    "PuTTY-User-Key-File-3: ssh-ed25519\n",
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n",
    "# created: 2026\nAGE-SECRET-KEY-1QQQQ\n",
    "untrusted comment: minisign encrypted secret key\n",
    "-----BEGIN EC PRIVATE KEY-----",
]
OTHERS = [
    "-----BEGIN CERTIFICATE-----\nMIIE\n",
    "-----BEGIN PUBLIC KEY-----\nMIIE\n",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
    "grep -q -- '-----BEGIN PRIVATE KEY-----' \"$1\"\n",
    "ssh-ed25519 AAAA me\n",
    "look for PuTTY-User-Key-File-2: in it\n",
    "",
]


@pytest.mark.parametrize("text", KEYS)
def test_a_private_key_is_known_by_its_header(tmp_path: Path, text: str) -> None:
    """Wherever in the file, in whatever encoding an editor may have left it."""
    path = tmp_path / "file"
    for data in (text.encode(), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16")):
        path.write_bytes(data)
        assert holds_private_key(path), data[:9]


@pytest.mark.parametrize("text", OTHERS)
def test_what_only_speaks_of_keys_is_sent(tmp_path: Path, text: str) -> None:
    """Public keys, certificates, and scripts that look for a key."""
    path = tmp_path / "file"
    path.write_text(text)
    assert not holds_private_key(path)


CLAMPED = base64.b64encode(b"\x08" + b"k" * 31).decode()  # as wg genkey makes them
PLAIN = base64.b64encode(b"\x01" + b"k" * 31).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"[Interface]\nAddress = 10.0.0.1/24\nPrivateKey = {PLAIN}\n",
        f"[Peer]\r\npresharedkey={PLAIN}\r\n",
        f"[WireGuard]\nPrivateKey={CLAMPED}",
        f"[wireguard]\nprivate-key={PLAIN}\n",
    ],
)
def test_a_key_of_wireguard_is_known_by_its_setting(tmp_path: Path, text: str) -> None:
    """In the files of wg, systemd-networkd and NetworkManager; not where a template fills it in."""
    path = tmp_path / "wg0.conf"
    path.write_text(text)
    assert holds_private_key(path)
    path.write_text(text.replace(PLAIN, "{{ Data.key }}").replace(CLAMPED, "{{ Data.key }}"))
    assert not holds_private_key(path)
    path.write_text(text.replace("rivate", "ublic").replace("reshared", "ublic"))
    assert not holds_private_key(path)


def test_a_key_that_is_all_of_a_file(tmp_path: Path) -> None:
    """32 bytes in base64 are one by the bits that private keys have, or by the file's name; a file
    that says it is public is none."""
    for name, text, private in (
        ("wg0", f"{CLAMPED}\n", True),
        ("wg0", f"{PLAIN}\n", False),
        ("privatekey", PLAIN, True),
        ("peer.psk", PLAIN, True),
        ("publickey", CLAMPED, False),
        ("key.pub", CLAMPED, False),
        ("key", f"{PLAIN}\n{PLAIN}\n", False),
        ("key", base64.b64encode(b"k" * 33).decode(), False),
        ("key", "A" * 43, False),
    ):
        path = tmp_path / name
        path.write_text(text)
        assert holds_private_key(path) == private, (name, text)


def test_a_store_of_keys_is_known_by_its_name(tmp_path: Path) -> None:
    """It has no header."""
    (tmp_path / "client.P12").write_bytes(b"\x30\x82")
    assert holds_private_key(tmp_path / "client.P12")


def test_what_was_left_out_is_named(tmp_path: Path) -> None:
    """From the directory of the site, a directory with a slash; of many the first."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine/ca-key.pem").touch()
    (tmp_path / "id_rsa").write_text(PEM[0])
    private = PrivateFiles()
    assert private.is_private_directory(tmp_path / "engine")
    assert private.is_private(tmp_path / "id_rsa")
    assert not private.is_private_directory(tmp_path)
    expect_text(omission_note(private.left_out, [tmp_path]))
    assert omission_note([], [tmp_path]) == ""
    assert "f5 and 4 more;" in omission_note([tmp_path / f"f{n}" for n in range(10)], [tmp_path])
