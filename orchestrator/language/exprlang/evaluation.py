"""Evaluates expr-lang's operators and the predicates of one expression (controller)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import StrictUndefined, Undefined

from orchestrator.language import cost_limits, value_types
from orchestrator.language.exprlang import PREFIX, values
from orchestrator.language.exprlang.builtins import FUNCTIONS, Function
from orchestrator.language.exprlang.parser import Body, Parsed
from orchestrator.language.exprlang.regex import RegexError, compile_regex
from orchestrator.language.exprlang.string_functions import ends_with, starts_with
from orchestrator.language.sandbox import Sandbox, Trusted

RUN_COST = 10
"""One run of a predicate costs this many entries of ``values.MAX_ENTRIES``."""
STEPS = 500
"""This many steps of a regular expression cost as much as one entry."""


class _Value:
    """An existing value, so that ``Or`` accepts it with any content."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Compiled:
    """The bodies of one expression, each compiled on first use; shared by all threads."""

    def __init__(self, engine: Sandbox, parsed: Parsed) -> None:
        self.engine = engine
        self.parsed = parsed
        self._compiled: dict[int, Callable[[dict[str, Any]], Any]] = {}

    def evaluate(self, names: dict[str, Any]) -> Any:
        """The value of the whole expression, perhaps an ``Undefined``."""
        evaluation = Evaluation(self)
        names.update(evaluation.operations(self.parsed.names))
        return evaluation.run(-1, names)

    def compile_all(self) -> None:
        """Compile every body; RecursionError, MemoryError or SyntaxError if one is
        nested too deeply.
        """
        for number in range(-1, len(self.parsed.bodies)):
            self.program(number)

    def body(self, number: int) -> Body:
        """A body; -1 is the whole expression."""
        return self.parsed.whole if number < 0 else self.parsed.bodies[number]

    def program(self, number: int) -> Callable[[dict[str, Any]], Any]:
        """A body's compiled form."""
        found = self._compiled.get(number)
        if found is None:
            found = self._compiled[number] = self.engine.compile_tree(self.body(number).tree)
        return found


