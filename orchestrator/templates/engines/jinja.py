"""Jinja2 as the language of a folder (controller): whole templates in the sandbox of expressions.

What a template costs is bounded: the passes of its loops, its text, and the operations that the
sandbox bounds everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import jinja2
from jinja2 import TemplateError, TemplateNotFound, TemplateSyntaxError, nodes
from jinja2.filters import FILTERS
from jinja2.utils import Cycler, Joiner, Namespace

from orchestrator.language import bounds
from orchestrator.language.errors import EvaluationError, NeedFileError
from orchestrator.language.names import FUNCTIONS, template_variables
from orchestrator.language.sandbox import Missing, Sandbox, bounded_filter
from orchestrator.templates.engines.base import (
    MAX_STEPS,
    TREE_FUNCTIONS,
    Alone,
    Compiled,
    Turn,
    too_deep,
)
from remote_runtime.errors import CcmError, InputError, Position, Problem

# What expressions have no use for, but files do; the widths are bounded.
_FILTERS = ("batch", "center", "e", "escape", "indent", "slice", "wordwrap")
_COUNTED = "counted"
_FAILURES = (
    EvaluationError, TemplateError, ArithmeticError, LookupError, TypeError, ValueError,
    AttributeError, RecursionError,
)  # fmt: skip
_spent: ContextVar[list[int]] = ContextVar("spent")


class TreeSandbox(Sandbox):
    """Compiles whole templates; ``include``, ``import`` and ``extends`` find those of a folder."""

    def __init__(self, delimiters: tuple[str, str] | None, load: Callable[[str], Any]) -> None:
        super().__init__(Missing)
        self.variable_start_string, self.variable_end_string = delimiters or ("{{", "}}")
        self.keep_trailing_newline = True
        self.trim_blocks = True
        self.lstrip_blocks = True
        self.loader = jinja2.FunctionLoader(load)
        self.cache = {}
        for name in _FILTERS:
            self.filters[name] = bounded_filter(FILTERS[name])
        self.globals.update(namespace=Namespace, cycler=Cycler, joiner=Joiner)
        self.filters[_COUNTED] = _counted

    def join_path(self, template: str, parent: str) -> str:
        """Paths are those of the folder, wherever they stand."""
        return template

    def _generate(
        self, source: nodes.Template, name: Any, filename: Any, defer_init: bool = False
    ) -> str:
        """Jinja2's hook before code is made: let every loop count its passes."""
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(
                loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno, environment=self
            )
        return super()._generate(source, name, filename, defer_init)


def _counted(values: Any) -> Any:
    try:
        size = len(values)
    except TypeError:
        return _counting(values)
    _spend(size)
    return values


def _counting(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _spend(1)
        yield value


def _spend(steps: int) -> None:
    spent = _spent.get()
    spent[0] += steps
    if spent[0] > MAX_STEPS:
        raise bounds.TooLargeError(f"the loops take more than {MAX_STEPS} steps")


class JinjaTemplate:
    """One compiled template."""

    def __init__(self, template: jinja2.Template, name: str, literals: frozenset[str]) -> None:
        self._template = template
        self._name = name
        self._literals = literals

    def render(self, turn: Turn, context: Sequence[Any]) -> str:
        """See ``Compiled``: a map given to ``render()`` adds names."""
        names = _names(turn, self._literals)
        if context and isinstance(context[0], Mapping):
            names.update(context[0])
        outer = _spent.get(None)
        token = _spent.set([0] if outer is None else outer)
        try:
            return self._text(names)
        except NeedFileError:
            raise
        except _FAILURES as error:
            raise self._explained(error) from error
        finally:
            _spent.reset(token)

    def _text(self, names: dict[str, Any]) -> str:
        pieces, size = [], 0
        for piece in self._template.generate(names):
            size += len(piece)
            if size > bounds.MAX_TEXT:
                limit = bounds.MAX_TEXT >> 20
                raise bounds.TooLargeError(f"the template gives more than {limit} MiB of text")
            pieces.append(piece)
        return "".join(pieces)

    def _explained(self, error: Exception) -> EvaluationError:
        name, line = _place(error.__traceback__) or (self._name, 1)
        where = Position(name, line, 1)
        if isinstance(error, TemplateSyntaxError):  # of a template that is included
            where = Position(error.filename or name, error.lineno, 1)
        if isinstance(error, EvaluationError):
            error.where = error.where or where
            return error
        message = getattr(error, "message", None) or str(error) or type(error).__name__
        if isinstance(error, TemplateNotFound):
            message = f"there is no template {error.name!r} in the folder"
        if isinstance(error, RecursionError):
            message = "the template is nested too deeply"
        kind = "template.undefined" if isinstance(error, jinja2.UndefinedError) else ""
        return EvaluationError(message, where, error.kind if isinstance(error, CcmError) else kind)


class JinjaEngine(Alone):
    """``sources`` grow as templates are compiled; others may include them by path."""

    def __init__(self, delimiters: tuple[str, str] | None, prefix: str) -> None:
        self._prefix = prefix
        self._sources: dict[str, str] = {}
        self._sandbox = TreeSandbox(delimiters, self._load)
        self.openers = (self._sandbox.variable_start_string, "{%", "{#")

    def compile(self, path: str, text: str) -> JinjaTemplate:
        """See ``Engine``."""
        self._sources[path] = text
        name = self._prefix + path
        try:
            tree = self._sandbox.parse(text, path, name)
            literals = frozenset(
                node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)
            )
            return JinjaTemplate(self._sandbox.get_template(path), name, literals)
        except TemplateSyntaxError as error:
            where = Position(error.filename or name, error.lineno, 1)
            raise InputError([Problem(error.message or "", where, "", "template")]) from error
        except RecursionError as error:
            too_deep(name, error)

    def rendered(self, compiled: Compiled) -> Iterable[tuple[str, Position]]:
        """See ``Engine``: what ``render()`` is given shows when it is called."""
        return ()

    def _load(self, path: str) -> Any:
        text = self._sources.get(path)
        return None if text is None else (text, self._prefix + path, lambda: True)


def _names(turn: Turn, literals: frozenset[str]) -> dict[str, Any]:
    given = turn.names(literals)
    return {
        **template_variables(given),
        **{name: given[name] for name in FUNCTIONS},
        **{name: getattr(turn, name) for name in TREE_FUNCTIONS},
    }


def _place(traceback: TracebackType | None) -> tuple[str, int] | None:
    """The innermost line of a template: Jinja2 makes its frames look like code of the template."""
    found = None
    while traceback is not None:
        if "__jinja_exception__" in traceback.tb_frame.f_globals:
            found = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found
