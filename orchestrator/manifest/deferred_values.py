"""Data values that are resolved on first use (controller).

A value may read other values of ``Data``, so templates in data are rendered when they are read, not
in the order of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from orchestrator.expressions import EvaluationError, Scope
from orchestrator.expressions.template import Template, TemplatedList, TemplatedMap

CIRCLE = "data.circle"
_UNKNOWN = object()


class Deferred:
    """A value that is computed once, on first use; ``path`` is its location in the data.

    ``active`` has the values that are being computed, outermost first; all values of a host share
    this list.
    """

    __slots__ = ("_compute", "_value", "active", "path")

    def __init__(self, active: list[Deferred], path: str, compute: Callable[[], Any]) -> None:
        self.active = active
        self.path = path
        self._compute = compute
        self._value: Any = _UNKNOWN

    def force(self) -> Any:
        """The value; EvaluationError, also for a circular reference."""
        if self._value is _UNKNOWN:
            if self in self.active:
                raise EvaluationError(self._circle(), kind=CIRCLE)
            self.active.append(self)
            try:
                self._value = plain(self._compute())
            finally:
                self.active.pop()
        return self._value

    def _circle(self) -> str:
        begin = self.active.index(self)
        paths = [one.path for one in self.active[begin:]]
        steps = [path for at, path in enumerate(paths) if not at or path != paths[at - 1]]
        if len(steps) == 1 or steps[-1] != steps[0]:
            steps.append(steps[0])
        return f"the value refers to itself: {' → '.join(steps)}"


class DeferredMap(dict[str, Any]):
    """A map of deferred values; reading one computes it."""

    def __getitem__(self, key: str) -> Any:
        value = dict.__getitem__(self, key)
        return value.force() if isinstance(value, Deferred) else value

    def __iter__(self) -> Iterator[str]:  # overridden, so that copies also use __getitem__
        return dict.__iter__(self)

    def __eq__(self, other: object) -> bool:
        return bool(plain(self) == other)

    __hash__ = None

    def __repr__(self) -> str:
        return repr(plain(self))

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default."""
        value = dict.get(self, key, default)
        return value.force() if isinstance(value, Deferred) else value

    def values(self) -> Any:
        """All values."""
        return [self[key] for key in self]

    def items(self) -> Any:
        """All keys with their values."""
        return [(key, self[key]) for key in self]

    def copy(self) -> dict[str, Any]:
        """The map with all values."""
        return dict(self.items())


def plain(value: Any) -> Any:
    """The value, with everything below it computed; EvaluationError."""
    if isinstance(value, Deferred):
        return value.force()
    if isinstance(value, DeferredMap):
        return {key: plain(below) for key, below in value.items()}
    return value


def raw_items(value: Any) -> list[tuple[str, Any]]:
    """The entries of a map, without computing deferred ones."""
    return list(dict.items(value) if isinstance(value, dict) else value.items())


def raw_copy(value: Any) -> dict[str, Any]:
    """A copy of a map that keeps deferred values deferred."""
    return DeferredMap(raw_items(value)) if isinstance(value, DeferredMap) else dict(value)


class Resolver:
    """Binds the templates of one host's data to their scope: a ``Data`` whose map is ``root``."""

    def __init__(self, scope: Scope) -> None:
        self.root = DeferredMap()
        self._scope = scope._replace(data=self.root)
        self._active: list[Deferred] = []

    def bind(self, value: Any, path: str) -> Any:
        """A compiled value with deferred templates; values without templates are shared."""
        if isinstance(value, TemplatedMap):
            return DeferredMap(
                (str(key), self.bind(below, f"{path}.{key}")) for key, below in value.entries
            )
        if isinstance(value, TemplatedList):
            entries = value.entries

            def whole() -> list[Any]:
                """The list with every value computed."""
                return [plain(self.bind(below, path)) for below in entries]

            return Deferred(self._active, path, whole)
        if isinstance(value, Template):
            return Deferred(self._active, path, lambda: value.render(self._scope))
        return value

    def begin(self, data: dict[str, Any]) -> None:
        """Set the values of ``Data``, computed or not."""
        dict.update(self.root, raw_items(data))

    def finish(self, data: dict[str, Any]) -> dict[str, Any]:
        """The data with every value computed; EvaluationError."""
        dict.update(self.root, raw_items(data))
        found: dict[str, Any] = plain(self.root)
        return found
