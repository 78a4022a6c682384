"""Go's text/template with Sprig, through the package gotpl (controller).

gotpl binds functions when a template is compiled, once per run; functions that depend on the host
find its rendering in a context variable.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestrator.language import cost_limits
from orchestrator.language.builtin_names import FUNCTIONS, added_names, template_variables
from orchestrator.language.errors import EvaluationError, NeedFileError
from orchestrator.language.other_hosts import OF_FACTS, OtherHost
from orchestrator.templates.engines.base import (
    MAX_DEPTH,
    MAX_STEPS,
    TREE_FUNCTIONS,
    Compiled,
    Rendering,
    StandaloneTemplate,
    too_deep,
)
from remote_runtime.errors import InputError, Position, Problem

if TYPE_CHECKING:
    import gotpl

_rendering: ContextVar[Rendering] = ContextVar("rendering")
_literals: ContextVar[frozenset[str]] = ContextVar("literals", default=frozenset())
_LITERAL = re.compile(r'"([^"\\\n]*)"')
_MISSING = re.compile(r"missing key or attribute '(.*)'\Z", re.DOTALL)
_REFUSED = ("getHostByName",)
_REPEATING = ("repeat", "indent", "nindent", "until", "untilStep", "seq", "abbrev", "wrap")
NEWEST_WITHOUT = (3, 10)


class GoTemplate:
    """One compiled template; ``name`` is its name in positions."""

    def __init__(self, template: gotpl.Template, text: str, name: str) -> None:
        self._template = template
        self._text = text
        self._name = name
        self._literals = frozenset(_LITERAL.findall(text))

    def render(self, rendering: Rendering, context: Sequence[Any]) -> str:
        """See ``Compiled``."""
        import gotpl

        token, spelled = _rendering.set(rendering), _literals.set(self._literals)
        try:
            return self._template.render(context[0] if context else _root(rendering))
        except gotpl.TemplateError as error:
            raise _explained(error, self._name, self._text) from error
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise EvaluationError(
                str(error) or type(error).__name__, Position(self._name, 1, 1)
            ) from error
        finally:
            _literals.reset(spelled)
            _rendering.reset(token)


class GoEngine(StandaloneTemplate):
    """Each template is independent; ``render`` runs another one."""

    def __init__(self, delimiters: tuple[str, str] | None, prefix: str) -> None:
        left, right = delimiters or ("{{", "}}")
        self._prefix = prefix
        self._delimiters = left, right
        self._environment = _environment(left, right)
        self.openers = (left,)

    def compile(self, path: str, text: str) -> GoTemplate:
        """See ``Engine``."""
        import gotpl

        name = self._prefix + path
        try:
            template = self._environment.from_string(text, name=name)
            self._check(text, name)
            return GoTemplate(template, text, name)
        except gotpl.TemplateSyntaxError as error:
            message = str(error).removeprefix(f"template:{error.line}:{error.column}: ")
            where = Position(name, error.line, error.column)
            raise InputError([Problem(message, where, _hint(message), "template")]) from error
        except RecursionError as error:
            too_deep(name, error)

    def _check(self, text: str, name: str) -> None:
        """InputError for a ``lookup`` with a path that a host could choose."""
        if "lookup" not in text:
            return
        from orchestrator.templates.engines.go_checks import lookup_problems

        problems = []
        for message, at in lookup_problems(text, self._delimiters, tuple(_functions())):
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            problems.append(Problem(message, Position(name, line, column), "", "template"))
        if problems:
            raise InputError(problems)

    def rendered(self, compiled: Compiled) -> Iterable[tuple[str, Position]]:
        """See ``Engine``; gotpl does not report these paths."""
        return ()


@cache
def _environment(left: str, right: str) -> gotpl.Environment:
    """Return the environment for templates with these delimiters; InputError if gotpl
    is not installed.
    """
    try:
        import gotpl
    except ImportError as error:
        raise InputError([_missing()]) from error
    functions = _functions()
    policy = gotpl.SandboxPolicy(
        allow_functions=functions,
        max_template_chars=cost_limits.MAX_TEXT,
        default_budget=gotpl.ExecutionBudget(
            max_output_chars=cost_limits.MAX_TEXT,
            max_iterations=MAX_STEPS,
            max_template_depth=MAX_DEPTH,
            max_function_calls=MAX_STEPS,
        ),
    )
    return gotpl.Environment(
        functions=functions, delimiters=(left, right), missing_key="error", sandbox=policy
    )


def _missing() -> Problem:
    if sys.version_info[:2] <= NEWEST_WITHOUT:
        newer = ".".join(map(str, (NEWEST_WITHOUT[0], NEWEST_WITHOUT[1] + 1)))
        hint = f"run ccm with Python {newer} or newer, then pip install 'ccm-push[go]'"
    else:
        hint = "pip install 'ccm-push[go]'"
    return Problem("the engine go requires the package gotpl, which is not installed", None, hint)


def _functions() -> dict[str, Callable[..., Any]]:
    from gotpl.funcs.sprig import text_func_map

    functions = {name: call for name, call in text_func_map().items() if name not in _REFUSED}
    for name in _REPEATING:
        functions[name] = _bounded(functions[name])
    for name in FUNCTIONS:
        functions[name] = _of_scope(name)
    for name in TREE_FUNCTIONS:
        functions[name] = _of_turn(name)
    functions["env"] = lambda name: _given("Environ").get(name, "")
    functions["expandenv"] = _expandenv
    return functions


def _bounded(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose numeric arguments determine the size of its result."""

    def checked(*arguments: Any) -> Any:
        """The function, which refuses numbers that are too large. ValueError."""
        cost_limits.check_numbers(arguments)
        return call(*arguments)

    return checked


