"""Checks secrets without their key: whether the source and the path exist (controller)."""

import os
import re

from orchestrator.secrets.ansible_vault import read_envelope
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.formats import check_path
from orchestrator.secrets.key_sources import KeySources
from orchestrator.secrets.keyring import located, read_bytes, unknown_command
from orchestrator.secrets.reference import SYNTAX, parse_reference
from remote_runtime.text.suggestions import nearest


def problem(text: str, directory: str, keys: KeySources) -> SecretError | None:
    """The problem of a reference in a manifest of the directory; None if none is known."""
    try:
        reference = parse_reference(text)
    except ValueError as error:
        return SecretError(str(error), "secret.reference", SYNTAX)
    if reference.is_command:
        known = reference.command in keys.commands
        return None if known else unknown_command(reference, keys)
    path = located(reference.source, directory, keys.directory)
    if not os.path.exists(path):
        return _missing(reference.source, path)
    try:
        check_path(read_bytes(path, reference.source), reference.path, reference.source)
    except SecretError as error:
        return error
    return None


def inline_problem(tag: str, text: str) -> SecretError | None:
    """The problem of an encrypted value's text."""
    if re.search(r"^\s*[<>]{7} ", text, re.MULTILINE):
        hint = "encrypted text cannot be merged line by line: keep one side completely"
        return SecretError("unresolved merge conflict in a value", "secret.conflict", hint)
    if tag == "vault":
        try:
            read_envelope(text)
        except SecretError as error:
            return error
    elif not text.strip().startswith("-----BEGIN AGE ENCRYPTED FILE-----"):
        hint = "it must start with -----BEGIN AGE ENCRYPTED FILE-----"
        return SecretError("this is not a value encrypted with age", hint=hint)
    return None


def _missing(source: str, path: str) -> SecretError:
    parent = os.path.dirname(path)
    names = os.listdir(parent) if os.path.isdir(parent) else []
    likely = nearest(os.path.basename(path), names)
    hint = "paths are relative to the manifest, then to ccm.yaml"
    if likely:
        hint = f"did you mean {os.path.join(os.path.dirname(source), likely)}?"
    scheme, sign, _ = source.partition(":")
    if sign and scheme.isalpha():
        hint = "a command is cmd:NAME; a file is recognized by its content"
    return SecretError(f"there is no file {source!r}", "secret.source", hint)
