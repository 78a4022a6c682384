"""What stands in a literal call of ``template()`` or ``jet()`` (controller)."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.expressions.scan import holds_expression

BLOCKS = ("{%", "{#")
"""What only whole templates have."""
JINJA = ("{{", *BLOCKS)
"""A text with none of these is no Jinja2."""
_JET = ("[[", "[*", "{*", "\n")


class TemplateCall(NamedTuple):
    """A literal call: ``jet`` or ``template``, what it renders, and the names that it adds."""

    function: str
    text: str
    names: tuple[str, ...]

    @property
    def is_jet(self) -> bool:
        """Whether it is Jet."""
        return self.function == "jet" or self.text.endswith(".jet")

    @property
    def is_file(self) -> bool:
        """Whether it names a file, rather than being the template itself."""
        if self.function == "jet":
            return not any(sign in self.text for sign in _JET)
        return not is_template(self.text)


def is_template(text: str) -> bool:
    """Whether what ``template()`` is given is the template itself, not the name of a file."""
    return "\n" in text or holds_expression(text) or any(sign in text for sign in BLOCKS)
