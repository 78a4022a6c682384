"""The functions that the expressions of a compiled template call (controller)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.language import value_types
from orchestrator.language.errors import OtherFactsError
from orchestrator.language.jet import operators
from orchestrator.language.jet.functions import FUNCTIONS
from orchestrator.language.jet.syntax import METHODS
from orchestrator.language.sandbox import Trusted

if TYPE_CHECKING:
    from orchestrator.language.jet.compiler import BlockBodies


class Frame:
    """The variables of one list of statements; ``blocks`` is set at the start of a template."""

    __slots__ = ("blocks", "parent", "variables")

    def __init__(
        self,
        parent: Frame | None,
        variables: dict[str, Any],
        blocks: Mapping[str, BlockBodies] | None = None,
    ) -> None:
        self.parent = parent
        self.variables = variables
        self.blocks = blocks or {}


class Caught:
    """The variable of ``catch``: the message, unescaped."""

    METHODS = ("Error",)

    def __init__(self, message: str) -> None:
        self.message = message

    def Error(self) -> str:  # noqa: N802 - Jet's own name
        """The message."""
        return self.message


class Operations(Trusted):
    """The variables and the context of a rendering, and operations on values.

    ``_at`` is the number of the position for errors.
    """

    def __init__(
        self, variables: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self._functions = {
            **{name: function.call for name, function in FUNCTIONS.items()},
            **functions,
        }
        self._frame = Frame(None, dict(variables))
        self._dot: Any = dict(variables)
        self._at = 0

    def _frame_of(self, name: str) -> Frame | None:
        frame: Frame | None = self._frame
        while frame is not None and name not in frame.variables:
            frame = frame.parent
        return frame

    def jet_get(self, name: str, at: int) -> Any:
        """The value of a variable."""
        self._at = at
        frame = self._frame_of(name)
        if frame is None:
            raise operators.MissingError(f"{name!r} is not set")
        return frame.variables[name]

    def jet_dot(self) -> Any:
        """The context."""
        return self._dot

    def jet_element(self, base: Any, key: Any, path: str, at: int) -> Any:
        """``base[key]``."""
        self._at = at
        return operators.element(base, key, path)

    def jet_cut(self, base: Any, low: Any, high: Any, path: str, at: int) -> Any:
        """``base[low:high]``."""
        self._at = at
        return operators.cut(base, low, high, path)

    def jet_call(self, name: str, at: int, *arguments: Any) -> Any:
        """The value of a function."""
        self._at = at
        return self._functions[name](*arguments)

    def jet_calculate(self, operator: str, left: Any, right: Any, at: int) -> Any:
        """Arithmetic."""
        self._at = at
        return operators.calculate(operator, left, right)

    def jet_compare(self, operator: str, left: Any, right: Any, at: int) -> bool:
        """Compare two values."""
        self._at = at
        return operators.compare(operator, left, right)

    def jet_equal(self, left: Any, right: Any) -> bool:
        """``==``."""
        return operators.equal(left, right)

    def jet_truth(self, value: Any) -> bool:
        """The truth value of a condition."""
        return operators.truth(value)

    def jet_method(self, value: Any, name: str, at: int) -> Any:
        """Call ``value.name()`` on an object that declares this method."""
        self._at = at
        if name not in getattr(type(value), "METHODS", ()):
            raise ValueError(f"{METHODS[name]} has {name}(), {value_types.kind(value)} does not")
        return getattr(value, name)()

    def jet_has(self, value: Any, keys: list[Any], nil: bool = False) -> bool:
        """Whether the keys exist below a value; nil counts as missing unless ``nil`` is set."""
        for key in keys:
            try:
                value = operators.element(value, key, "")
            except (operators.MissingError, OtherFactsError, ValueError):
                return False
        return nil or value is not None

    def jet_has_name(self, name: str, keys: list[Any]) -> bool:
        """Whether a variable is set, and the keys exist below it."""
        frame = self._frame_of(name)
        return frame is not None and self.jet_has(frame.variables[name], keys)

    def jet_has_path(self, path: Any, keys: list[Any], at: int) -> bool:
        """Whether ``lookup(path)`` finds a value."""
        self._at = at
        return self.jet_has(self._functions["lookup"](path, None), keys)
