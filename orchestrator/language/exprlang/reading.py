"""From the text of an expression to what evaluates it, with its mistakes (controller)."""

from __future__ import annotations

from orchestrator.language.checks import Found, static_problems
from orchestrator.language.exprlang import PREFIX
from orchestrator.language.exprlang.evaluation import Compiled
from orchestrator.language.exprlang.lexer import ExpressionSyntaxError
from orchestrator.language.exprlang.library import FUNCTIONS
from orchestrator.language.exprlang.parser import parse
from orchestrator.language.sandbox import Sandbox

_LONG = 150
"""Longer texts are compiled at once, so that what is too deep for Python shows in time."""


def read(
    source: str, known: tuple[str, ...], extra: tuple[str, ...], engine: Sandbox
) -> tuple[Compiled | None, list[Found]]:
    """Read an expression in the merged grammar; None with the problems where there are any.

    ``known`` are the names of a scope, of which the ``extra`` ones beat functions.
    """
    try:
        parsed = parse(source, known, extra)
        problems = static_problems(parsed.trees(), engine, known, PREFIX, FUNCTIONS)
        if problems:
            return None, problems
        compiled = Compiled(engine, parsed)
        if len(source) > _LONG:
            compiled.compile_all()
    except ExpressionSyntaxError as error:
        message = f"the expression {shown(source)} cannot be read: {error.message}"
        return None, [(message, error.hint, error.at)]
    except (RecursionError, MemoryError, SyntaxError):
        return None, [("the expression is nested too deeply", "split it", 0)]
    return compiled, []


def shown(source: str) -> str:
    """A source as it stands in a message."""
    return repr(source if len(source) <= 80 else source[:77] + "...")
