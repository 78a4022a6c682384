"""Literal calls of ``template()`` or ``jet()`` (controller)."""

from typing import NamedTuple

from orchestrator.expressions.scan import holds_expression

BLOCKS = ("{%", "{#")
"""Delimiters that only whole templates have."""
JINJA = ("{{", *BLOCKS)
"""Delimiters of Jinja2; a string with none of these is not a template."""
_JET = ("[[", "[*", "{*", "\n")


class TemplateCall(NamedTuple):
    """A literal call: ``jet`` or ``template``, its template, and the names that it adds."""

    function: str
    text: str
    names: tuple[str, ...]

    @property
    def is_jet(self) -> bool:
        """Whether it calls ``jet()``."""
        return self.function == "jet" or self.text.endswith(".jet")

    @property
    def is_file(self) -> bool:
        """Whether the argument is a file name rather than a template."""
        if self.function == "jet":
            return not any(sign in self.text for sign in _JET)
        return not is_template(self.text)


def is_template(text: str) -> bool:
    """Whether the argument of ``template()`` is a template rather than a file name."""
    return "\n" in text or holds_expression(text) or any(sign in text for sign in BLOCKS)
