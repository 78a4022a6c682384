"""Backslashes in the expressions of YAML files, which Ansible reads literally (controller)."""

from jinja2 import Environment, TemplateSyntaxError

_LEXER = Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)


def kept_backslashes(text: str) -> str:
    r"""Return a string in which Jinja2 reads ``'\1'`` within ``{{ }}`` as a backslash and a digit.

    Ansible does the same to text from YAML, but not to template files and conditions.
    """
    if "\\" not in text or "{{" not in text:
        return text
    found: list[str] = []
    inside = False
    try:
        for _, kind, written in _LEXER.lex(text):
            inside = kind == "variable_begin" or (inside and kind != "variable_end")
            is_literal = inside and kind == "string"
            found.append(written.replace("\\", "\\\\") if is_literal else written)
    except TemplateSyntaxError:
        return text
    return "".join(found)
