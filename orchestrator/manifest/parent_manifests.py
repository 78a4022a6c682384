"""Finds the manifests of a project that apply another one (controller). Contacts no host."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from orchestrator.expressions import Expression, Template
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.loader import read_unchecked
from orchestrator.manifest.site import Site

MAX_FILES = 200
MAX_BYTES = 1 << 20
_WORD = b"apply"


class Parent(NamedTuple):
    """A manifest that applies another one, directly or through other manifests.

    ``path`` is the pushed manifest, ``site`` the manifest that names the child. ``certain``: the
    path is literal; otherwise the child's path matches a template.
    """

    path: Path
    site: Site
    certain: bool


def parents_of(child: Path, directories: Iterable[Path]) -> list[Parent]:
    """The manifests in these directories that apply ``child``; those with a literal path come
    first.

    Mistakes in a parent are ignored, and other files are skipped.
    """
    parents = [
        Parent(path, site, certain)
        for path in _candidates(child, directories)
        if (top := read_unchecked(path)) is not None
        for site, certain in _naming(top, child, ())
    ]
    return sorted(parents, key=lambda parent: not parent.certain)


def _candidates(child: Path, directories: Iterable[Path]) -> Iterator[Path]:
    """The YAML files that contain ``apply``, at most ``MAX_FILES``."""
    files = (path for directory in directories for path in sorted(directory.iterdir()))
    seen = 0
    for path in files:
        if path.suffix not in (".yaml", ".yml") or not path.is_file() or path.samefile(child):
            continue
        seen += 1
        if seen > MAX_FILES:
            return
        try:
            with path.open("rb") as file:
                text = file.read(MAX_BYTES + 1)
        except OSError:
            continue
        if len(text) <= MAX_BYTES and _WORD in text:
            yield path


def _naming(site: Site, child: Path, above: tuple[Path, ...]) -> Iterator[tuple[Site, bool]]:
    """Each manifest of a run that names the child, and whether the path is literal."""
    for declared in site.resources:
        if not declared.type.applies:
            continue
        path = declared.child
        if path is None:
            relative = os.path.relpath(child.absolute(), site.directory.path)
            if _fits(declared, relative):
                yield site, False
        elif os.path.realpath(site.path.parent / path) == os.path.realpath(child):
            yield site, True
        else:
            below = site.children.of(site, declared, path, above).site
            if below is not None:
                yield from _naming(below, child, (*above, site.path))


def _fits(declared: DeclaredResource, path: str) -> bool:
    """Whether the template of a child's path can result in this one."""
    template = declared.values.get("manifest", declared.name)
    if not isinstance(template, Template):
        return False
    pieces = [".+" if isinstance(one, Expression) else re.escape(one) for one in template.pieces]
    fixed = any(isinstance(one, str) for one in template.pieces)
    return fixed and re.fullmatch("".join(pieces), path, re.DOTALL) is not None
