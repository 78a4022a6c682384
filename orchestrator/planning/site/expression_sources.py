"""The sources of a site: its expressions, and the templates that they may render (controller)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site

_CALL = r"\b(?:template|jet|file|readFile)\b"
_LITERAL = r"'([^'\n]+)'|\"([^\"\n]+)\""
_MAX_FILES = 1000
_MAX_LENGTH = 200
_MAX_BYTES = 1 << 20


def texts_of(site: Site) -> Iterator[str]:
    """The expressions of a manifest and the templates that it may render: every local file whose
    name is quoted in such an expression or template.
    """
    sources = [expression.source for expression in site.expressions()]
    template = site.resources_template
    paths = [Path(template.name)] if template is not None else []
    yield from texts_behind(sources, site.directory.path, site.resources, paths)


def texts_behind(
    sources: Sequence[str],
    directory: Path,
    resources: Iterable[DeclaredResource],
    paths: Iterable[Path] = (),
) -> Iterator[str]:
    """These expressions and the templates that they may render: every file in the directory whose
    name is quoted in one, including the trees of ``resources`` and the files of ``paths``.
    """
    pending = list(paths)
    for declared in resources:
        tree = declared.raw.get(declared.type.tree)
        if isinstance(tree, str):
            pending += islice((directory / tree).rglob("*"), _MAX_FILES)
    yield from sources
    for source in sources:
        if re.search(_CALL, source):
            pending += _named(source, directory)
    seen: set[Path] = set()
    while pending and len(seen) < _MAX_FILES:
        path = pending.pop()
        if path not in seen:
            seen.add(path)
            text = _text(path)
            yield text
            pending += [*_named(text, directory), *_named(text, path.parent)]


def _named(text: str, directory: Path) -> Iterator[Path]:
    """The files of a directory whose names are quoted in a string."""
    for match in re.finditer(_LITERAL, text):
        name = match[1] or match[2]
        if len(name) < _MAX_LENGTH and not name.startswith("/") and "\0" not in name:
            path = directory / name
            if path.is_file():
                yield path


def _text(path: Path) -> str:
    """The text of a template; an unreadable file is reported by those who use it."""
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace") if path.is_file() else ""
    except OSError:
        return ""
