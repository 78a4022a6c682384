"""Private keys without a header are known by their structure."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa, x25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from orchestrator.cluster.binary_keys import MAX_DER, is_binary_key
from orchestrator.cluster.private_files import holds_private_key

RSA = rsa.generate_private_key(65537, 2048)
KEYS = (
    RSA,
    dsa.generate_private_key(2048),
    ec.generate_private_key(ec.SECP256R1()),
    ec.generate_private_key(ec.SECP521R1()),
    ed25519.Ed25519PrivateKey.generate(),
    x25519.X25519PrivateKey.generate(),
)
FORMS: tuple[tuple[PrivateFormat, KeySerializationEncryption], ...] = (
    (PrivateFormat.PKCS8, NoEncryption()),
    (PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
    (PrivateFormat.TraditionalOpenSSL, NoEncryption()),
)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: type(key).__name__)
def test_a_key_in_der(tmp_path: Path, key: rsa.RSAPrivateKey) -> None:
    """Of each algorithm in each form, also encrypted, under any name; its public half is none."""
    old_form = isinstance(key, rsa.RSAPrivateKey | dsa.DSAPrivateKey | ec.EllipticCurvePrivateKey)
    for form, encryption in FORMS[: 3 if old_form else 2]:
        path = tmp_path / "data"
        path.write_bytes(key.private_bytes(Encoding.DER, form, encryption))
        assert holds_private_key(path), (form, encryption)
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert not is_binary_key(public)


def test_a_store_of_keys_under_another_name() -> None:
    """PKCS#12, Java's stores and KeePass."""
    store = serialize_key_and_certificates(b"x", RSA, None, None, BestAvailableEncryption(b"y"))
    assert is_binary_key(store)
    for magic in ("feedfeed", "cececece", "03d9a29a"):
        assert is_binary_key(bytes.fromhex(magic) + b"\0" * 20)


def test_a_store_in_ber() -> None:
    """Some programs write PKCS#12 without its length, which then ends with two zero bytes."""
    whole = serialize_key_and_certificates(b"x", RSA, None, None, BestAvailableEncryption(b"y"))
    assert whole[:2] == b"\x30\x82"
    assert is_binary_key(b"\x30\x80" + whole[4:] + b"\0\0")
    assert not is_binary_key(b"\x30\x80\x02\x01\x00\x30\x00\0\0")


def entry(parts: int = 2, key: bytes = b"k" * 32, tail: bytes = b"\0\0\0\x01") -> bytes:
    """An entry of a keytab: HTTP/web1@EXAMPLE.ORG."""
    names = (b"EXAMPLE.ORG", b"HTTP", b"web1")
    told = struct.pack(">H", parts) + b"".join(struct.pack(">H", len(n)) + n for n in names)
    told += struct.pack(">IIBHH", 1, 1_795_000_000, 2, 18, len(key)) + key + tail
    return struct.pack(">i", len(told)) + told


def test_a_keytab(tmp_path: Path) -> None:
    """Under any name, also behind the hole that a removed entry leaves; another file is none."""
    path = tmp_path / "data"
    path.write_bytes(b"\x05\x02" + entry())
    assert holds_private_key(path)
    assert is_binary_key(b"\x05\x02" + entry(tail=b""))
    assert is_binary_key(b"\x05\x02" + struct.pack(">i", -8) + bytes(8) + entry() + entry())
    for data in (
        b"\x05\x02",
        b"\x05\x02" + bytes(60),
        b"\x05\x02" + entry()[:-9],
        b"\x05\x02" + entry(parts=9),
        b"\x05\x02" + entry(key=b""),
        b"\x05\x02" + struct.pack(">i", -(1 << 31)) + entry(),
        b"\x05\x02" + b"text that begins so\n" * 9,
    ):
        assert not is_binary_key(data), data


def test_a_keytab_whose_first_entry_has_no_key() -> None:
    """Another one may have it."""
    empty = entry(key=b"")
    assert is_binary_key(b"\x05\x02" + empty + empty + entry())
    assert not is_binary_key(b"\x05\x02" + empty + empty)
    assert not is_binary_key(b"\x05\x02" + empty + bytes(60))
    assert not is_binary_key(b"\x05\x02" + entry(parts=9) + entry())


@pytest.mark.parametrize("order", "<>")
def test_a_keytab_of_version_1(order: str) -> None:
    """It has the byte order of its machine, counts the realm, and has no type of names."""
    key = b"k" * 16
    told = struct.pack(order + "H", 2)
    for name in (b"EXAMPLE.ORG", b"root"):
        told += struct.pack(order + "H", len(name)) + name
    told += struct.pack(order + "IBHH", 1_795_000_000, 2, 17, len(key)) + key
    whole = struct.pack(order + "i", len(told)) + told
    hole = struct.pack(order + "i", -8) + bytes(8)
    assert is_binary_key(b"\x05\x01" + whole)
    assert is_binary_key(b"\x05\x01" + hole + whole + whole)
    assert not is_binary_key(b"\x05\x01" + whole[:-1])
    assert not is_binary_key(b"\x05\x02" + whole)


PGP = ("9458046b0b28dd16092b06010401da47", "950398046b0b28de010800cc8ee4fce1")
"""How an Ed25519 and an RSA key begin that gpg exports."""


@pytest.mark.parametrize("text", PGP)
def test_a_secret_key_of_pgp(text: str) -> None:
    """As gpg exports it without armor."""
    data = bytes.fromhex(text)
    assert is_binary_key(data)
    assert not is_binary_key(b"\x99" + data[1:])  # a public one


def test_what_is_no_key() -> None:
    """A certificate, a public key in its own form, parameters, a signature, what is cut short."""
    words = ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null"]
    certificate = subprocess.run(
        [*words, "-subj", "/CN=x", "-outform", "DER"], capture_output=True, check=True
    ).stdout
    own = RSA.public_key().public_bytes(Encoding.DER, PublicFormat.PKCS1)
    snmp = bytes.fromhex(
        "302602010104067075626c6963a019020101020100020100300e300c06082b06010201010100"
    )
    key = RSA.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    for data in (certificate, own, snmp, key[:-1], b"0", b"0\x80", b"0\xff", b"", b"0 apples\n"):
        assert not is_binary_key(data), data
    assert not is_binary_key(b"\x30\x84" + MAX_DER.to_bytes(4, "big") + bytes(MAX_DER))


def test_any_bytes_have_an_answer() -> None:
    """Noise behind the tag of a sequence or of a PGP packet neither fails nor counts as a key."""
    noise = random.Random(7)
    found = sum(
        is_binary_key(bytes([noise.choice((0x30, 0x94, 0x95, 0xC5))]) + noise.randbytes(60))
        or is_binary_key(b"\x05\x02\0\0\0\x30" + noise.randbytes(60))
        for _ in range(5000)
    )
    assert found < 10
