"""The format of ansible-vault, versions 1.1 and 1.2 with AES256 (controller).

The body is hex of three lines of hex: salt, HMAC-SHA256 of the ciphertext, ciphertext. The keys of
AES-CTR and HMAC and the first counter are derived with PBKDF2, SHA-256 and 10,000 rounds.
"""

import binascii
import hashlib
import hmac
import os
import re
from typing import NamedTuple

from orchestrator.secrets.errors import SecretError

MARK = "$ANSIBLE_VAULT;"
_HEADER = re.compile(r"\$ANSIBLE_VAULT;(?P<version>1\.[12]);(?P<cipher>\w+)(?:;(?P<id>[^\s;]+))?")
_ROUNDS = 10_000
_KEY = 32
_BLOCK = 16
_SALT = 32
_WIDTH = 80


class Envelope(NamedTuple):
    """An encrypted text in its parts; ``vault_id`` is "" in version 1.1."""

    vault_id: str
    salt: bytes
    digest: bytes
    ciphertext: bytes


def read_envelope(text: str) -> Envelope:
    """The parts of an encrypted text, without decrypting it; SecretError."""
    lines = text.split()
    header = _HEADER.fullmatch(lines[0]) if lines else None
    if header is None:
        shown = lines[0][:40] if lines else ""
        message = f"this is not the header of a vault: {shown!r}"
        raise SecretError(message, hint="it must be $ANSIBLE_VAULT;1.1;AES256 or 1.2")
    if header["cipher"] != "AES256":
        message = f"the vault is encrypted with {header['cipher']}; only AES256 is supported"
        raise SecretError(message, hint="encrypt it again with ansible-vault rekey")
    try:
        salt, digest, ciphertext = map(
            binascii.unhexlify, binascii.unhexlify("".join(lines[1:])).split(b"\n")
        )
    except ValueError as error:
        message = "the vault is damaged: its body is not in the format of ansible-vault"
        raise SecretError(message, hint="restore the file from version control") from error
    return Envelope(header["id"] or "", salt, digest, ciphertext)


def decrypt(envelope: Envelope, password: bytes) -> bytes | None:
    """The decrypted bytes; None for a wrong password or changed content. SecretError for invalid
    padding.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key, authentication, counter = _keys(password, envelope.salt)
    made = hmac.new(authentication, envelope.ciphertext, hashlib.sha256).digest()
    if not hmac.compare_digest(made, envelope.digest):
        return None
    decryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).decryptor()
    padded = decryptor.update(envelope.ciphertext) + decryptor.finalize()
    size = padded[-1] if padded else 0
    if not 1 <= size <= _BLOCK or padded[-size:] != bytes([size]) * size:
        raise SecretError("the vault is damaged: its padding is wrong", hint="encrypt it again")
    return padded[:-size]


def encrypt(plain: bytes, password: bytes, vault_id: str = "") -> str:
    """The encrypted text, which ends in a newline; version 1.2 with a vault ID, else 1.1.

    SecretError for an ID that the header cannot have.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if re.search(r"[\s;]|[^\x20-\x7e]", vault_id):
        message = f"a vault cannot have the ID {vault_id[:40]!r}"
        raise SecretError(message, hint="use ASCII characters without spaces or semicolons")
    salt = os.urandom(_SALT)
    key, authentication, counter = _keys(password, salt)
    size = _BLOCK - len(plain) % _BLOCK
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
    ciphertext = encryptor.update(plain + bytes([size]) * size) + encryptor.finalize()
    digest = hmac.new(authentication, ciphertext, hashlib.sha256).digest()
    body = binascii.hexlify(b"\n".join(map(binascii.hexlify, (salt, digest, ciphertext)))).decode()
    labelled = vault_id not in ("", "default")
    header = f"{MARK}1.2;AES256;{vault_id}" if labelled else f"{MARK}1.1;AES256"
    lines = [body[at : at + _WIDTH] for at in range(0, len(body), _WIDTH)]
    return "\n".join([header, *lines]) + "\n"


def _keys(password: bytes, salt: bytes) -> tuple[bytes, bytes, bytes]:
    made = hashlib.pbkdf2_hmac("sha256", password, salt, _ROUNDS, 2 * _KEY + _BLOCK)
    return made[:_KEY], made[_KEY : 2 * _KEY], made[2 * _KEY :]
