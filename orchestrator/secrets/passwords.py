"""The passwords of vaults, each obtained once per run (controller)."""

import os
from collections.abc import Iterator
from threading import RLock

from orchestrator.secrets.ansible_vault import Envelope, decrypt, read_envelope
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.key_sources import (
    COMMAND_SECONDS,
    DEFAULT_ID,
    VAULT_FILE,
    KeySources,
    PasswordSource,
)
from orchestrator.secrets.secret_commands import output_of, shell

_LIMIT = 4096
NO_PASSWORD = (
    f"set secrets.vault.password_file in ccm.yaml, {VAULT_FILE} or ANSIBLE_VAULT_PASSWORD_FILE"
)


class VaultPasswords:
    """Opens vaults with the passwords of the project. Thread-safe."""

    def __init__(self, keys: KeySources) -> None:
        self._keys = keys
        self._lock = RLock()
        self._known: dict[str, bytes | SecretError] = {}

    def open(self, text: str) -> tuple[bytes, str]:
        """The decrypted bytes of a vault, and the ID of the password that opens it; SecretError.

        As in Ansible, the password of the vault's own ID is tried first, then the others.
        """
        envelope = read_envelope(text)
        failed: list[SecretError] = []
        tried: list[str] = []
        for name in self._order(envelope):
            try:
                password = self.password(name)
            except SecretError as error:
                failed.append(error)
                continue
            tried.append(name)
            plain = decrypt(envelope, password)
            if plain is not None:
                return plain, name
        if failed and not tried:
            raise failed[0]
        if not tried:
            named = f" with the ID {envelope.vault_id!r}" if envelope.vault_id else ""
            raise SecretError(f"there is no password for the vault{named}", hint=NO_PASSWORD)
        ids = ", ".join(map(repr, tried))
        message = (
            f"no password decrypts the vault; tried vault ID{'s' if len(tried) > 1 else ''} {ids}"
        )
        raise SecretError(message, hint="use the password that it was encrypted with")

    def password(self, name: str = DEFAULT_ID) -> bytes:
        """The password of a vault ID; SecretError."""
        with self._lock:
            if name not in self._known:
                try:
                    self._known[name] = self._read(name)
                except SecretError as error:
                    self._known[name] = error
            password = self._known[name]
        if isinstance(password, SecretError):
            raise password
        return password

    def _order(self, envelope: Envelope) -> Iterator[str]:
        names = dict.fromkeys([envelope.vault_id or DEFAULT_ID, DEFAULT_ID, *self._keys.vault])
        if not self._keys.vault:
            return iter([envelope.vault_id or DEFAULT_ID] if self._keys.prompt else [])
        return (name for name in names if name in self._keys.vault)

    def _read(self, name: str) -> bytes:
        source = self._keys.vault.get(name)
        if source is None and self._keys.prompt is not None and not self._keys.vault:
            password = self._keys.prompt(f"Vault password ({name}): ").encode("utf-8")
        elif source is None:
            known = ", ".join(self._keys.vault) or "none"
            message = f"there is no password for the vault ID {name!r} (known: {known})"
            raise SecretError(message, hint=NO_PASSWORD)
        else:
            password = _of_source(source, name, self._keys.directory)
        if not password:
            raise SecretError(f"the password of the vault ID {name!r} is empty", hint=NO_PASSWORD)
        return password


def _of_source(source: PasswordSource, name: str, directory: str) -> bytes:
    what = f"the password of the vault ID {name!r} ({source.where})"
    if source.command:
        made = output_of(
            shell(source.command),
            COMMAND_SECONDS,
            what=f"the command for {what}",
            directory=directory,
        )
        return made.strip()
    path = os.path.expanduser(source.file)
    if os.access(path, os.X_OK) and os.path.isfile(path):
        words = [os.path.abspath(path)]
        if os.path.splitext(path)[0].endswith("-client"):
            words += ["--vault-id", name]  # as Ansible calls such a script
        return output_of(words, COMMAND_SECONDS, what=f"the program for {what}").strip()
    try:
        with open(path, "rb") as file:
            return file.read(_LIMIT).strip()
    except OSError as error:
        message = f"cannot read {path}, which contains {what}: {error.strerror}"
        raise SecretError(message, hint="check the path") from error
