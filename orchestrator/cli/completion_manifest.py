"""Completion words from manifests and the project file (controller).

A manifest is only read, never checked: no custom type is imported, and no program is started. The
user has only pressed a key, so little is read, and invalid files are skipped.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, Sequence, parse_document

if TYPE_CHECKING:
    from orchestrator.project.settings import Project

USUAL = "site.yaml"
MANIFESTS = (".yaml", ".yml")
MAX_BYTES = 256 << 10  # of all manifests together
MAX_MANIFESTS = 20
_TEMPLATE = re.compile(r"\{\{|\$\{")


class CompletionEntry(NamedTuple):
    """A resource as written; ``names`` are its name and its alias."""

    type: str
    names: tuple[str, ...]
    tags: tuple[str, ...]


def part_words(manifest: str) -> Iterator[str]:
    """The candidates of ``--only`` and ``--skip``: the types of the manifest, and its resources."""
    entries = list(_resources(manifest))
    yield from dict.fromkeys(one.type for one in entries)
    for one in entries:
        yield from (f"{one.type}#{name}" for name in one.names)


def tags_of(manifest: str) -> list[str]:
    """The tags of the manifest."""
    return sorted({tag for one in _resources(manifest) for tag in one.tags})


def stages_of(manifest: str) -> list[str]:
    """The names of the stages in a stages file."""
    text = _text(manifest, MAX_BYTES)
    root = parse_document(text, "stages", []) if text else None
    stages = _entries(root.get("stages")) if isinstance(root, Mapping) else []
    names = [stage.get("name") for stage in stages]
    return [name.text for name in names if isinstance(name, Scalar) and _is_plain(name.text)]


def project_of(manifest: str) -> Project | None:
    """The applicable value in the project file, or "". CcmError for a refused file."""
    from orchestrator.project.discovery import project_files

    files = project_files(manifest)
    if not files:
        return None
    from orchestrator.project.reader import read_project

    return read_project(files)


def _resources(manifest: str) -> Iterator[CompletionEntry]:
    """The resources of a manifest and of its readable children; by default, of the usual manifest
    in the current directory.
    """
    limit = MAX_BYTES
    queue = [manifest or USUAL]
    for at in range(MAX_MANIFESTS):
        if at == len(queue):
            return
        text = _text(queue[at], limit)
        limit -= len(text)
        directory = os.path.dirname(queue[at])
        for one in _of_manifest(text):
            yield one
            children = [name for name in one.names if name.endswith(MANIFESTS)]
            below = [os.path.join(directory, name) for name in children if not os.path.isabs(name)]
            queue += [path for path in below if path not in queue]


def _text(path: str, limit: int) -> str:
    """The text of a file of at most this many bytes; "" for other files."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(limit + 1) if regular else b""
    except OSError:
        return ""
    return data.decode("utf-8", "replace") if len(data) <= limit else ""


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _of_manifest(text: str) -> Iterator[CompletionEntry]:
    root = parse_document(text, "a manifest", []) if text else None
    ccm = root.get("ccm") if isinstance(root, Mapping) else None
    resources = ccm.get("resources") if isinstance(ccm, Mapping) else None
    for types in _entries(resources):
        for type_, listed in types.entries.items():
            for named in _entries(listed[1]):
                for name, (_, properties) in named.entries.items():
                    if name != "defaults":
                        yield _entry(type_, name, properties)


def _entries(node: Node | None) -> list[Mapping]:
    nodes = node.nodes if isinstance(node, Sequence) else []
    return [one for one in nodes if isinstance(one, Mapping)]


def _entry(type_: str, name: str, properties: Node) -> CompletionEntry:
    fields = properties if isinstance(properties, Mapping) else None
    alias = fields.get("alias") if fields else None
    tags = fields.get("tags") if fields else None
    names = [name, *([alias.text] if isinstance(alias, Scalar) else [])]
    listed = tags.nodes if isinstance(tags, Sequence) else [tags]
    return CompletionEntry(
        type_,
        tuple(filter(_is_plain, names)),
        tuple(one.text for one in listed if isinstance(one, Scalar) and _is_plain(one.text)),
    )


def _is_plain(text: str) -> bool:
    """Whether it is the same name on every host and needs no quotes on a command line."""
    return not _TEMPLATE.search(text) and shlex.quote(text.replace("#", "")) == text.replace(
        "#", ""
    )