class Evaluation(Trusted):
    """One evaluation. A tree may call its public operators, prefixed with ``PREFIX``."""

    def __init__(self, compiled: Compiled) -> None:
        self._expression = compiled
        self._left = values.MAX_ENTRIES

    def operations(self, wanted: frozenset[str]) -> dict[str, Any]:
        """The operations that the names of a tree refer to."""
        found: dict[str, Any] = {}
        for name in wanted:
            word = name[len(PREFIX) :]
            if word.startswith("f_"):
                found[name] = _Call(self, FUNCTIONS[word[2:]]).call
            elif word in _OPERATIONS:
                found[name] = getattr(self, _OPERATIONS[word])
        return found

    def run(self, number: int, names: dict[str, Any]) -> Any:
        """Evaluate one body; its own bodies can read its names."""
        for child in self._expression.body(number).children:
            names[f"{PREFIX}body_{child}"] = _Bound(self, child, names)
        return self._expression.program(number)(names)

    def charge(self, value: Any) -> Any:
        """Add the size of a body's result; TooLargeError."""
        self.spend(RUN_COST + values.size(value, max(self._left, 0)))
        return value

    def spend(self, entries: int) -> None:
        """Add work, in units of list entries; TooLargeError."""
        self._left -= entries
        if self._left < 0:
            raise cost_limits.TooLargeError("it takes too many steps")

    def settled(self, value: Any) -> Any:
        """Return the value; a missing value is an error if it is strict, else ""."""
        if not isinstance(value, Undefined):
            return value
        return value._fail_with_undefined_error() if isinstance(value, StrictUndefined) else ""

    def truth(self, value: Any, sign: str) -> bool:
        """The value of an operator that accepts only true or false."""
        found = self.settled(value)
        if isinstance(found, bool):
            return found
        raise ValueError(f"{sign} takes true or false, not {value_types.kind(found)}")

    def hold(self, value: Any) -> _Value | None:
        """Store the left side of ``??``."""
        return None if self.missing(value) else _Value(value)

    def release(self, value: Any) -> Any:
        """Return the result of ``??``."""
        return value.value if isinstance(value, _Value) else value

    def missing(self, value: Any) -> bool:
        """Whether the value is nil or missing."""
        return value is None or isinstance(value, Undefined)

    def member(self, value: Any, key: Any, optional: bool) -> Any:
        """A member in a chain with ``?.``, which ends at the first missing value."""
        if value is _NOTHING or (optional and self.missing(value)):
            return _NOTHING
        engine = self._expression.engine
        found = self.settled(value)
        return engine.getattr(found, key) if isinstance(key, str) else engine.getitem(found, key)

    def chain(self, value: Any) -> Any:
        """The end of a chain with ``?.``."""
        return None if value is _NOTHING or isinstance(value, Undefined) else value

    def range(self, first: Any, last: Any) -> list[int]:
        """``first..last``."""
        low, high = (value_types.whole("..", self.settled(end)) for end in (first, last))
        return list(cost_limits.bounded_range(low, high + 1))

    def concat(self, left: Any, right: Any) -> str:
        """``left ~ right``."""
        texts = [str(self.settled(value)) for value in (left, right)]
        cost_limits.check_size(sum(map(len, texts)), cost_limits.MAX_TEXT, "the text")
        return "".join(texts)

    def power(self, left: Any, right: Any) -> float:
        """``left ^ right``, whose result is never an integer."""
        sides = (value_types.number("^", self.settled(side)) for side in (left, right))
        base, exponent = map(float, sides)
        if base < 0 and not exponent.is_integer():
            raise ValueError("^ with a negative base requires a whole number as the exponent")
        return float(base**exponent)

    def key(self, value: Any) -> str:
        """The key of a map, if it is computed."""
        return values.text(self.settled(value))

    def contains(self, text: Any, part: Any) -> bool:
        """``text contains part``."""
        text, part = self.settled(text), self.settled(part)
        if isinstance(text, list | tuple | Mapping):
            raise ValueError("contains takes text; write part in list")
        value_types.texts("contains", text, part)
        return part in text

    def starts_with(self, text: Any, part: Any) -> bool:
        """``text startsWith part``."""
        return starts_with(self.settled(text), self.settled(part))

    def ends_with(self, text: Any, part: Any) -> bool:
        """``text endsWith part``."""
        return ends_with(self.settled(text), self.settled(part))

    def matches(self, text: Any, pattern: Any) -> bool:
        """``text matches pattern``."""
        text, pattern = self.settled(text), self.settled(pattern)
        value_types.texts("matches", text, pattern)
        try:
            regex = compile_regex(str(pattern))
        except RegexError as error:
            raise ValueError(f"matches {pattern[:60]!r}: {error}") from error
        self.spend(regex.steps(text) // STEPS)
        return regex.search(text)

    def let(self, value: Any, name: str, body: _Bound) -> Any:
        """``let name = value; body``."""
        return body.let(name, self.charge(self.settled(value)))


_NOTHING = object()
_OPERATIONS = {
    **{name: name for name in (
        "truth", "hold", "release", "missing", "member", "chain", "range", "concat", "power", "key",
        "contains", "matches", "let",
    )},
    "startsWith": "starts_with",
    "endsWith": "ends_with",
}  # fmt: skip


class _Bound:
    """A body together with the names that it can read; a predicate if it is called."""

    __slots__ = ("_evaluation", "_names", "_number")

    def __init__(self, evaluation: Evaluation, number: int, names: dict[str, Any]) -> None:
        self._evaluation = evaluation
        self._number = number
        self._names = names

    def __call__(self, entry: Any, index: int, acc: Any = None) -> Any:
        more = {f"{PREFIX}it": entry, f"{PREFIX}index": index, f"{PREFIX}acc": acc}
        found = self._evaluation.run(self._number, {**self._names, **more})
        return self._evaluation.charge(self._evaluation.settled(found))

    def let(self, name: str, value: Any) -> Any:
        """Return the result with one more name."""
        return self._evaluation.run(self._number, {**self._names, name: value})


class _Call(Trusted):
    """A function of the library, called with existing values."""

    __slots__ = ("_evaluation", "_function")

    def __init__(self, evaluation: Evaluation, function: Function) -> None:
        self._evaluation = evaluation
        self._function = function

    def call(self, *arguments: Any) -> Any:
        """Return the value of the function; ValueError."""
        given = [self._evaluation.settled(argument) for argument in arguments]
        self._evaluation.spend(sum(map(values.breadth, given)))
        return self._function.call(*given)
