"""The interface of a template language for directories, and the common parts of the
engines (controller).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol

from orchestrator.language.builtin_names import Names
from remote_runtime.errors import InputError, Position, Problem

TREE_FUNCTIONS = ("render", "write")
MAX_STEPS = 1_000_000
MAX_DEPTH = 40


class Rendering(Protocol):
    """One host's rendering of a directory: the variables and functions of its templates.

    ``cache`` is for values of the engine that all templates of the rendering share.
    """

    names: Names
    cache: dict[str, Any]

    def render(self, path: Any, *context: Any) -> str:
        """The text of another template of the directory."""

    def write(self, path: Any, text: Any) -> str:
        """Add a file; the returned string is empty."""


class Compiled(Protocol):
    """One template; shared by all hosts and threads."""

    def render(self, rendering: Rendering, context: Sequence[Any]) -> str:
        """Its text for one host; EvaluationError with the position, NeedFileError.

        ``context`` is the second argument of ``render()``, if any.
        """


class Engine(Protocol):
    """One language with one pair of delimiters, for the templates of one directory."""

    @property
    def openers(self) -> tuple[str, ...]:
        """The opening delimiters; a text without any of them is not a template."""

    def compile(self, path: str, text: str) -> Compiled:
        """The template at a path in the directory; InputError with every mistake."""

    def problems(self, path: str, text: str) -> list[Problem]:
        """The mistakes in a template that only others run, as far as they are visible
        in it alone.
        """

    def unset(self, compiled: Compiled) -> list[Problem]:
        """Return unset names in a file's template that are not reported at compilation."""

    def rendered(self, compiled: Compiled) -> Iterable[tuple[str, Position]]:
        """The literal paths that a template passes to ``render()``, if they are known."""


class StandaloneTemplate(ABC):
    """An engine that checks a template by compiling it, even if only other templates run it."""

    @abstractmethod
    def compile(self, path: str, text: str) -> Any:
        """See ``Engine``."""

    def problems(self, path: str, text: str) -> list[Problem]:
        """See ``Engine``."""
        try:
            self.compile(path, text)
        except InputError as error:
            return error.problems
        return []

    def unset(self, compiled: Compiled) -> list[Problem]:
        """See ``Engine``."""
        return []


def too_deep(name: str, error: RecursionError) -> NoReturn:
    """Refuse a template that is nested more deeply than its compiler supports."""
    where = Position(name, 1, 1)
    raise InputError([Problem("it is nested too deeply", where, "split it", "template")]) from error
