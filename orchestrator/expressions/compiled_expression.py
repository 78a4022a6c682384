"""An expression as a Jinja2 program: parsed and checked immediately, compiled on demand
(controller).

Imported only for expressions that are more than a simple path; see ``simple_paths``.
"""

from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes

from orchestrator.expressions.scope import FUNCTIONS, Scope
from orchestrator.expressions.simple_paths import Runnable
from orchestrator.language.builtin_names import TEMPLATE_FUNCTIONS, VARIABLES
from orchestrator.language.expression_checks import (
    Finding,
    Vocabulary,
    calls,
    literal_arguments,
    static_problems,
    walk,
)
from orchestrator.language.sandbox import UnknownFacts, sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.language.exprlang.evaluation import Compiled

_KNOWN = (*VARIABLES, *FUNCTIONS, "range", "dict")
_FILE_FUNCTIONS = ("file", "readFile")


class Program(Runnable):
    """The program of a source text, wherever it occurs. Thread-safe.

    Text that Jinja2 can parse has Jinja2's meaning. Other text is parsed as expr-lang, into the
    same kind of syntax tree. ``problems`` are (message, hint, offset); if there are any, there is
    no tree.
    """

    def __init__(self, source: str, lenient: bool, extra: tuple[str, ...]) -> None:
        self._lenient = lenient
        self._compiled: Any = None
        self._exprlang: Compiled | None = None
        self._trees: Sequence[nodes.Expr] = ()
        self.problems: list[Finding] = []
        self._parse(source, extra)
        self._literals = frozenset(
            node.value
            for node in self._walk(nodes.Const)
            if isinstance(node.value, str) and node.lineno is not None
        )

    def _walk(self, kind: type[Any]) -> list[Any]:
        return walk(self._trees, kind)

    def _parse(self, source: str, extra: tuple[str, ...]) -> None:
        vocabulary = Vocabulary(sandbox(self._lenient), (*_KNOWN, *extra), extra, _jet_problems)
        try:
            tree = vocabulary.engine.parse_expression(source)
            if not static_problems([tree], vocabulary):
                self._trees = [tree]
                return
        except (TemplateSyntaxError, ValueError):
            pass  # a number with too many digits is a ValueError
        except RecursionError:
            self.problems = [("the expression is nested too deeply", "split it", 0)]
            return
        from orchestrator.language.exprlang.compiler import read

        self._exprlang, self.problems = read(source, vocabulary)
        if self._exprlang is not None:
            self._trees = self._exprlang.parsed.trees()

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """Return the value; ValueError instead of Jinja2's errors, or another evaluation error."""
        names = scope.names(self._literals)
        if more:
            names.update(more)
        try:
            value = self._evaluate(names)
            if isinstance(value, Undefined):
                is_empty = self._lenient and not isinstance(value, UnknownFacts)
                value = "" if is_empty else value._fail_with_undefined_error()
        except TemplateError as error:
            raise ValueError(error.message or type(error).__name__) from error
        return value

    def _evaluate(self, names: dict[str, Any]) -> Any:
        if self._exprlang is not None:
            return self._exprlang.evaluate(names)
        if self._compiled is None:
            self._compiled = sandbox(self._lenient).compile_tree(self._trees[0])
        return self._compiled(names)

    def constant(self) -> tuple[bool, Any]:
        tree = self._trees[0] if self._trees else None
        return (True, tree.value) if isinstance(tree, nodes.Const) else (False, None)

    def data_paths(self) -> list[str]:
        found = [name.name for name in self._walk(nodes.Name) if name.name == "Data"]
        paths = literal_arguments(self._trees, ("lookup",))
        return found + [path for path in paths if path.split(".")[0] == "data"]

    def chooses(self) -> bool:
        return any(map(self._walk, (nodes.CondExpr, nodes.And, nodes.Or)))

    def files(self) -> list[str]:
        return literal_arguments(self._trees, _FILE_FUNCTIONS)

    def template_calls(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """See ``Runnable``. Only calls with one literal argument count."""
        alone = [call for call in calls(self._trees, TEMPLATE_FUNCTIONS) if len(call.args) == 1]
        return [
            (call.node.name, call.args[0].value, tuple(word.key for word in call.kwargs))
            for call in alone
            if isinstance(call.node, nodes.Name)
            and isinstance(call.args[0], nodes.Const)
            and isinstance(call.args[0].value, str)
        ]


def _jet_problems(call: nodes.Call) -> list[tuple[str, str]]:
    """The mistakes of a literal Jet template in the expression."""
    from orchestrator.language.jet import Delimiters, text_problems

    given = [node.value for node in call.args if isinstance(node, nodes.Const)]
    if len(call.args) not in (1, 3):
        return [("jet() takes a template and optionally two delimiters", "")]
    if len(given) != len(call.args) or not all(isinstance(value, str) for value in given):
        return []  # known only at evaluation
    delimiters = Delimiters(*given[1:])
    if delimiters.problem():
        return [(f"jet(): {delimiters.problem()}", "")]
    return [(f"{p.where}: {p.message}", p.hint) for p in text_problems(given[0], delimiters)]
