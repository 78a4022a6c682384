"""From the text of an expression to what evaluates it, with its mistakes (controller)."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.expressions.checks import Found, static_problems
from orchestrator.expressions.exprlang import PREFIX
from orchestrator.expressions.exprlang.evaluation import Compiled
from orchestrator.expressions.exprlang.lexer import ExpressionSyntaxError
from orchestrator.expressions.exprlang.library import FUNCTIONS
from orchestrator.expressions.exprlang.parser import parse
from orchestrator.expressions.sandbox import Sandbox

_LONG = 300
"""Longer texts are compiled at once, so that what is too deep for Python shows in time."""


class Reading(NamedTuple):
    """``compiled`` is None where there are problems; ``readable``: the syntax at least is right."""

    compiled: Compiled | None
    problems: list[Found]
    readable: bool


def read(source: str, known: tuple[str, ...], extra: tuple[str, ...], engine: Sandbox) -> Reading:
    """Read an expression in the merged grammar. ``extra`` names beat functions."""
    try:
        parsed = parse(source, extra)
        problems = static_problems(parsed.trees(), engine, known, PREFIX, FUNCTIONS)
        if problems:
            return Reading(None, problems, True)
        compiled = Compiled(engine, parsed)
        if len(source) > _LONG:
            compiled.compile_all()
    except ExpressionSyntaxError as error:
        message = f"the expression {shown(source)} cannot be read: {error.message}"
        return Reading(None, [(message, error.hint, error.at)], False)
    except (RecursionError, MemoryError, SyntaxError):
        return Reading(None, [("the expression is nested too deeply", "split it", 0)], False)
    return Reading(compiled, [], True)


def shown(source: str) -> str:
    """A source as it stands in a message."""
    return repr(source if len(source) <= 80 else source[:77] + "...")
