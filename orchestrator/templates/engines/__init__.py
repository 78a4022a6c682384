"""The template languages that a folder of files may be written in (controller).

engine = make_engine("jet", None, Folder(path), "templates/app/")   # InputError
compiled = engine.compile("main.conf", text)                        # once per run; InputError
text = compiled.render(turn, ())                                    # per host; EvaluationError
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from orchestrator.expressions.scope import FUNCTIONS, Scope
from orchestrator.language.files import Folder
from remote_runtime.errors import InputError, Position, Problem

VARIABLES = ("facts", "data", "environ")
"""The names of every template, which may also begin with a capital letter."""

SCOPE_FUNCTIONS = tuple(name for name in FUNCTIONS if name not in ("template", "jet"))
TREE_FUNCTIONS = ("render", "write")
MAX_STEPS = 1_000_000
MAX_DEPTH = 40


class Turn(Protocol):
    """One host's rendering of a folder: what its templates see, and what they may call."""

    scope: Scope

    def render(self, path: Any, *context: Any) -> str:
        """The text of another template of the folder."""
        ...

    def write(self, path: Any, text: Any) -> str:
        """Add a file; gives nothing."""
        ...


class Compiled(Protocol):
    """One template; shared by all hosts and threads."""

    def render(self, turn: Turn, context: Sequence[Any]) -> str:
        """Its text for one host; EvaluationError with the position, NeedFileError.

        ``context`` is what ``render()`` was given beside the path, if anything.
        """
        ...


class Engine(Protocol):
    """One language with one pair of delimiters, for the templates of one folder."""

    @property
    def openers(self) -> tuple[str, ...]:
        """A text with none of these in it is no template."""
        ...

    def compile(self, path: str, text: str) -> Compiled:
        """The template at a path of the folder; InputError with every mistake."""
        ...

    def problems(self, path: str, text: str) -> list[Problem]:
        """The mistakes of a template that only others run, as far as they show in it alone."""
        ...

    def rendered(self, compiled: Compiled) -> Iterable[tuple[str, Position]]:
        """The paths that a template literally gives to ``render()``, where that can be told."""
        ...


ENGINES = ("jet", "go", "jinja")


def make_engine(
    name: str, delimiters: tuple[str, str] | None, folder: Folder, prefix: str
) -> Engine:
    """The engine of that name; InputError where it cannot be had.

    ``delimiters`` None: those of the language. ``prefix`` stands before a path in positions.
    """
    if name == "jet":
        from orchestrator.templates.engines.jet import JetEngine

        return JetEngine(delimiters, folder, prefix)
    if name == "go":
        from orchestrator.templates.engines.go import GoEngine

        return GoEngine(delimiters, prefix)
    if name == "jinja":
        from orchestrator.templates.engines.jinja import JinjaEngine

        return JinjaEngine(delimiters, prefix)
    raise InputError([Problem(f"there is no engine {name!r}, only {', '.join(ENGINES)}")])
