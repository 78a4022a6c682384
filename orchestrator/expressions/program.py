"""An expression as Jinja2 sees it: parsed and checked at once, compiled when needed (controller).

Imported only once an expression is more than a plain path; see ``plain``.
"""

from __future__ import annotations

from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes

from inventory.document import nearest
from orchestrator.expressions.paths import BadPathError, split_path
from orchestrator.expressions.sandbox import Sandbox, sandbox
from orchestrator.expressions.scope import FUNCTIONS, VARIABLES, Scope

_KNOWN = (*VARIABLES, *FUNCTIONS, "range", "dict")
_FILE_FUNCTIONS = ("file", "readFile")
_JET_SIGNS = ("[[", "[*", "{*", "\n")


class Program:
    """What a source text comes to, wherever it stands. Thread-safe.

    ``problems`` are (message, hint); with any there is no tree.
    """

    def __init__(self, source: str, lenient: bool, extra: tuple[str, ...]) -> None:
        self._lenient = lenient
        self.problems: list[tuple[str, str]] = []
        self._tree = self._parse(source, extra)
        self._literals = frozenset(
            node.value for node in self._walk(nodes.Const) if isinstance(node.value, str)
        )
        self._compiled: Any = None

    def _walk(self, kind: type[Any]) -> list[Any]:
        return [] if self._tree is None else _walk(self._tree, kind)

    def _parse(self, source: str, extra: tuple[str, ...]) -> nodes.Expr | None:
        engine = sandbox(self._lenient)
        try:
            tree = engine.parse_expression(source)
            self.problems = _static_problems(tree, engine, (*_KNOWN, *extra))
        except TemplateSyntaxError as error:
            reason = (error.message or "").replace("end of template", "end of the expression")
            message = f"the expression {source!r} cannot be read: {reason}"
            self.problems = [(message, _syntax_hint(source))]
        except RecursionError:
            self.problems = [("the expression is nested too deeply", "split it")]
        return None if self.problems else tree

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value; ValueError in place of what Jinja2 raises, and whatever else comes of it."""
        names = scope.names(self._literals)
        if more:
            names.update(more)
        if self._compiled is None:
            assert self._tree is not None  # an expression is only made of a good program
            self._compiled = sandbox(self._lenient).compile_tree(self._tree)
        try:
            value = self._compiled(names)
            if isinstance(value, Undefined):
                value = "" if self._lenient else value._fail_with_undefined_error()
        except TemplateError as error:
            raise ValueError(error.message or type(error).__name__) from error
        return value

    def constant(self) -> tuple[bool, Any]:
        """Whether it is a mere literal, and its value."""
        tree = self._tree
        return (True, tree.value) if isinstance(tree, nodes.Const) else (False, None)

    def data_paths(self) -> list[str]:
        """What it literally reads of the data, such as ``data.port`` or ``Data``."""
        found = [name.name for name in self._walk(nodes.Name) if name.name == "Data"]
        paths = [] if self._tree is None else _literal_paths(self._tree)
        return found + [path for path in paths if path.split(".")[0] == "data"]

    def files(self) -> list[str]:
        """The paths that it literally gives to ``file()``."""
        return [] if self._tree is None else _literal_arguments(self._tree, _FILE_FUNCTIONS)

    def jet_files(self) -> list[str]:
        """The paths that it literally gives to ``jet()``, delimiters being the usual ones."""
        if self._tree is None:
            return []
        alone = [call for call in _calls(self._tree, ("jet",)) if len(call.args) == 1]
        given = [call.args[0] for call in alone]
        texts = [node.value for node in given if isinstance(node, nodes.Const)]
        texts = [text for text in texts if isinstance(text, str)]
        return [text for text in texts if not any(sign in text for sign in _JET_SIGNS)]


def _static_problems(
    tree: nodes.Expr, engine: Sandbox, known: tuple[str, ...]
) -> list[tuple[str, str]]:
    found = []
    for name in _walk(tree, nodes.Name):
        if name.name not in known:
            likely = nearest(name.name, known)
            hint = f"did you mean {likely}?" if likely else "known: " + ", ".join(known)
            found.append((f"{name.name!r} is not a name or function of templates", hint))
    for kind, table in ((nodes.Filter, engine.filters), (nodes.Test, engine.tests)):
        for node in _walk(tree, kind):
            if node.name not in table:
                likely = nearest(node.name, table)
                hint = f"did you mean {likely}?" if likely else ""
                found.append((f"there is no {kind.__name__.lower()} {node.name!r}", hint))
    for path in _literal_paths(tree):
        try:
            split_path(path)
        except BadPathError as error:
            found.append((f"lookup({path!r}): {error}", ""))
    for call in _calls(tree, ("jet",)):
        found += _jet_problems(call)
    return found


def _jet_problems(call: nodes.Call) -> list[tuple[str, str]]:
    """The mistakes of a Jet template that stands in the expression as a literal."""
    from orchestrator.templates.jet import Delimiters, text_problems

    given = [node.value for node in call.args if isinstance(node, nodes.Const)]
    if len(call.args) not in (1, 3) or call.kwargs:
        return [("jet() takes a template, and perhaps two delimiters", "")]
    if len(given) != len(call.args) or not all(isinstance(value, str) for value in given):
        return []  # known only once it is evaluated
    delimiters = Delimiters(*given[1:])
    if delimiters.problem():
        return [(f"jet(): {delimiters.problem()}", "")]
    return [(f"{p.where}: {p.message}", p.hint) for p in text_problems(given[0], delimiters)]


def _walk(tree: nodes.Expr, kind: type[Any]) -> list[Any]:
    found = list(tree.find_all(kind))
    return [tree, *found] if isinstance(tree, kind) else found


def _calls(tree: nodes.Expr, names: tuple[str, ...]) -> list[nodes.Call]:
    return [
        call
        for call in _walk(tree, nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in names
    ]


def _literal_arguments(tree: nodes.Expr, names: tuple[str, ...]) -> list[str]:
    return [
        call.args[0].value
        for call in _calls(tree, names)
        if call.args
        and isinstance(call.args[0], nodes.Const)
        and isinstance(call.args[0].value, str)
    ]


def _literal_paths(tree: nodes.Expr) -> list[str]:
    return _literal_arguments(tree, ("lookup",))


def _syntax_hint(source: str) -> str:
    for written, meant in (("&&", "and"), ("||", "or"), ("??", "lookup(path, default)")):
        if written in source:
            return f"write {meant} instead of {written}"
    return "write a Jinja2 expression, such as lookup('data.name')"
