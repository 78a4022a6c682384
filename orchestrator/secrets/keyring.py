"""Opens sources of secrets: each file, command and inline value once per run (controller)."""

import hashlib
import os
from collections.abc import Callable
from threading import Lock
from typing import Any

from inventory.document_nodes import EncryptedScalar, Mapping, Node, Sequence
from inventory.yaml_document import to_plain
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.formats import (
    decoded,
    document_of,
    encrypted_values,
    node_below,
    require_whole,
)
from orchestrator.secrets.key_sources import COMMAND_SECONDS, KeySources
from orchestrator.secrets.passwords import VaultPasswords
from orchestrator.secrets.reference import Reference
from orchestrator.secrets.secret_commands import output_of, shell
from remote_runtime.text.suggestions import nearest

_RELATIVE = "paths are relative to the manifest, then to ccm.yaml"
MAX_BYTES = 16 << 20
SOPS = "sops"


class Keyring:
    """The keys of a run, each obtained on first use, and the decrypted values. Thread-safe."""

    def __init__(self, keys: KeySources) -> None:
        self.sources = keys
        self.passwords = VaultPasswords(keys)
        self._lock = Lock()
        self._identities: list[Any] | SecretError | None = None

    def identities(self) -> list[Any]:
        """The private keys of age; SecretError."""
        from orchestrator.secrets.age import identities_of

        with self._lock:
            if self._identities is None:
                try:
                    self._identities = identities_of(self.sources.identities, self.sources.prompt)
                except SecretError as error:
                    self._identities = error
            identities = self._identities
        if isinstance(identities, SecretError):
            raise identities
        return identities

    def open_value(self, tag: str, text: str, name: str) -> bytes:
        """The decrypted bytes of a value with the tag ``!vault`` or ``!age``; SecretError."""
        if tag == "vault":
            return self.passwords.open(text)[0]
        from orchestrator.secrets.age import decrypt

        return decrypt(text.strip().encode("utf-8"), self.identities(), name)

    def open_file(self, data: bytes, path: str, name: str) -> bytes:
        """The decrypted bytes of a file, based on its content; SecretError. A plain file is
        returned unchanged.
        """
        kind = require_whole(data, name)
        if kind == "vault":
            return self.passwords.open(decoded(data, name))[0]
        if kind == "age":
            from orchestrator.secrets.age import decrypt

            return decrypt(data, self.identities(), name)
        if kind == "sops":
            return output_of([SOPS, "-d", path], COMMAND_SECONDS, what=f"sops -d {name}")
        return data

    def run(self, reference: Reference) -> bytes:
        """The output of a command of the project, without trailing newlines; SecretError."""
        source = self.sources.commands.get(reference.command)
        if source is None:
            raise unknown_command(reference, self.sources)
        what = f"the command of {reference.source}"
        made = output_of(
            shell(source.command, reference.argument),
            source.seconds,
            what=what,
            directory=self.sources.directory,
        )
        return made.rstrip(b"\r\n")


def unknown_command(reference: Reference, keys: KeySources) -> SecretError:
    """The error for a command that ``ccm.yaml`` does not name."""
    likely = nearest(reference.command, list(keys.commands))
    hint = f"did you mean cmd:{likely}?" if likely else "define it in secrets.cmd of ccm.yaml"
    return SecretError(f"ccm.yaml defines no command {reference.command!r}", "secret.source", hint)


class SecretSource:
    """The content of one source: its text, and the values in it."""

    def __init__(self, text: str, name: str, open_value: Callable[[str, str, str], bytes]) -> None:
        self._text = text
        self._name = name
        self._open_value = open_value
        self._lock = Lock()
        self._root: Node | None = None

    def value(self, path: tuple[str, ...] | None) -> Any:
        """The text, or the value at the path with everything below it decrypted; SecretError."""
        if path is None:
            return self._text
        with self._lock:
            if self._root is None:
                self._root = document_of(self._text, self._name)
        node = node_below(self._root, path, self._name)
        return self._plain(node)

    def _plain(self, node: Node) -> Any:
        if isinstance(node, EncryptedScalar):
            opened = self._open_value(node.tag, node.text, f"a value in {self._name}")
            return decoded(opened, f"a value in {self._name}")
        if isinstance(node, Mapping) and encrypted_values(node):
            return {key.text: self._plain(value) for key, value in node.pairs()}
        if isinstance(node, Sequence) and encrypted_values(node):
            return [self._plain(value) for value in node.nodes]
        return to_plain(node)


def read_bytes(path: str, name: str, hint: str = _RELATIVE) -> bytes:
    """The content of a file; SecretError, with a ``hint`` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"cannot read {name}: {error.strerror}"
        raise SecretError(message, "secret.source", hint) from error
    if len(data) > MAX_BYTES:
        raise SecretError(f"{name} is larger than {MAX_BYTES >> 20} MiB", "secret.source")
    return data


def inline_key(tag: str, text: str) -> str:
    """The name of an inline value in caches and requests."""
    return f"!{tag} {hashlib.sha256(text.encode('utf-8')).hexdigest()}"


def located(source: str, directory: str, project: str) -> str:
    """The path of a source file: next to the manifest, else next to ``ccm.yaml``."""
    path = os.path.join(directory, os.path.expanduser(source))
    if not os.path.exists(path) and project:
        other = os.path.join(project, os.path.expanduser(source))
        if os.path.exists(other):
            return other
    return path
