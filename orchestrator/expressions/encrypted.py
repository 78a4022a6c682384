"""A value with the tag ``!vault`` or ``!age`` as an expression (controller)."""

from typing import Any

from inventory.document import EncryptedScalar
from orchestrator.expressions.expression import Expression
from orchestrator.expressions.scope import Scope
from orchestrator.expressions.simple_paths import Runnable
from orchestrator.expressions.template import Template


class EncryptedValue(Runnable):
    """The program of such an expression: it decrypts the value when it is evaluated."""

    def __init__(self, tag: str, text: str) -> None:
        self.tag = tag
        self.text = text

    def run(self, scope: Scope, more: dict[str, Any] | None = None) -> Any:
        """The plain text; EvaluationError."""
        return scope.encrypted(self.tag, self.text)


def encrypted_template(node: EncryptedScalar) -> Template:
    """The value as a template of one expression."""
    program = EncryptedValue(node.tag, node.text)
    return Template((Expression(f"!{node.tag}", node.position, program),))
