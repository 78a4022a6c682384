"""One expression: checked when it is parsed, evaluated for each host (controller)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from orchestrator.expressions.scan import TemplateCall
from orchestrator.expressions.scope import Scope
from orchestrator.expressions.simple_paths import Runnable, plain_program
from orchestrator.language.builtin_names import VIEWS
from orchestrator.language.errors import EvaluationError, NeedFileError
from remote_runtime.errors import CcmError, InputError, Position, Problem

if TYPE_CHECKING:
    from orchestrator.expressions.compiled_expression import Program

MAX_ENTRIES = 1_000_000
_PER_ENTRY = 64  # characters that count as one entry in a string longer than _LONG
_LONG = 4096


@lru_cache(maxsize=8192)
def _full(source: str, lenient: bool, extra: tuple[str, ...]) -> Program:
    from orchestrator.expressions.compiled_expression import Program

    return Program(source, lenient, extra)


@lru_cache(maxsize=8192)
def _program(
    source: str, lenient: bool, extra: tuple[str, ...]
) -> tuple[Runnable, list[tuple[str, str, int]]]:
    """The fastest program for a source, and its problems."""
    plain = None if extra else plain_program(source, lambda: _full(source, lenient, extra))
    if plain is not None:
        return plain, []
    program = _full(source, lenient, extra)
    return program, program.problems


class Expression:
    """A bare expression such as ``lookup('data.port') + 1``; immutable, shared by all threads."""

    __slots__ = ("_program", "source", "where")

    def __init__(self, source: str, where: Position | None, program: Runnable) -> None:
        self.source = source
        self.where = where
        self._program = program

    @classmethod
    def parse(
        cls,
        source: str,
        where: Position | None = None,
        *,
        lenient: bool = False,
        extra: tuple[str, ...] = (),
        locate: Callable[[int], Position | None] | None = None,
    ) -> Expression:
        """Check an expression; InputError with every problem that can be found without facts or
        data.

        ``extra`` has names in addition to those of a scope, which are passed to ``evaluate`` as
        ``more``. ``locate`` returns the position of an offset in the source, ``where`` is that of
        the whole expression.
        """
        text = source.strip()
        program, problems = _program(text, lenient, extra)
        if problems:
            before = len(source) - len(source.lstrip())
            raise InputError(
                [
                    Problem(message, locate(before + at) if locate else where, hint, "template")
                    for message, hint, at in sorted(problems, key=lambda found: found[2])
                ]
            )
        return cls(text, where, program)

    def evaluate(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value for this scope; EvaluationError, NeedFileError."""
        try:
            return _as_json(self._program.run(scope, more), self)
        except NeedFileError:
            raise
        except EvaluationError as error:
            if error.where is not None:
                raise
            raise error_at(error, self.where) from error
        except (
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            RecursionError,
            MemoryError,
            AssertionError,  # some of Jinja2's filters raise AssertionError
        ) as error:
            raise EvaluationError(self._explain(error), self.where) from error

    def constant(self) -> tuple[bool, Any]:
        """Whether it is a literal, and its value."""
        return self._program.constant()

    def data_paths(self) -> list[str]:
        """The literal paths below the data that it reads, such as ``data.port`` or ``Data``."""
        return self._program.data_paths()

    def chooses(self) -> bool:
        """Whether it has parts that may not be evaluated, as in ``a if b else c``."""
        return self._program.chooses()

    def target_files(self) -> list[str]:
        """The target files that it reads under literal paths."""
        return [path for path in self._program.files() if path.startswith("/")]

    def controller_files(self) -> list[str]:
        """The literal paths of local files that it reads with ``file()``."""
        return [path for path in self._program.files() if path and not path.startswith("/")]

    def template_calls(self) -> list[TemplateCall]:
        """The literal calls of ``template()`` or ``jet()``."""
        found = [TemplateCall(*call) for call in self._program.template_calls()]
        return [call for call in found if call.text and not call.text.startswith("/")]

    def _explain(self, error: Exception) -> str:
        if isinstance(error, CcmError):
            return error.message
        if isinstance(error, RecursionError):
            return f"{self.source}: its argument is nested too deeply"
        text = getattr(error, "message", None) or str(error) or type(error).__name__
        from orchestrator.language.call_errors import of_call

        return f"{self.source}: {of_call(text)}"


def error_at(error: EvaluationError, where: Position | None) -> EvaluationError:
    """Add the position of the expression to an error that it raised."""
    error.where = where
    return error


def _as_json(value: Any, expression: Expression, left: list[int] | None = None) -> Any:
    """The value as JSON types, because it is sent as JSON and shown as YAML.

    ``left`` is the number of entries that it may still have: a list in a list is copied each time.
    """
    kind = value.__class__
    if kind is float and not isfinite(value):
        message = f"{expression.source} returns {value}, which is not a finite number"
        raise EvaluationError(message, expression.where)
    if kind in (str, int, bool, float) or value is None:
        if left is not None and kind is str and len(value) > _LONG:
            _count(len(value) // _PER_ENTRY, left, expression)
        return value
    if isinstance(value, str):
        return str(value)
    left = [MAX_ENTRIES] if left is None else left
    if isinstance(value, dict):
        _count(len(value), left, expression)
        return {str(key): _as_json(entry, expression, left) for key, entry in value.items()}
    if isinstance(value, VIEWS):
        value = list(value)
    if isinstance(value, list | tuple | range):
        _count(len(value), left, expression)
        return [_as_json(entry, expression, left) for entry in value]
    from jinja2 import Undefined  # what gave such a value has loaded it

    if isinstance(value, Undefined):
        return _missing(value, expression)
    steps = hasattr(value, "__next__")  # of items, map, reverse and the like
    given = "generator" if steps else kind.__name__
    message = f"{expression.source} returns a {given}, not text, a number, a list or a map"
    if steps:
        message += "; add |list to it"
    raise EvaluationError(message, expression.where)


def _missing(value: Any, expression: Expression) -> str:
    """The value of a missing path in a list or a map; EvaluationError if it is not empty."""
    from jinja2 import TemplateError

    from orchestrator.language.sandbox import Empty

    if isinstance(value, Empty):
        return ""
    try:
        value._fail_with_undefined_error()
    except TemplateError as error:
        raise EvaluationError(f"{expression.source}: {error.message}", expression.where) from error
    return ""


def _count(entries: int, left: list[int], expression: Expression) -> None:
    left[0] -= entries
    if left[0] < 0:
        message = f"{expression.source} returns more than {MAX_ENTRIES} entries in total"
        raise EvaluationError(message, expression.where)
