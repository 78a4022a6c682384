"""The readers of an encrypted file (controller)."""

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any

from orchestrator.secrets.age import recipients_of, stanzas
from orchestrator.secrets.ansible_vault import read_envelope
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.formats import (
    decoded,
    document_of,
    encrypted_values,
    kind_of,
    require_whole,
)
from orchestrator.secrets.key_sources import DEFAULT_ID, KeySources


def is_encrypted(data: bytes) -> bool:
    """Whether a file, or a value in it, is encrypted."""
    return kind_of(data) != "plain" or b"!vault" in data or b"!age" in data


def readers_of(data: bytes, name: str, keys: KeySources) -> list[str]:
    """The users who can read a file, one line for each key; [] for a plaintext file.
    SecretError.
    """
    kind = require_whole(data, name)
    if kind == "vault":
        return [_of_vault(decoded(data, name), keys)]
    if kind == "age":
        return list(_of_age(data, keys))
    if kind == "sops":
        return list(dict.fromkeys(_of_sops(decoded(data, name))))
    if not is_encrypted(data):
        return []
    result: dict[str, None] = {}
    for _, node in encrypted_values(document_of(decoded(data, name), name)):
        if node.tag == "age":
            lines = list(_of_age(node.text.strip().encode("utf-8"), keys))
        else:
            lines = [_of_vault(node.text, keys)]
        result.update(dict.fromkeys(lines))
    return list(result)


def _of_vault(text: str, keys: KeySources) -> str:
    name = read_envelope(text).vault_id or DEFAULT_ID
    source = keys.vault.get(name)
    where = f"password from {source.where}" if source else "this project has no password for it"
    return f"vault ID {name!r} ({where})"


def _of_age(data: bytes, keys: KeySources) -> Iterator[str]:
    """The recipients in an age header. For age's own keys, it has only their number."""
    try:
        known = recipients_of(keys.recipients, keys.directory)
    except SecretError:
        known = []
    tags = {_tag(key): key for key in known if key.startswith("ssh-")}
    anonymous = 0
    for stanza in stanzas(data):
        kind, *rest = stanza.split()
        if kind in ("ssh-ed25519", "ssh-rsa"):
            tag = rest[0] if rest else ""
            key = tags.get(tag)
            yield _shown(key) if key else f"an {kind} key with the tag {tag}, not in ccm.yaml"
        elif kind == "scrypt":
            yield "everyone who knows the passphrase"
        elif "grease" not in kind:  # a stanza of no meaning, which age writes on purpose
            anonymous += 1
    listed = [key for key in known if key.startswith("age1")]
    if anonymous:
        named = f"; ccm.yaml lists {', '.join(listed)}" if listed else ""
        count = "1 age key" if anonymous == 1 else f"{anonymous} age keys"
        yield f"{count} that the file does not identify{named}"


def _tag(key: str) -> str:
    """The part of a public SSH key in an age header."""
    try:
        blob = base64.b64decode(key.split()[1])
    except (IndexError, ValueError):
        return ""
    return base64.b64encode(hashlib.sha256(blob).digest()[:4]).decode().rstrip("=")


def _shown(key: str) -> str:
    kind, blob, *comment = key.split()
    return f"{kind} ...{blob[-8:]} {' '.join(comment)}".rstrip()


def _of_sops(text: str) -> Iterator[str]:
    """The keys that the plaintext metadata of sops names."""
    named: tuple[tuple[str, Any], ...] = (
        ("age key", r"\brecipient\"?:\s*\"?(age1[0-9a-z]+|ssh-\S+ \S+)"),
        ("PGP key", r"\bfp\"?:\s*\"?([0-9A-Fa-f]{16,40})"),
        ("AWS KMS key", r"\barn\"?:\s*\"?(arn:[\w:/+=,.@-]+)"),
        ("GCP KMS key", r"\bresource_id\"?:\s*\"?(projects/[\w/.-]+)"),
        ("Azure key", r"\bvault_?url\"?:\s*\"?(https://[\w./-]+)"),
        ("key of Vault's transit engine", r"\bkey_name\"?:\s*\"?([\w-]+)"),
    )
    for what, pattern in named:
        for match in re.finditer(pattern, text):
            yield f"{what} {match[1]}, by sops"
