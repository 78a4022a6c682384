"""The interface to the expression language: parse once per run, evaluate per host (controller).

    expression = Expression.parse("lookup('data.port') + 1", position)
    value = expression.evaluate(scope)
    text = Template.parse("port = {{ Data.port }}", position).render(scope)

Only this package decides what an expression can reach: the names of a ``Scope``, a sandboxed
Jinja2, and limits on the cost of one expression.
"""

from orchestrator.expressions.expression import Expression
from orchestrator.expressions.scope import Scope
from orchestrator.expressions.template import Template, render_value
from orchestrator.expressions.template_functions import RENDERERS
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
