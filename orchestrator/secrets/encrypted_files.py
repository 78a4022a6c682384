"""Reads and writes encrypted files for ``ccm secrets`` (controller)."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.secrets.ansible_vault import encrypt as vault_encrypt
from orchestrator.secrets.ansible_vault import read_envelope
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.formats import Kind, decoded, kind_of, require_whole
from orchestrator.secrets.key_sources import DEFAULT_ID
from orchestrator.secrets.keyring import Keyring, SecretSource, read_bytes
from orchestrator.secrets.yaml_text import (
    encrypted_scalar,
    plain_scalar,
    replaced,
    spans_of,
    with_value,
)
from orchestrator.support.atomic_file import replacing

Steps = tuple[str, ...]

NO_FILE = "specify an existing file; ccm secrets set creates one"


class EncryptionMethod(NamedTuple):
    """The method of encryption: ``vault`` with the password of an ID, or ``age``."""

    tag: str
    vault_id: str = DEFAULT_ID


class Editor:
    """Opens a file, shows its plaintext, and encrypts the changes.

    An unchanged value keeps its encrypted text, so that a diff shows only the changes.
    """

    def __init__(self, path: Path, keyring: Keyring) -> None:
        self.path = path
        self._keyring = keyring
        self._data = read_bytes(str(path), str(path), NO_FILE)
        self.kind: Kind = require_whole(self._data, str(path))
        self._plain: dict[Steps, tuple[str, str]] = {}  # of inline values, with their tags
        self._ids: dict[Steps, str] = {}
        self._lock = EncryptionMethod("")

    def text(self) -> str:
        """The plaintext. Encrypted values in YAML keep their tags; SecretError."""
        name = str(self.path)
        if self.kind == "sops":
            raise SecretError(f"{name} is encrypted with sops", hint=f"use sops edit {name}")
        if self.kind == "vault":
            opened, vault_id = self._keyring.passwords.open(decoded(self._data, name))
            own = read_envelope(decoded(self._data, name)).vault_id
            self._lock = EncryptionMethod("!vault", own or vault_id)
            return decoded(opened, name)
        if self.kind == "age":
            self._lock = EncryptionMethod("!age")
            return decoded(self._keyring.open_file(self._data, name, name), name)
        return self._inline(decoded(self._data, name))

    def _inline(self, text: str) -> str:
        name = str(self.path)
        changes = {}
        for path, span in spans_of(text, name).scalars.items():
            if not span.tag:
                continue
            plain = decoded(self._keyring.open_value(span.tag[1:], span.value, name), name)
            self._plain[path] = (span.tag, plain)
            if span.tag == "!vault":
                self._ids[path] = read_envelope(span.value).vault_id
            changes[path] = plain_scalar(span.tag, plain, span.indent, span.flow)
        return replaced(text, changes, name)

    def save(self, text: str) -> None:
        """Encrypt the plaintext, and replace the file. SecretError."""
        write(self.path, self.sealed(text))

    def sealed(self, text: str) -> bytes:
        """The content of the file for a plaintext; SecretError."""
        if self.kind != "plain":
            return seal(self._keyring, text.encode("utf-8"), self._lock)
        name = str(self.path)
        before = spans_of(decoded(self._data, name), name).scalars
        changes = {}
        for path, span in spans_of(text, name).scalars.items():
            if not span.tag:
                continue
            if self._plain.get(path) == (span.tag, span.value):
                kept = before[path].value
            else:
                lock = EncryptionMethod(span.tag, self._ids.get(path) or DEFAULT_ID)
                kept = seal(self._keyring, span.value.encode("utf-8"), lock).decode("ascii")
            changes[path] = encrypted_scalar(span.tag, kept, span.indent, span.flow)
        return replaced(text, changes, name).encode("utf-8")

    def set(self, path: Steps, value: str, lock: EncryptionMethod) -> None:
        """Set one value, encrypted with its own tag or else with that of ``lock``. SecretError."""
        name = str(self.path)
        if self.kind != "plain":
            text = self.text()
            self.save(
                with_value(text, path, lambda *at: plain_scalar("", value, *at).strip(), name)
            )
            return
        text = decoded(self._data, name)
        span = spans_of(text, name).scalars.get(path)
        if span is not None and span.tag:
            own = read_envelope(span.value).vault_id if span.tag == "!vault" else ""
            lock = EncryptionMethod(span.tag, own or DEFAULT_ID)
        sealed = seal(self._keyring, value.encode("utf-8"), lock).decode("ascii")
        made = with_value(text, path, lambda *at: encrypted_scalar(lock.tag, sealed, *at), name)
        write(self.path, made.encode("utf-8"))

    def rekeyed(self, keyring: Keyring, vault_id: str) -> bytes:
        """The content encrypted again with the keys of another keyring; each vault keeps its ID
        unless there is a ``vault_id``. SecretError.
        """
        text = self.text()
        if self.kind != "plain":
            lock = self._lock._replace(vault_id=vault_id or self._lock.vault_id)
            return seal(keyring, text.encode("utf-8"), lock)
        name = str(self.path)
        changes = {}
        for path, span in spans_of(text, name).scalars.items():
            if span.tag:
                lock = EncryptionMethod(span.tag, vault_id or self._ids.get(path) or DEFAULT_ID)
                sealed = seal(keyring, span.value.encode("utf-8"), lock).decode("ascii")
                changes[path] = encrypted_scalar(span.tag, sealed, span.indent, span.flow)
        if not changes:
            raise SecretError(f"nothing in {name} is encrypted", hint="specify an encrypted file")
        return replaced(text, changes, name).encode("utf-8")


def seal(keyring: Keyring, plain: bytes, lock: EncryptionMethod) -> bytes:
    """The bytes encrypted; SecretError."""
    if lock.tag == "!vault":
        password = keyring.passwords.password(lock.vault_id)
        return vault_encrypt(plain, password, lock.vault_id).encode("ascii")
    from orchestrator.secrets.age import encrypt, recipients_of

    sources = keyring.sources
    return encrypt(plain, recipients_of(sources.recipients, sources.directory), armored=True)


def default_lock(keyring: Keyring) -> EncryptionMethod:
    """The method for encrypting a new value: age if the project has recipients, else a vault."""
    if keyring.sources.recipients:
        return EncryptionMethod("!age")
    if keyring.sources.vault or keyring.sources.prompt:
        return EncryptionMethod("!vault")
    raise SecretError(
        "there is no key to encrypt with",
        hint="set secrets.age.recipients or secrets.vault.password_file in ccm.yaml",
    )


def plain_text(path: Path, steps: Steps | None, keyring: Keyring) -> Any:
    """The plain text of a file, or a value in it; SecretError."""
    name = str(path)
    opened = keyring.open_file(read_bytes(name, name, NO_FILE), name, name)
    if steps is None and kind_of(opened) == "plain" and b"!vault" not in opened:
        return decoded(opened, name)
    return SecretSource(decoded(opened, name), name, keyring.open_value).value(steps or ())


def write(path: Path, data: bytes) -> None:
    """Replace a file atomically, keeping its mode; a new one has mode 0644, because it is
    encrypted. SecretError.
    """
    real = Path(os.path.realpath(path))
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o644
    try:
        with replacing(real, mode, durable=True) as out:
            out.write(data)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise SecretError(message, hint="check its directory and the free space") from error
