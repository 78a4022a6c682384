"""Where the expressions of a text are."""

import pytest

from orchestrator.expressions.scan import UnclosedError, holds_expression, scan


@pytest.mark.parametrize(
    "text",
    ["${NAME} $NAME ${}", "{% if x %}", "{# note #}", "a { b } c }}", "awk '{print $1}'", "$ {x}"],
)
def test_shell_and_markup_are_plain_text(text: str) -> None:
    """What only looks like a template is left alone."""
    assert scan(text) == []
    assert not holds_expression(text)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("{{ a }}-{{b}}", [" a ", "b"]),
        ("${ a } ${b}", [" a "]),
        ("${\ta }", ["\ta "]),
        ("{{ '}}' }} {{ \"{{\" }}", [" '}}' ", ' "{{" ']),
        ("{{ {'a': {'b': 1}} }}", [" {'a': {'b': 1}} "]),
        ("{{ {'a': {'b': 1}}}}", [" {'a': {'b': 1}}"]),
        ("{{ 'it\\'s }}' }}", [" 'it\\'s }}' "]),
        ("${ {'a': '}'} }", [" {'a': '}'} "]),
    ],
)
def test_expressions_end_outside_their_literals(text: str, sources: list[str]) -> None:
    """Braces in string literals and in maps do not end an expression."""
    assert [found.source for found in scan(text)] == sources


@pytest.mark.parametrize("text", ["x {{ a }", "${ a", "{{ 'a }}", "{{ {'a': 1 }}"])
def test_an_unclosed_expression_is_an_error(text: str) -> None:
    """An expression without an end is refused, with the place where it begins."""
    with pytest.raises(UnclosedError) as caught:
        scan(text)
    assert caught.value.start == text.index("{{" if "{{" in text else "${")
