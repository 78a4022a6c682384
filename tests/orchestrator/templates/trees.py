"""Renders directories of templates for a host that was never contacted."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.templates.template_tree import Tree, TreeSettings
from remote_runtime.errors import InputError
from tests.orchestrator.language.jet.fakes import host

needs_gotpl = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="gotpl, the engine go, needs Python 3.11"
)


Files = Mapping[str, str] | Mapping[str, str | bytes]


def fill(directory: Path, files: Files) -> Path:
    """Write files by path; ``x/`` at the end makes a directory."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


def tree(directory: Path, files: Files, **settings: Any) -> Tree:
    return Tree(fill(directory, files), "t/", TreeSettings(**settings))


def render(directory: Path, files: Files, engine: str = "jet", **settings: Any) -> dict[str, str]:
    """The text of every file that comes of a directory."""
    found = {}
    for file in tree(directory, files, engine=engine, **settings).render(host(directory).names):
        content = file.content
        found[file.path] = content if isinstance(content, str) else content.read_text("utf-8")
    return found


def refused(directory: Path, files: Files, **settings: Any) -> str:
    """Why a directory is refused before any host is contacted."""
    with pytest.raises(InputError) as caught:
        tree(directory, files, **settings)
    return str(caught.value)


def failure(directory: Path, files: Files, **settings: Any) -> str:
    """Why a directory cannot be rendered for a host."""
    with pytest.raises(EvaluationError) as caught:
        render(directory, files, **settings)
    return str(caught.value)
