"""The expressions that are nothing but a path, done without Jinja2 (controller).

``Data.web.port`` and ``lookup('data.web.port')`` are most of what manifests hold. Loading Jinja2
takes longer than checking a manifest, and running it longer than all else that a resource of a
host's plan needs. Only the plain case is answered here: a key of a mapping that is there. Wherever
Jinja2 would look further, or has something to say, it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from orchestrator.expressions.scope import Scope
from orchestrator.language.names import VARIABLES
from orchestrator.language.paths import BadPathError, split_path

# ASCII only, and no name that the sandbox hides.
_NAME = rf"(?:{'|'.join(VARIABLES)})(?:\.[A-Za-z][A-Za-z0-9_]*)*"
_LOOKUP = r"""lookup\((?:'([^'\\\r\n]*)'|"([^"\\\r\n]*)")\)"""


class Runnable(Protocol):
    """A program: what an expression's source comes to."""

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any: ...

    def constant(self) -> tuple[bool, Any]: ...

    def data_paths(self) -> list[str]: ...

    def files(self) -> list[str]: ...

    def template_calls(self) -> list[tuple[str, str, tuple[str, ...]]]: ...

    def chooses(self) -> bool: ...


class _Plain:
    """What both kinds have in common: no literal that counts, no file."""

    def constant(self) -> tuple[bool, Any]:
        """It is no literal."""
        return False, None

    def files(self) -> list[str]:
        """It reads none."""
        return []

    def template_calls(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """It renders none."""
        return []

    def chooses(self) -> bool:
        """It has one value only."""
        return False


class NamePath(_Plain):
    """``Data.web.port``. ``program`` makes the Jinja2 program, when it is needed."""

    def __init__(self, source: str, program: Callable[[], Runnable]) -> None:
        self._root, *self._parts = source.split(".")
        self._attribute = self._root.lower()
        self._program = program

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value; whatever Jinja2's program raises."""
        tree = getattr(scope, self._attribute)
        for part in self._parts:
            # most are that; to ask for more than one kind takes longer than all of the rest
            is_map = tree.__class__ is dict or isinstance(tree, Mapping)
            if not is_map or part not in tree:
                return self._program().run(scope, more)
            tree = tree[part]
        return tree

    def data_paths(self) -> list[str]:
        """``Data`` as a whole, if it is that."""
        return ["Data"] if self._root == "Data" else []


class Lookup(_Plain):
    """``lookup('data.web.port')``."""

    def __init__(self, path: str) -> None:
        self._path = path

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value; EvaluationError."""
        return scope.lookup(self._path)

    def data_paths(self) -> list[str]:
        """The path, if it leads into the data."""
        return [self._path] if self._path.split(".")[0] == "data" else []


def plain_program(source: str, program: Callable[[], Runnable]) -> Runnable | None:
    """The program of a source that is a path, None for any other; ``program`` is Jinja2's."""
    if re.fullmatch(_NAME, source, re.ASCII):
        return NamePath(source, program)
    found = re.fullmatch(_LOOKUP, source)
    if found is None:
        return None
    path = found.group(1) if found.group(1) is not None else found.group(2)
    try:
        split_path(path)
    except BadPathError:
        return None  # the checks of the whole language have the words for it
    return Lookup(path)
