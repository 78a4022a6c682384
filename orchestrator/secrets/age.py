"""age files and values, with pyrage (controller).

A recipient is ``age1...`` or a public SSH key; an identity is ``AGE-SECRET-KEY-1...`` or a private
SSH key.
"""

import base64
import os
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.key_sources import AGE_IDENTITY

EXTRA_HINT = "install it with: pip install 'ccm-push[secrets]'"
PRIVATE = "a private key"
NO_IDENTITY = f"set secrets.age.identity in ccm.yaml, or {AGE_IDENTITY}"
_LIMIT = 1 << 20
_SSH = ("ssh-ed25519 ", "ssh-rsa ")
_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_PEM = b"-----BEGIN "


def _pyrage() -> Any:
    try:
        import pyrage
    except ImportError as error:
        raise SecretError(
            "age encryption requires the Python package pyrage", "usage.extra", EXTRA_HINT
        ) from error
    return pyrage


def decrypt(data: bytes, identities: Sequence[Any], name: str) -> bytes:
    """The plain bytes of a binary or armored age text; SecretError."""
    pyrage = _pyrage()
    try:
        plaintext: bytes = pyrage.decrypt(data, list(identities))
    except pyrage.DecryptError as error:
        if any(one.startswith("scrypt ") for one in stanzas(data)):
            message = f"{name} is encrypted with a passphrase, not for a key"
            hint = "encrypt it for keys: age -d FILE | age -r RECIPIENT"
            raise SecretError(message, "secret.passphrase", hint) from error
        message = f"no identity of this project can decrypt {name}"
        hint = "ask one of its recipients to run ccm secrets rekey with your public key"
        raise SecretError(message, "secret.identity", hint) from error
    return plaintext


def stanzas(data: bytes) -> list[str]:
    """The recipient lines of the header: each has a kind and, for an SSH key, a tag of the key."""
    if data.startswith(b"-----BEGIN"):
        body = data.split(b"-----END")[0].split(b"\n", 1)[-1]
        try:
            data = base64.b64decode(b"".join(body.split()), validate=False)
        except ValueError:  # a damaged text, which its reader reports
            return []
    header = data.split(b"\n---", 1)[0].decode("ascii", "replace")
    return [line[3:] for line in header.splitlines() if line.startswith("-> ")]


def encrypt(plain: bytes, recipients: Sequence[str], *, armored: bool) -> bytes:
    """The bytes encrypted for public keys; SecretError."""
    pyrage = _pyrage()
    keys = [_recipient(pyrage, text) for text in recipients]
    if not keys:
        raise SecretError(
            "there are no recipients", hint="list public keys in secrets.age.recipients of ccm.yaml"
        )
    ciphertext: bytes = pyrage.encrypt(plain, keys, armored=armored)
    return ciphertext


def _recipient(pyrage: Any, text: str) -> Any:
    try:
        if text.startswith(_SSH):
            return pyrage.ssh.Recipient.from_str(text)
        return pyrage.x25519.Recipient.from_str(text)
    except pyrage.RecipientError as error:
        raise SecretError(
            f"{_named(text)} is not an age or SSH public key",
            hint="such as age1... or ssh-ed25519 ...",
        ) from error


def _named(text: str) -> str:
    """A recipient for messages. A private key that is used as a recipient by mistake is
    never shown.
    """
    if "SECRET-KEY" in text.upper() or "PRIVATE KEY" in text:
        return PRIVATE
    return repr(text[:60])


def recipients_of(entries: Sequence[str], directory: str = "") -> list[str]:
    """The public keys of the entries, each a key or a file with one key per line; SecretError."""
    result: list[str] = []
    for entry in entries:
        if entry.startswith(("age1", *_SSH)):
            result.append(entry)
            continue
        path = os.path.join(directory, os.path.expanduser(entry))
        try:
            with open(path, encoding="utf-8") as file:
                lines = [line.strip() for line in file]
        except (OSError, UnicodeDecodeError) as error:
            message = f"{_named(entry)} is neither a public key nor a readable file of public keys"
            if _named(entry) == PRIVATE:
                message = "a recipient is a private key; expected a public key or a file of them"
            raise SecretError(message, hint="check secrets.age.recipients") from error
        result += [line for line in lines if line and not line.startswith("#")]
    return list(dict.fromkeys(result))


def identities_of(paths: Sequence[str], prompt: Callable[[str], str] | None) -> list[Any]:
    """The private keys in these files; SecretError."""
    if not paths:
        raise SecretError("there is no age identity", "secret.identity", NO_IDENTITY)
    pyrage = _pyrage()
    return [one for path in paths for one in _identities(pyrage, os.path.expanduser(path), prompt)]


def _identities(pyrage: Any, path: str, prompt: Callable[[str], str] | None) -> list[Any]:
    try:
        with open(path, "rb") as file:
            data = file.read(_LIMIT)
    except OSError as error:
        message = f"cannot read the age identity {path}: {error.strerror}"
        raise SecretError(message, "secret.identity", NO_IDENTITY) from error
    if data.startswith((b"age-encryption.org/v1", b"-----BEGIN AGE ENCRYPTED")):
        data = _with_passphrase(pyrage, data, path, prompt)
    if data.lstrip().startswith(_PEM):
        return [_ssh_identity(pyrage, data, path, prompt)]
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    try:
        identities = [pyrage.x25519.Identity.from_str(key) for key in keys]
    except pyrage.IdentityError as error:
        message = f"{path} is not an age identity or a private SSH key"
        raise SecretError(message, "secret.identity", "create one with age-keygen -o") from error
    if not identities:
        raise SecretError(f"{path} has no age identity", "secret.identity", NO_IDENTITY)
    return identities


def _with_passphrase(
    pyrage: Any, data: bytes, path: str, prompt: Callable[[str], str] | None
) -> bytes:
    """An identity file that is itself encrypted with a passphrase."""
    passphrase = _asked(path, prompt)
    try:
        plaintext: bytes = pyrage.passphrase.decrypt(data, passphrase)
    except pyrage.DecryptError as error:
        raise SecretError(f"the passphrase does not unlock {path}", "secret.passphrase") from error
    return plaintext


def _ssh_identity(pyrage: Any, data: bytes, path: str, prompt: Callable[[str], str] | None) -> Any:
    from cryptography.hazmat.primitives import serialization

    def load(password: bytes | None) -> Any:
        """Load the private key with the password."""
        if data.lstrip().startswith(_OPENSSH):
            return serialization.load_ssh_private_key(data, password)
        return serialization.load_pem_private_key(data, password)

    def is_locked() -> bool:
        """Whether the key has a passphrase."""
        try:
            load(None)
        except TypeError:
            return True
        except ValueError as error:
            return "password" in str(error).lower()
        return False

    try:
        if is_locked():
            key = load(_asked(path, prompt).encode("utf-8"))
            data = key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.OpenSSH,
                serialization.NoEncryption(),
            )
        return pyrage.ssh.Identity.from_buffer(data)
    except SecretError:
        raise
    except Exception as error:  # each library has errors of its own for a key that it cannot use
        message = f"the private key {path} cannot be used with age"
        hint = "age supports ssh-ed25519 and ssh-rsa keys; check its passphrase"
        raise SecretError(message, "secret.identity", hint) from error


def _asked(path: str, prompt: Callable[[str], str] | None) -> str:
    if prompt is None:
        message = (
            f"the private key {path} has a passphrase, and there is no terminal to prompt for it"
        )
        hint = "use a key without a passphrase here, such as an age identity for the pipeline"
        raise SecretError(message, "secret.passphrase", hint)
    return prompt(f"Passphrase of {path}: ")
