"""Renders Jet templates for a host that was never contacted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError, Scope
from orchestrator.language import jet
from orchestrator.language.jet import Delimiters, Library
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError
from tests.orchestrator.expressions.fakes import scope

DATA = {
    "name": "web",
    "port": 8080,
    "ratio": 0.5,
    "on": True,
    "empty": "",
    "none": None,
    "list": ["a", "b", "c"],
    "no": [],
    "map": {"b": 2, "a": 1},
    "users": [{"name": "Eva", "admin": True}, {"name": "Udo", "admin": False}],
}
JET = Delimiters("{{", "}}")


def host(directory: Path = Path("."), **changes: Any) -> Scope:
    return scope(directory, **{"data": DATA, **changes})


def render(
    text: str,
    delimiters: Delimiters = JET,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    **changes: Any,
) -> str:
    """The text of a template that stands alone."""
    library = Library(Directory(Path(".")), delimiters, functions or ())
    return jet.render(library.parse(text, "t.jet"), host(**changes).names, functions)


def render_files(directory: Path, first: str = "main.jet", **texts: str) -> str:
    """The text of ``main.jet`` among other templates, whose names have _ for a dot."""
    write(directory, **texts)
    return jet.render(Library(Directory(directory), JET).load(first), host(directory).names)


def write(directory: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = directory / name.replace("__", "/").replace("_jet", ".jet")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def refused(text: str, delimiters: Delimiters = JET) -> str:
    """Why a text is no template."""
    with pytest.raises(InputError) as caught:
        Library(Directory(Path(".")), delimiters).parse(text, "t.jet")
    return str(caught.value)


def failure(text: str, **changes: Any) -> str:
    """Why a template cannot be rendered."""
    with pytest.raises(EvaluationError) as caught:
        render(text, **changes)
    return str(caught.value)
