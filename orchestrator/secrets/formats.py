"""Recognizes encrypted files by their content, without any key (controller)."""

import re
from typing import Any, Literal

from inventory.document_nodes import EncryptedScalar, Node
from inventory.yaml_document import Mapping, Sequence, parse_data
from orchestrator.secrets.ansible_vault import MARK, read_envelope
from orchestrator.secrets.errors import SecretError
from remote_runtime.errors import InputError
from remote_runtime.text.suggestions import nearest

Kind = Literal["vault", "age", "sops", "plain"]
AGE_BINARY = b"age-encryption.org/v1\n"
AGE_ARMOR = b"-----BEGIN AGE ENCRYPTED FILE-----"
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
_SOPS = re.compile(
    rb"^sops:\s*$|^\s*\"sops\"\s*:\s*\{|^sops_(?:mac|version)=|^\[sops\]\s*$", re.MULTILINE
)


def kind_of(data: bytes) -> Kind:
    """The format of a file, based on its content. A plain file may contain encrypted values."""
    if data.startswith(MARK.encode("ascii")):
        return "vault"
    if data.startswith((AGE_BINARY, AGE_ARMOR)):
        return "age"
    return "sops" if _SOPS.search(data) else "plain"


def require_whole(data: bytes, name: str) -> Kind:
    """The kind of a file that can be decrypted, as far as this is visible without a
    key; SecretError.
    """
    if _CONFLICT.search(data):
        message = f"{name} has unresolved merge conflicts"
        hint = "encrypted text cannot be merged line by line: keep one side completely"
        raise SecretError(
            message, "secret.conflict", f"{hint}, then repeat the change of the other side"
        )
    kind = kind_of(data)
    if kind == "vault":
        read_envelope(data.decode("ascii", "replace"))
    elif kind == "age" and b"\n---" not in data and not data.startswith(AGE_ARMOR):
        raise SecretError(f"{name} is truncated: its age header has no end")
    elif kind == "age" and data.startswith(AGE_ARMOR) and b"-----END AGE" not in data:
        raise SecretError(f"{name} is truncated: its last line is missing")
    return kind


def document_of(text: str, name: str) -> Node:
    """The YAML in a source, which may contain encrypted values; SecretError if it is not YAML."""
    try:
        return parse_data(text, name)
    except InputError as error:
        first = error.problems[0]
        at = f" (line {first.where.line})" if first.where else ""
        if first.kind != "input.yaml":
            raise SecretError(f"{name}{at}: {first.message}", hint=first.hint) from error
        message = f"{name} is not valid YAML{at}, so it has no keys"
        raise SecretError(message, hint="omit # to use the whole text") from error


def node_below(root: Node, path: tuple[str, ...], name: str) -> Node:
    """The node at a path of keys and list indexes; SecretError with the most similar key."""
    node = root
    for number, key in enumerate(path):
        node_found: Node | None = None
        known: list[str] = []
        if isinstance(node, Mapping):
            node_found, known = node.get(key), [one for one in node if one != "sops"]
        elif isinstance(node, Sequence) and key.isdecimal() and int(key) < len(node.nodes):
            node_found = node.nodes[int(key)]
        elif isinstance(node, EncryptedScalar):
            return node  # the content is visible only with the key
        if node_found is None:
            place = f"under {'.'.join(path[:number])}" if number else "at its top level"
            likely = nearest(key, known)
            hint = f"did you mean {likely}?" if likely else ""
            raise SecretError(f"{name} has no key {key!r} {place}", "secret.key", hint)
        node = node_found
    return node


def check_path(data: bytes, path: tuple[str, ...] | None, name: str) -> None:
    """SecretError if the file cannot have a value at the path, as far as this is
    visible without a key.
    """
    kind = require_whole(data, name)
    if kind in ("vault", "age") or path is None:
        return
    text = decoded(data, name)
    if kind == "sops" and not _is_structured(text):
        return
    node_below(document_of(text, name), path, name)


def decoded(data: bytes, name: str) -> str:
    """The bytes as text; SecretError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{name} is not UTF-8 text"
        raise SecretError(message, hint="secret() takes text; encode the file as base64") from error


def _is_structured(text: str) -> bool:
    """Whether a sops file is YAML or JSON, rather than dotenv or INI."""
    return re.search(r"^sops:|\"sops\"", text, re.MULTILINE) is not None


def encrypted_values(node: Node, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Each encrypted value below a node, with its path."""
    if isinstance(node, EncryptedScalar):
        return [(path, node)]
    return [one for key, value in _below(node) for one in encrypted_values(value, (*path, key))]


def _below(node: Node) -> list[tuple[str, Node]]:
    """The entries of a map or list, by key or position."""
    if isinstance(node, Mapping):
        return [(key.text, value) for key, value in node.pairs()]
    if isinstance(node, Sequence):
        return [(str(at), value) for at, value in enumerate(node.nodes)]
    return []
