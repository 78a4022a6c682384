"""Files and values encrypted with age, for keys of age and of SSH."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.secrets.age import encrypt, recipients_of
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.key_sources import KeySources
from orchestrator.secrets.lookup import SecretLookup
from orchestrator.secrets.recipients import readers_of
from tests.texts import expect_text

pyrage = pytest.importorskip("pyrage")
PLAIN = b"db: {password: hunter2-hunter2}\n"


def identity(directory: Path, name: str = "key.txt") -> str:
    """A new identity in a file; its recipient."""
    made = pyrage.x25519.Identity.generate()
    (directory / name).write_text(f"# public key: {made.to_public()}\n{made}\n")
    return str(made.to_public())


def ssh_key(directory: Path, passphrase: str = "", kind: str = "ed25519") -> str:
    """A new SSH key; its public part."""
    path = directory / "id"
    words = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path.with_suffix(".pub").read_text().strip()


def read(directory: Path, name: str = "key.txt", prompt: Callable[[str], str] | None = None) -> Any:
    keys = KeySources(identities=[str(directory / name)], prompt=prompt)
    return SecretLookup(keys, str(directory))("s.age#db.password", str(directory))


@pytest.mark.parametrize("armored", [True, False])
def test_a_whole_file(tmp_path: Path, armored: bool) -> None:
    """In text and in binary form."""
    recipient = identity(tmp_path)
    (tmp_path / "s.age").write_bytes(encrypt(PLAIN, [recipient], armored=armored))
    assert read(tmp_path) == "hunter2-hunter2"


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_keys_of_ssh(tmp_path: Path, kind: str) -> None:
    """The public key encrypts, the private key opens."""
    public = ssh_key(tmp_path, kind=kind)
    (tmp_path / "s.age").write_bytes(encrypt(PLAIN, [public], armored=True))
    assert read(tmp_path, "id") == "hunter2-hunter2"


def test_a_key_with_a_passphrase(tmp_path: Path) -> None:
    """It is asked for on a terminal; without one the message says so."""
    public = ssh_key(tmp_path, "pass phrase")
    (tmp_path / "s.age").write_bytes(encrypt(PLAIN, [public], armored=True))
    assert read(tmp_path, "id", lambda text: "pass phrase") == "hunter2-hunter2"
    with pytest.raises(SecretError) as refused:
        read(tmp_path, "id")
    expect_text(refused.value)
    with pytest.raises(SecretError) as raised:
        read(tmp_path, "id", lambda text: "wrong")
    expect_text(raised.value)


def test_an_identity_that_is_encrypted(tmp_path: Path) -> None:
    """As ``age -p`` writes one."""
    recipient = identity(tmp_path)
    plain = (tmp_path / "key.txt").read_bytes()
    (tmp_path / "key.age").write_bytes(pyrage.passphrase.encrypt(plain, "pass phrase"))
    (tmp_path / "s.age").write_bytes(encrypt(PLAIN, [recipient], armored=True))
    assert read(tmp_path, "key.age", lambda text: "pass phrase") == "hunter2-hunter2"


def test_values_inside_yaml(tmp_path: Path) -> None:
    """Only the values are encrypted, so that the keys show in diffs."""
    recipient = identity(tmp_path)
    armor = encrypt(b"hunter2-hunter2", [recipient], armored=True).decode()
    lines = "".join(f"    {line}\n" for line in armor.splitlines())
    (tmp_path / "s.age").write_text(f"db:\n  user: app\n  password: !age |\n{lines}")
    assert read(tmp_path) == "hunter2-hunter2"


def test_mistakes(tmp_path: Path) -> None:
    """No identity, another one, a passphrase, a file that is truncated."""
    recipient = identity(tmp_path, "other.txt")
    identity(tmp_path)
    made = encrypt(PLAIN, [recipient], armored=True)
    (tmp_path / "s.age").write_bytes(made)
    with pytest.raises(SecretError) as refused:
        read(tmp_path)
    expect_text(refused.value)
    with pytest.raises(SecretError) as raised:
        read(tmp_path, "none")
    expect_text(raised.value)
    with pytest.raises(SecretError) as caught:
        SecretLookup(KeySources(), str(tmp_path))("s.age", str(tmp_path))
    expect_text(caught.value)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(SecretError) as failure:
        read(tmp_path, "text")
    expect_text(failure.value)
    (tmp_path / "s.age").write_bytes(made[:200])
    with pytest.raises(SecretError, match="is truncated"):
        read(tmp_path)
    (tmp_path / "s.age").write_bytes(pyrage.passphrase.encrypt(PLAIN, "x", armored=True))
    with pytest.raises(SecretError) as rejected:
        read(tmp_path)
    expect_text(rejected.value)


def test_recipients(tmp_path: Path) -> None:
    """Public keys, and files with one in each line; others are refused."""
    one, two = identity(tmp_path, "a"), identity(tmp_path, "b")
    (tmp_path / "team.txt").write_text(f"# the team\n{one}\n\n{two}\n")
    assert recipients_of([two, "team.txt"], str(tmp_path)) == [two, one]
    with pytest.raises(SecretError) as refused:
        recipients_of(["none.txt"], str(tmp_path))
    expect_text(refused.value)
    with pytest.raises(SecretError) as raised:
        encrypt(PLAIN, ["age1nonsense"], armored=True)
    expect_text(raised.value)
    with pytest.raises(SecretError) as caught:
        encrypt(PLAIN, [], armored=True)
    expect_text(caught.value)


def test_a_private_key_as_a_recipient_is_not_shown(tmp_path: Path) -> None:
    """In ccm.yaml itself, and by the file of an identity."""
    identity(tmp_path)
    private = (tmp_path / "key.txt").read_text().split("\n")[1]
    for entry in (private, private.lower(), "key.txt"):
        with pytest.raises(SecretError) as caught:
            encrypt(PLAIN, recipients_of([entry], str(tmp_path)), armored=True)
        expect_text(caught.value)
        assert private[20:40].lower() not in str(caught.value).lower()


def test_a_damaged_armor(tmp_path: Path) -> None:
    """It is an error of the file, also for its readers."""
    identity(tmp_path)
    begin, end = "-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----"
    (tmp_path / "s.age").write_text(f"{begin}\nabcde\n{end}\n")
    with pytest.raises(SecretError, match=r"decrypt s\.age"):
        read(tmp_path)
    assert readers_of((tmp_path / "s.age").read_bytes(), "s.age", KeySources()) == []


def test_a_stand_in_for_sops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``sops -d FILE`` is run; there is none here, so this is a program of that name."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/sops"
    program.write_text('#!/bin/sh\n[ "$1" = -d ] && sed "/^sops/,\\$d; s/ENC.*/hunter2/" "$2"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    text = "db:\n  password: ENC[AES256_GCM,data:abc,type:str]\nsops:\n  version: 3.9.0\n"
    (tmp_path / "s.yaml").write_text(text)
    lookup = SecretLookup(KeySources(), str(tmp_path))
    assert lookup("s.yaml#db.password", str(tmp_path)) == "hunter2"


def test_without_sops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the program."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "s.yaml").write_text("a: ENC[x]\nsops:\n  version: 3.9.0\n")
    with pytest.raises(SecretError) as refused:
        SecretLookup(KeySources(), str(tmp_path))("s.yaml#a", str(tmp_path))
    expect_text(refused.value)
