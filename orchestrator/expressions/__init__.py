"""The one port to the expression language: parse once per run, evaluate per host (controller only).

    expression = Expression.parse("lookup('data.port') + 1", position)
    value = expression.evaluate(scope)
    text = Template.parse("port = {{ Data.port }}", position).render(scope)

What may be reached from an expression is decided here and nowhere else: the names of a ``Scope``,
a sandboxed Jinja2, and bounds on what one expression can cost the controller.
"""

from orchestrator.expressions.expression import Expression
from orchestrator.expressions.rendering import RENDERERS
from orchestrator.expressions.scope import Scope
from orchestrator.expressions.template import Template, render_value
from orchestrator.language.errors import EvaluationError, FactsUnavailableError, NeedFileError

__all__ = [
    "RENDERERS",
    "EvaluationError",
    "Expression",
    "FactsUnavailableError",
    "NeedFileError",
    "Scope",
    "Template",
    "render_value",
]
