"""``template()`` and ``jet()``: the user's own templates inside an expression (controller).

Text from a host is never a template, so computed strings and files on the target are refused.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from orchestrator.expressions.scan import JINJA, is_template
from orchestrator.expressions.scope import ManifestText, Renderers, Scope
from orchestrator.expressions.template import Template
from orchestrator.expressions.template_files import inline_template, loaded_template
from orchestrator.language.builtin_names import (
    FUNCTIONS,
    TEMPLATE_FUNCTIONS,
    TEMPLATE_VARIABLES,
    VARIABLES,
)
from orchestrator.language.errors import EvaluationError
from remote_runtime.errors import InputError

MAX_NESTING = 10
_RESERVED = frozenset((*VARIABLES, *TEMPLATE_VARIABLES, *FUNCTIONS, *TEMPLATE_FUNCTIONS))
_nesting: ContextVar[int] = ContextVar("nesting", default=0)


def _template(scope: Scope, literals: frozenset[str], text: str, **names: Any) -> str:
    """Render a local file, or a literal text of the manifest."""
    source, name = _own("template()", text, scope=scope, literals=literals, is_template=is_template)
    depth = _nesting.get()
    if depth >= MAX_NESTING:
        raise EvaluationError(f"template() is nested deeper than {MAX_NESTING} levels")
    token = _nesting.set(depth + 1)
    try:
        if name.endswith(".jet"):
            return _jet(scope, literals, text, **names)
        return _whole(_with(scope, "template()", names), source, name)
    finally:
        _nesting.reset(token)


def _whole(scope: Scope, source: str, name: str) -> str:
    added = tuple(scope.loop)
    if not any(sign in source for sign in JINJA):  # ${ } at most, which is not Jinja2
        return Template.parse_file(source, name, scope.lenient, added).render_text(scope)
    from orchestrator.language.jinja import render

    try:
        loaded = loaded_template(scope.directory, source, name, scope.lenient)
    except InputError as error:
        inline = inline_template(source, name, scope.lenient, added)
        if inline is None:
            raise EvaluationError(str(error)) from error
        return inline.render_text(scope)
    return render(loaded, scope.names)


def _jet(
    scope: Scope,
    literals: frozenset[str],
    text: str,
    left: str = "[[",
    right: str = "]]",
    **names: Any,
) -> str:
    """Render a Jet template from the same sources as ``template()``."""
    from orchestrator.language.jet import Delimiters, library_of, render

    delimiters = Delimiters(left, right)
    if delimiters.problem():
        raise EvaluationError(f"jet(): {delimiters.problem()}")
    openers = (left, *delimiters.comments())
    source, name = _own(
        "jet()",
        text,
        scope=scope,
        literals=literals,
        is_template=lambda whole: any(sign in whole for sign in openers),
    )
    scope = _with(scope, "jet()", names)
    try:
        found = library_of(scope.directory, delimiters).parse(source, name, added=tuple(scope.loop))
    except InputError as error:
        raise EvaluationError(str(error)) from error
    return render(found, scope.names)


def _with(scope: Scope, function: str, names: dict[str, Any]) -> Scope:
    """The scope with the keywords of a call as additional names."""
    if not names:
        return scope
    taken = sorted(_RESERVED & names.keys())
    if taken:
        raise EvaluationError(f"{function}: {taken[0]!r} is reserved by ccm, use another name")
    return scope._replace(loop={**scope.loop, **names})


def _own(
    function: str,
    text: str,
    *,
    scope: Scope,
    literals: frozenset[str],
    is_template: Callable[[str], bool],
) -> tuple[str, str]:
    """The source of a template and its name, if the user wrote it."""
    if not isinstance(text, str) or text.startswith("/"):
        message = f"{function} takes a file next to the manifest or literal text"
        raise EvaluationError(f"{message}, not {text!r}")
    own = text in literals or isinstance(text, ManifestText)
    if isinstance(text, ManifestText) or "\n" in text or is_template(text):
        if not own:
            message = f"{function} renders only literal text of the manifest, never computed text"
            raise EvaluationError(message, kind="template.tainted")
        return str(text), function
    return scope.directory.read(text, own), text


RENDERERS = Renderers(_template, _jet)
