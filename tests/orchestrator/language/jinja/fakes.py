"""Renders whole templates for a host that was never contacted."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.language.jinja import Library, render
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError
from tests.orchestrator.language.jet.fakes import host
from tests.orchestrator.templates.trees import fill


def text(template: str, directory: Path = Path("."), lenient: bool = False, **changes: Any) -> str:
    """The text of a template that the manifest spells out."""
    library = Library(Directory(directory), lenient)
    return render(library.parse(template, "t.j2"), host(directory, **changes).names)


def file_text(directory: Path, path: str, **files: str) -> str:
    """The text of one of some files, whose names have __ for a slash and _ for a dot."""
    fill(directory, {name.replace("__", "/").replace("_", "."): t for name, t in files.items()})
    return render(Library(Directory(directory)).load(path), host(directory).names)


def failure(template: str, **changes: Any) -> str:
    """Why a template cannot be rendered."""
    with pytest.raises(EvaluationError) as caught:
        text(template, **changes)
    return str(caught.value)


def refused(template: str, directory: Path = Path("."), added: tuple[str, ...] = ()) -> str:
    """Why a text is no template."""
    with pytest.raises(InputError) as caught:
        Library(Directory(directory)).parse(template, "t.j2").check(added)
    return str(caught.value)
