"""The findings of ``ccm secrets check`` in a repository (controller)."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator.secrets.checks import problem
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.formats import document_of, encrypted_values, kind_of
from orchestrator.secrets.key_sources import KeySources
from orchestrator.secrets.keyring import MAX_BYTES
from orchestrator.secrets.recipients import is_encrypted, readers_of
from orchestrator.secrets.reference import COMMAND, calls_in, parse_reference
from orchestrator.secrets.scan import Finding, findings_in, text_of, tracked_files
from remote_runtime.errors import UsageError

_MARKS = (b"$ANSIBLE_VAULT;", b"age-encryption.org/v1", b"BEGIN AGE ENCRYPTED", b"sops")
_DATA = (".yaml", ".yml", "")
"""Extensions of files that may have encrypted values among plaintext values."""
OWN_KEY = "a decryption key of this project, which must not be in the repository"
_MANIFESTS = (".yaml", ".yml", ".j2", ".jet", ".tmpl", ".json")


class Audit(NamedTuple):
    """The findings; ``readers`` and ``unused`` are lines for the user, ``clear`` and
    ``broken`` are problems.
    """

    checked: int
    readers: list[str]
    unused: list[str]
    clear: list[Finding]
    broken: list[str]


def audit(directory: Path, files: Sequence[str], keys: KeySources) -> Audit:
    """Check the files, or all that git tracks below the directory; no key is needed. SecretError,
    UsageError for anything but a file.

    Unused secrets are only found if all files are checked.
    """
    for path in files:
        if os.path.isdir(path) or not os.path.lexists(path):
            hint = "specify files, or omit them to check all files that git tracks"
            raise UsageError(f"{path[:200]} is not a file", hint=hint)
    paths = list(files) or tracked_files(directory)
    texts = {path: text for path in paths if (text := text_of(path)) is not None}
    encrypted = {path: data for path in paths if (data := _encrypted(path)) is not None}
    clear = [one for path, text in texts.items() for one in findings_in(_short(path), text)]
    clear += _keys_in_git(paths, keys)
    readers, broken = [], []
    for path, data in encrypted.items():
        try:
            lines = readers_of(data, _short(path), keys)
        except SecretError as error:
            text, name = str(error), _short(path)
            broken.append(text if text.startswith(f"{name} ") else f"{name}: {text}")
            continue
        readers += [f"{_short(path)}: {line}" for line in lines]
    broken += _bad_references(texts, keys)
    unused = [] if files else list(_unused(texts, encrypted, keys))
    return Audit(len(paths), readers, unused=unused, clear=clear, broken=broken)


def _encrypted(path: str) -> bytes | None:
    """The bytes of a file with encrypted text; None for other files, and for large ones."""
    try:
        if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            return None
        data = Path(path).read_bytes()
    except OSError:
        return None
    if not any(mark in data for mark in _MARKS) or path.endswith(".md"):
        return None
    if kind_of(data) == "plain" and os.path.splitext(path)[1] not in _DATA:
        return None
    return data if is_encrypted(data) else None


def _keys_in_git(paths: Sequence[str], keys: KeySources) -> list[Finding]:
    """The keys of the project that are themselves in the repository."""
    own = [*keys.identities, *(one.file for one in keys.vault.values())]
    known = {os.path.realpath(os.path.expanduser(path)) for path in own if path}
    return [
        Finding(_short(path), 1, OWN_KEY)
        for path in paths
        if os.path.realpath(path) in known and not os.access(path, os.X_OK)
    ]


def _bad_references(texts: Mapping[str, str], keys: KeySources) -> Iterator[str]:
    """The references without a source, as found from the files that contain them."""
    for path, text in texts.items():
        if "secret" not in text or not path.endswith(_MANIFESTS):
            continue
        for reference, at in calls_in(text):
            error = problem(reference, os.path.dirname(os.path.abspath(path)), keys)
            # A template may be for a manifest elsewhere: only what exists nowhere is an error.
            if error is not None and error.kind in ("secret.key", "secret.conflict"):
                line = text.count("\n", 0, at) + 1
                yield f"{_short(path)}:{line}: secret({reference!r}): {error}"


def _unused(
    texts: Mapping[str, str], encrypted: Mapping[str, bytes], keys: KeySources
) -> Iterator[str]:
    named = {one for text in texts.values() if "secret" in text for one, _ in calls_in(text)}
    parsed = []
    for one in named:
        try:
            parsed.append(parse_reference(one))
        except ValueError:
            continue
    for name in keys.commands:
        if not any(one.is_command and one.command == name for one in parsed):
            yield f"the command {COMMAND}{name} of ccm.yaml"
    for path, data in encrypted.items():
        base = os.path.basename(path)
        others = [text for other, text in texts.items() if other != path]
        reads = [one for one in parsed if os.path.basename(one.source) == base]
        if reads and not any(one.path is None for one in reads):
            yield from _unused_keys(path, data, [one.path or () for one in reads], others)
        elif not reads and not any(base in text for text in others) and not _is_data(path, others):
            yield _short(path)


def _unused_keys(
    path: str, data: bytes, read: Sequence[tuple[str, ...]], others: Sequence[str]
) -> Iterator[str]:
    """The encrypted values of a file that no reference reaches."""
    try:
        values = encrypted_values(document_of(data.decode("utf-8"), path))
    except (SecretError, UnicodeDecodeError):
        return
    for keys, _ in values:
        reached = any(keys[: len(one)] == one or one[: len(keys)] == keys for one in read)
        word = re.compile(rf"\b{re.escape(keys[-1])}\b") if keys else None
        if not reached and word and not any(word.search(text) for text in others):
            yield f"{_short(path)}#{'.'.join(keys)}"


def _is_data(path: str, others: Sequence[str]) -> bool:
    """Whether a file may be read by convention: in a data directory, a manifest, or one
    of Ansible's.
    """
    parts = Path(os.path.abspath(path)).parts
    if {"group_vars", "host_vars", "vars", "defaults"} & set(parts):
        return True
    text = text_of(path) or ""
    if re.search(r"^(?:data|ccm|overrides):", text, re.MULTILINE):
        return True
    return any(
        match[1].strip("\"'./") in parts
        for other in others
        for match in re.finditer(r"^data:[ ]+([\w./\"'-]+)[ ]*$", other, re.MULTILINE)
    )


def _short(path: str) -> str:
    below = os.path.relpath(path)
    return path if below.startswith(os.pardir) else below
