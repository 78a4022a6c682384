"""Evaluates simple paths without Jinja2, for speed (controller).

Most expressions of manifests are like ``Data.web.port`` and ``lookup('data.web.port')``. Loading
Jinja2 takes longer than checking a manifest, and running it takes longer than the rest of planning
a resource. This module only handles existing keys of mappings. Jinja2 handles all other cases and
all errors.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.expressions.scope import Scope
from orchestrator.language.builtin_names import VARIABLES
from orchestrator.language.lookup_paths import BadPathError, split_path

# ASCII only, and no name that the sandbox hides
_NAME = rf"(?:{'|'.join(VARIABLES)})(?:\.[A-Za-z][A-Za-z0-9_]*)*"
_LOOKUP = r"""lookup\((?:'([^'\\\r\n]*)'|"([^"\\\r\n]*)")\)"""


class Runnable(ABC):
    """The compiled source of an expression."""

    @abstractmethod
    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value for this scope, with more names; EvaluationError."""

    def constant(self) -> tuple[bool, Any]:
        """Whether it is a literal, and its value."""
        return False, None

    def data_paths(self) -> list[str]:
        """The literal paths below the data that it reads, such as ``data.port`` or ``Data``."""
        return []

    def files(self) -> list[str]:
        """The literal paths passed to ``file()``."""
        return []

    def template_calls(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the literal strings passed to ``template()`` or ``jet()`` with default delimiters,
        each with the function's name and the keywords.
        """
        return []

    def chooses(self) -> bool:
        """Whether it has parts that may not be evaluated, as in ``a if b else c``."""
        return False


class NamePath(Runnable):
    """``Data.web.port``. ``program`` creates the Jinja2 program on demand."""

    def __init__(self, source: str, program: Callable[[], Runnable]) -> None:
        self._root, *self._parts = source.split(".")
        self._attribute = self._root.lower()
        self._program = program

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value; raises the errors of Jinja2's program."""
        tree = getattr(scope, self._attribute)
        for part in self._parts:
            # the most common type; checking more types would dominate the run time
            is_map = tree.__class__ is dict or isinstance(tree, Mapping)
            if not is_map or part not in tree:
                return self._program().run(scope, more)
            tree = tree[part]
        return tree

    def data_paths(self) -> list[str]:
        return ["Data"] if self._root == "Data" else []


class Lookup(Runnable):
    """``lookup('data.web.port')``."""

    def __init__(self, path: str) -> None:
        self._path = path

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value; EvaluationError."""
        return scope.lookup(self._path)

    def data_paths(self) -> list[str]:
        return [self._path] if self._path.split(".")[0] == "data" else []


def plain_program(source: str, program: Callable[[], Runnable]) -> Runnable | None:
    """The program of a source that is a path, None for other sources; ``program``
    creates Jinja2's program.
    """
    if re.fullmatch(_NAME, source, re.ASCII):
        return NamePath(source, program)
    found = re.fullmatch(_LOOKUP, source)
    if found is None:
        return None
    path = found.group(1) if found.group(1) is not None else found.group(2)
    try:
        split_path(path)
    except BadPathError:
        return None  # the checks of the full language have the messages for it
    return Lookup(path)
