"""The format of ansible-vault, with ansible-vault itself as the other side."""

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.secrets.ansible_vault import decrypt, encrypt, read_envelope
from orchestrator.secrets.errors import SecretError
from tests.texts import expect_text

VAULT = Path(sys.executable).with_name("ansible-vault")
TEXTS = (b"hunter2", b"", b"sixteen bytes ok", "a: 'é ☃'\n".encode(), bytes(range(256)) * 40)
# Written by ansible-vault with the password "secret", so that the format is tested without it.
WRITTEN = """\
$ANSIBLE_VAULT;1.2;AES256;prod
63336636333333396439333730616135323132333463623662316664626632613366393132653261
3633336237336334333262653737623231393063363166300a653938393065313162373031346530
33633036393463313136363539326332393566353964383538633038633361353336613361656239
3439373235363962620a313638656463383036646238303637343061346266623561366537306433
3963
"""
needs_ansible = pytest.mark.skipif(not VAULT.exists(), reason="ansible-vault is not installed")


def ansible(directory: Path, *words: str) -> None:
    subprocess.run([VAULT, *words], cwd=directory, check=True, capture_output=True)


@pytest.mark.parametrize("plain", TEXTS)
@pytest.mark.parametrize("vault_id", ["", "prod"])
def test_there_and_back(plain: bytes, vault_id: str) -> None:
    """What is encrypted comes back, with the ID in the header."""
    text = encrypt(plain, b"secret", vault_id)
    envelope = read_envelope(text)
    assert envelope.vault_id == vault_id
    assert decrypt(envelope, b"secret") == plain
    assert max(map(len, text.splitlines())) <= 80


def test_the_format_of_ansible_vault() -> None:
    """A text that ansible-vault 2.19 has written."""
    envelope = read_envelope(WRITTEN)
    assert (envelope.vault_id, decrypt(envelope, b"secret")) == ("prod", b"from ansible\n")


@needs_ansible
@pytest.mark.parametrize("vault_id", ["", "prod"])
def test_ansible_vault_reads_and_writes_the_same(tmp_path: Path, vault_id: str) -> None:
    """Both ways, with and without a vault ID."""
    (tmp_path / "pw").write_text("a pass\n")
    password = ("--vault-id", f"{vault_id or 'default'}@pw")
    (tmp_path / "ours").write_text(encrypt(b"from ccm\n", b"a pass", vault_id))
    ansible(tmp_path, "decrypt", *password, "ours")
    assert (tmp_path / "ours").read_bytes() == b"from ccm\n"
    (tmp_path / "theirs").write_text("from ansible\n")
    ansible(tmp_path, "encrypt", *password, "theirs")
    envelope = read_envelope((tmp_path / "theirs").read_text())
    assert decrypt(envelope, b"a pass") == b"from ansible\n"


def test_a_wrong_password_or_a_changed_text() -> None:
    """Nothing of it is decrypted."""
    envelope = read_envelope(encrypt(b"hunter2", b"secret"))
    assert decrypt(envelope, b"other") is None
    changed = bytes([envelope.ciphertext[0] ^ 1]) + envelope.ciphertext[1:]
    assert decrypt(envelope._replace(ciphertext=changed), b"secret") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not the header of a vault"),
        ("$ANSIBLE_VAULT;1.0;AES\nabcd", "not the header"),
        ("$ANSIBLE_VAULT;1.1;DES3\nabcd", "only AES256 is supported"),
        ("$ANSIBLE_VAULT;1.1;AES256\n", "damaged"),
        ("$ANSIBLE_VAULT;1.1;AES256\nzz", "damaged"),
        ("$ANSIBLE_VAULT;1.1;AES256\n61610a6262", "damaged"),
    ],
)
def test_mistakes(text: str, words: str) -> None:
    """They show without a password."""
    with pytest.raises(SecretError, match=words):
        read_envelope(text)


@pytest.mark.parametrize("vault_id", ["of prod", "a;b", "a\nb", "\u00e4"])
def test_an_id_that_the_header_cannot_have(vault_id: str) -> None:
    """It is refused: nobody could decrypt the text."""
    with pytest.raises(SecretError) as refused:
        encrypt(b"hunter2", b"secret", vault_id)
    expect_text(refused.value)