def _given(name: str) -> Any:
    """A value of the host's rendering, by name."""
    return _rendering.get().names(frozenset())[name]


def _of_scope(name: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        """Call the function of the current scope."""
        # A file must be in the directory, literal or not; a bucket and a secret must be literal.
        spelled = _literals.get() if name in ("kvGet", "secret") else frozenset()
        return _rendering.get().names(spelled)[name](*arguments)

    return call


def _of_turn(name: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        """Call the function of the current rendering."""
        return getattr(_rendering.get(), name)(*arguments)

    return call


def _expandenv(text: str) -> str:
    from string import Template

    class Environment(dict[str, str]):
        def __missing__(self, key: str) -> str:
            """The variable of this name; empty for an unknown one."""
            return str(_given("Environ").get(key, ""))

    return Template(text).safe_substitute(Environment())


def _root(rendering: Rendering) -> dict[str, Any]:
    """The initial dot. Sprig can change maps, so each rendering has its own copies."""
    if "root" not in rendering.cache:
        given = dict(rendering.names(frozenset()))
        given["Facts"] = given["Facts"].copied()
        given.update({name: copy.deepcopy(given[name]) for name in ("Data", "Host")})
        given["Asked"] = given["Asked"].copied()
        given["Environ"] = given["Environ"].reporting_to(given["Environ"].secrets_read)
        rendering.cache["root"] = {**template_variables(given), **copy.deepcopy(added_names(given))}
    root: dict[str, Any] = rendering.cache["root"]
    return root


def _explained(error: gotpl.TemplateError, name: str, text: str) -> EvaluationError | NeedFileError:
    """The error of a rendering: one of ours that gotpl passed on, or gotpl's own with a
    position.
    """
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    where = Position(getattr(error, "source_name", None) or name, line or 1, column or 1)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, NeedFileError):
            return cause
        if isinstance(cause, EvaluationError):
            cause.where = cause.where or where
            return cause
        cause = cause.__cause__ or cause.__context__
    message = getattr(error, "message", "") or str(error)
    missing = _MISSING.match(message)
    if missing is None or where.file != name:
        return EvaluationError(message, where, "template.undefined" if missing else "")
    return _nothing(missing[1], text, where)


def _nothing(key: str, text: str, where: Position) -> EvaluationError:
    """The message for a missing key, with the path as written in the template."""
    lines = text.splitlines()[where.line - 1 :]
    rest = "\n".join(lines)[where.column - 1 :]
    found = re.search(rf"[$\w]*(?:\.\w+)*\.{re.escape(key)}\b", rest)
    path = found[0].lstrip(".") if found else ""
    parts = path.split(".")
    if key in OF_FACTS and parts[0] == "Hosts":
        host = _given("Hosts").get(parts[1])
        if isinstance(host, OtherHost):
            refusal = host.unavailable()
            refusal.where = where
            return refusal
    message = f"{path}: there is no key {key!r}" if path else f"there is no key {key!r}"
    if key in OF_FACTS and parts[0] != "Facts":
        message += "; the facts of a host may not be known: 'ccm facts -l HOST' gathers them"
    return EvaluationError(message, where, "template.undefined")


def _hint(message: str) -> str:
    from remote_runtime.text.suggestions import nearest

    if not message.startswith("function '"):
        return ""
    likely = nearest(message.split("'")[1], _functions())
    return f"did you mean {likely}?" if likely else "see the functions of Sprig"
