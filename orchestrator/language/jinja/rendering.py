"""Renders a whole template for one host, and locates its errors (controller)."""

import re
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import jinja2
from jinja2 import TemplateError, TemplateNotFound

from orchestrator.language import cost_limits
from orchestrator.language.builtin_names import (
    FUNCTIONS,
    TEMPLATE_FUNCTIONS,
    Names,
    added_names,
    template_variables,
)
from orchestrator.language.errors import EvaluationError, NeedFileError
from orchestrator.language.hash_record import collecting_secrets
from orchestrator.language.jinja.environment import PlacedTemplate
from orchestrator.language.jinja.template_library import KNOWN, LoadedTemplate, with_include_stack
from remote_runtime.errors import CcmError, InputError, Position

_FAILURES = (
    EvaluationError, InputError, TemplateError, ArithmeticError, LookupError, TypeError, ValueError,
    AttributeError, RecursionError, AssertionError,
)  # fmt: skip
_NOT_EXPORTED = re.compile(
    r"(the template '.*') \(imported on .*\) does not export the .*name (.*)"
)
_WITHOUT_CONTEXT = frozenset(f"{name!r} is undefined" for name in KNOWN)


def render(
    template: LoadedTemplate,
    names: Names,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """The text for one host; EvaluationError with the position, NeedFileError.

    ``functions`` are those of the library, ``more`` additional names.
    """
    given = names(template.library.literals)

    def managed() -> str:
        """``managed()``."""
        return f"managed by ccm, do not edit ({template.name})"

    seen = {
        **template_variables(given),
        **{name: given[name] for name in (*FUNCTIONS, *TEMPLATE_FUNCTIONS)},
        "managed": managed,
        **(functions or {}),
        **added_names(given),
        **(more or {}),
    }
    try:
        with cost_limits.budget(), collecting_secrets(given["Environ"]):
            return _text(template.code, seen)
    except NeedFileError:
        raise
    except _FAILURES as error:
        raise _explained(error, template) from error


def _text(code: PlacedTemplate, names: dict[str, Any]) -> str:
    pieces, size = [], 0
    for piece in code.root_render_func(code.new_context(names)):
        size += len(piece)
        if size > cost_limits.MAX_TEXT:
            limit = cost_limits.MAX_TEXT >> 20
            raise cost_limits.TooLargeError(f"the template produces more than {limit} MiB of text")
        pieces.append(piece)
    return "".join(pieces)


def _explained(error: Exception, template: LoadedTemplate) -> EvaluationError:
    """The error with the innermost position, and the outer positions in its message."""
    places = _places(error.__traceback__) or [template.positions.of(0)]
    if isinstance(error, InputError):  # of a template that is included
        problem = error.problems[0]
        found = EvaluationError(problem.message, problem.where or places[-1], problem.kind)
    elif isinstance(error, EvaluationError):
        found = error
    else:
        kind = "template.undefined" if isinstance(error, jinja2.UndefinedError) else ""
        kind = error.kind if isinstance(error, CcmError) else kind
        found = EvaluationError(_message(error, template), places[-1], kind)
    if found.where is None:
        found.where = places[-1]
    outer = places[:-1] if places[-1] == found.where else places
    found.message = with_include_stack(found.message, outer[::-1])
    return found


def _message(error: Exception, template: LoadedTemplate) -> str:
    if isinstance(error, TemplateNotFound):
        return template.library.why(error)
    if isinstance(error, RecursionError):
        return "the template is nested too deeply"
    from orchestrator.language.call_errors import of_call

    message = of_call(getattr(error, "message", None) or str(error) or type(error).__name__)
    message = _NOT_EXPORTED.sub(r"\1 has no \2 to import", message)
    if message in _WITHOUT_CONTEXT:
        message += "; write {% import … with context %} to pass the values of the host"
    return message


def _places(traceback: TracebackType | None) -> list[Position]:
    """The position in each template when the error occurred, the outermost first.

    Of several lines of one template in a row, such as of its macros, only the innermost is used.
    """
    found: list[tuple[Any, Position]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(code, PlacedTemplate):
            if found and found[-1][0] is code:
                found.pop()
            found.append((code, code.position(traceback.tb_lineno)))
        traceback = traceback.tb_next
    return [place for _, place in found]
