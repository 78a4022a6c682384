"""One expression: checked when it is read, compiled when it is first needed (controller)."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes

from inventory.document import nearest
from orchestrator.expressions.bounds import TooLargeError
from orchestrator.expressions.errors import EvaluationError, NeedFileError
from orchestrator.expressions.paths import BadPathError, split_path
from orchestrator.expressions.sandbox import Sandbox, sandbox
from orchestrator.expressions.scope import FUNCTIONS, VARIABLES, Scope
from remote_runtime.errors import CcmError, InputError, Position, Problem

_KNOWN = (*VARIABLES, *FUNCTIONS, "range", "dict")
_FILE_FUNCTIONS = ("file", "readFile")


class Program:
    """What a source text comes to, wherever it stands: parsed once, compiled when first needed.

    ``problems`` are (message, hint); with any there is no tree.
    """

    def __init__(self, source: str, lenient: bool, extra: tuple[str, ...]) -> None:
        self.lenient = lenient
        self.problems: list[tuple[str, str]] = []
        self.tree = self._parse(source, extra)
        self.path = None if self.tree is None else _only_lookup(self.tree)
        self.literals = frozenset(
            node.value
            for node in (_walk(self.tree, nodes.Const) if self.tree is not None else ())
            if isinstance(node.value, str)
        )
        self._compiled: Any = None

    def _parse(self, source: str, extra: tuple[str, ...]) -> nodes.Expr | None:
        engine = sandbox(self.lenient)
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

    def run(self, names: dict[str, Any]) -> Any:
        """The value, perhaps an ``Undefined``; whatever Jinja2 raises."""
        if self._compiled is None:
            assert self.tree is not None
            self._compiled = sandbox(self.lenient).compile_tree(self.tree)
        return self._compiled(names)


_program = lru_cache(maxsize=8192)(Program)


class Expression:
    """A bare expression such as ``lookup('data.port') + 1``; immutable, shared by all threads."""

    __slots__ = ("_program", "source", "where")

    def __init__(self, source: str, where: Position | None, program: Program) -> None:
        self.source = source
        self.where = where
        self._program = program

    @classmethod
    def parse(
        cls,
        source: str,
        where: Position | None = None,
        lenient: bool = False,
        extra: tuple[str, ...] = (),
    ) -> Expression:
        """Check an expression; InputError with every problem that shows without facts and data.

        ``extra`` are names beyond those of a scope, given to ``evaluate`` as ``more``.
        """
        program = _program(source.strip(), lenient, extra)
        if program.problems:
            raise InputError([Problem(m, where, hint, "template") for m, hint in program.problems])
        return cls(source.strip(), where, program)

    def evaluate(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The value for this scope; EvaluationError, NeedFileError."""
        try:
            program = self._program
            if program.path is not None:
                return scope.lookup(program.path)
            names = scope.names(program.literals)
            if more:
                names.update(more)
            value = program.run(names)
            if isinstance(value, Undefined):
                value = "" if program.lenient else value._fail_with_undefined_error()
        except NeedFileError:
            raise
        except EvaluationError as error:
            if error.where is not None:
                raise
            raise type_with_position(error, self.where) from error
        except (TemplateError, TooLargeError, ArithmeticError, LookupError) as error:
            raise EvaluationError(self._explain(error), self.where) from error
        except (TypeError, ValueError, AttributeError, RecursionError, MemoryError) as error:
            raise EvaluationError(self._explain(error), self.where) from error
        return _as_json(value, self)

    def constant(self) -> tuple[bool, Any]:
        """Whether it is a mere literal, and its value."""
        tree = self._tree()
        return (True, tree.value) if isinstance(tree, nodes.Const) else (False, None)

    def data_paths(self) -> list[str]:
        """What the expression literally reads of the data, such as ``data.port`` or ``Data``."""
        found = [name.name for name in _walk(self._tree(), nodes.Name) if name.name == "Data"]
        return found + [
            path for path in _literal_paths(self._tree()) if path.split(".")[0] == "data"
        ]

    def target_files(self) -> list[str]:
        """The files of the target that it literally reads."""
        return [
            path
            for path in _literal_arguments(self._tree(), _FILE_FUNCTIONS)
            if path.startswith("/")
        ]

    def controller_files(self) -> list[str]:
        """The files beside the manifest that it literally reads with ``file()``."""
        paths = _literal_arguments(self._tree(), _FILE_FUNCTIONS)
        return [path for path in paths if path and not path.startswith("/")]

    def _tree(self) -> nodes.Expr:
        assert self._program.tree is not None  # an expression is only made of a good program
        return self._program.tree

    def _explain(self, error: Exception) -> str:
        if isinstance(error, CcmError):
            return error.message
        text = getattr(error, "message", None) or str(error) or type(error).__name__
        return f"{self.source}: {text}"


def type_with_position(error: EvaluationError, where: Position | None) -> EvaluationError:
    """Give an error the position of the expression that it came out of."""
    error.where = where
    return error


def _as_json(value: Any, expression: Expression) -> Any:
    """The value with JSON's types only, because it travels as JSON and is shown as YAML."""
    kind = value.__class__
    if kind is float and not isfinite(value):
        message = f"{expression.source}: gives {value}, which is not a number that travels"
        raise EvaluationError(message, expression.where)
    if kind in (str, int, bool, float) or value is None:
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _as_json(entry, expression) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [_as_json(entry, expression) for entry in value]
    message = f"{expression.source}: gives a {kind.__name__}, not text, a number, a list or a map"
    if kind.__name__ == "generator":
        message += "; put |list behind it"
    raise EvaluationError(message, expression.where)


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
    if any(True for _ in _calls(tree, ("jet",))):
        found.append(("jet() needs the Jet engine, which this version does not have", ""))
    return found


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


def _only_lookup(tree: nodes.Expr) -> str | None:
    """The path where the whole expression is ``lookup('path')``: the common case, done directly."""
    if not isinstance(tree, nodes.Call) or not _calls(tree, ("lookup",)):
        return None
    plain = not (tree.kwargs or tree.dyn_args or tree.dyn_kwargs) and len(tree.args) == 1
    if not plain or not isinstance(tree.node, nodes.Name) or tree.node.name != "lookup":
        return None
    argument = tree.args[0]
    literal = isinstance(argument, nodes.Const) and isinstance(argument.value, str)
    return argument.value if literal else None  # type: ignore[attr-defined]


def _syntax_hint(source: str) -> str:
    for written, meant in (("&&", "and"), ("||", "or"), ("??", "lookup(path, default)")):
        if written in source:
            return f"write {meant} instead of {written}"
    return "write a Jinja2 expression, such as lookup('data.name')"
