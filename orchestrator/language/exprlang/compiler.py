"""Compiles the text of an expression, and reports its mistakes (controller)."""

from orchestrator.language.cursor import ParseError
from orchestrator.language.expression_checks import Finding, Vocabulary, static_problems
from orchestrator.language.exprlang import PREFIX
from orchestrator.language.exprlang.builtins import FUNCTIONS
from orchestrator.language.exprlang.evaluation import Compiled
from orchestrator.language.exprlang.parser import parse

_LONG = 150
"""Longer strings are compiled immediately, so that nesting too deep for Python is detected
in time.
"""


def read(source: str, vocabulary: Vocabulary) -> tuple[Compiled | None, list[Finding]]:
    """Read an expression in the merged grammar; None with the problems if there are any."""
    try:
        parsed = parse(source, vocabulary.known, vocabulary.extra)
        problems = static_problems(parsed.trees(), vocabulary, PREFIX, FUNCTIONS)
        if problems:
            return None, problems
        compiled = Compiled(vocabulary.engine, parsed)
        if len(source) > _LONG:
            compiled.compile_all()
    except ParseError as error:
        message = f"the expression {shortened_source(source)} cannot be parsed: {error.message}"
        return None, [(message, error.hint, error.at)]
    except (RecursionError, MemoryError, SyntaxError):
        return None, [("the expression is nested too deeply", "split it", 0)]
    return compiled, []


def shortened_source(source: str) -> str:
    """Return a source in the short form for messages."""
    return repr(source if len(source) <= 80 else source[:77] + "...")
