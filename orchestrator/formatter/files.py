"""Finds the files to format, and writes them (controller)."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from inventory.declaration_reader import TOP_LEVEL
from inventory.yaml_document import Mapping, Scalar, parse_document, read_text
from orchestrator.formatter.canonical import canonical
from orchestrator.manifest.resource_types import types_beside
from orchestrator.support.atomic_file import replacing
from remote_runtime.errors import InputError, Problem

ENDINGS = (".yaml", ".yml")
PROJECT = "ccm.yaml"

_MANIFEST = {"ccm", "stages"}
_DATA = {"data", "hierarchy", "overrides"}
_BEGINNING = re.compile(r"^(ccm|stages|hosts|groups|hierarchy|overrides):", re.MULTILINE)


class FormattedFile(NamedTuple):
    """A file with its text and its canonical form."""

    path: str
    before: str
    after: str


def format_file(path: str) -> FormattedFile:
    """Read a file and compute its canonical form. Writes nothing. InputError."""
    if Path(path).suffix not in ("", *ENDINGS):
        message = f"{path}: ccm fmt formats YAML only"
        raise InputError([Problem(message, None, "specify .yaml or .yml files", "input.format")])
    text = read_text(path)
    return FormattedFile(path, text, canonical(text, path, types_beside(Path(path).parent)))


def write(file: FormattedFile) -> None:
    """Replace a file atomically; its mode, its owner and a link to it are kept.

    InputError if the file was changed since it was read, OSError.
    """
    real = Path(os.path.realpath(file.path))
    status = real.stat()
    with replacing(real, 0o600) as out:
        out.write(file.after.encode())
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(out.fileno(), status.st_uid, status.st_gid)
        os.fchmod(out.fileno(), status.st_mode & 0o7777)
        if read_text(file.path) != file.before:
            message = f"{file.path} was changed by another program"
            raise InputError([Problem(message, None, "run ccm fmt again", "input.format")])


def files_below(directory: str) -> tuple[list[str], int]:
    """The files of ccm below a directory, and the number of other YAML files.

    A manifest, a stages file, an inventory and a file for ``--hiera`` are found by their keys, data
    files by the ``data`` of the ``ccm.yaml`` above them. Names that begin with a dot, links, and
    directories with a repository or a Python environment are omitted.
    """
    found, others = [], 0
    data: list[str] = _data_directories(directory)
    for path in _walk(directory):
        if os.path.basename(path) == PROJECT:
            data += _data_directories(os.path.dirname(path))
    for path in _walk(directory):
        real = os.path.abspath(path)
        if any(real.startswith(parent + os.sep) for parent in data) or _is_ours(path):
            found.append(path)
        else:
            others += 1
    return found, others


def _walk(directory: str) -> Iterator[str]:
    for at, directories, files in os.walk(directory):
        directories[:] = sorted(
            name
            for name in directories
            if not name.startswith(".")
            and not os.path.lexists(os.path.join(at, name, ".git"))
            and not os.path.lexists(os.path.join(at, name, "pyvenv.cfg"))
        )
        for name in sorted(files):
            path = os.path.join(at, name)
            if name.endswith(ENDINGS) and name[0] != "." and not os.path.islink(path):
                yield os.path.normpath(path)


def _data_directories(directory: str) -> list[str]:
    """The data directory that the ``ccm.yaml`` of a directory names, as an absolute path."""
    path = os.path.join(directory, PROJECT)
    if not os.path.isfile(path):
        return []
    try:
        root = parse_document(read_text(path), path, [])
    except InputError:
        return []
    named = root.get("data") if isinstance(root, Mapping) else None
    if not isinstance(named, Scalar) or named.kind != "str" or not named.text:
        return []
    return [os.path.abspath(os.path.join(directory, named.text))]


def _is_ours(path: str) -> bool:
    """Whether the keys of a file are those of a document of ccm. A file that is not valid YAML
    counts if a line begins like such a document, because its mistake must be reported.
    """
    if os.path.basename(path) == PROJECT:
        return True
    try:
        text = read_text(path)
    except InputError:
        return False
    try:
        root = parse_document(text, path, [])
    except InputError:
        return _BEGINNING.search(text) is not None
    keys = set(root) if isinstance(root, Mapping) else set()
    return bool(keys) and (bool(keys & _MANIFEST) or keys <= _DATA or keys <= set(TOP_LEVEL))
