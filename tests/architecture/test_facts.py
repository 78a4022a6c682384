"""Facts travel as fields: no text that was made for people is looked into to find one out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import modules, parsed, shown

TOLD = {"message", "text", "detail", "headline", "words", "error", "reason", "health"}
LOOKS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "find", "index", "partition",
    "rpartition", "split", "rsplit",
}  # fmt: skip
MATCHES = {"match", "search", "fullmatch", "sub", "split", "findall", "finditer"}


def is_told(node: ast.expr) -> bool:
    """Whether a value is called what texts for people are called."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in TOLD


def has_letters(node: ast.expr) -> bool:
    """Whether words may stand in it: a line break or a bracket is no fact."""
    return not (isinstance(node, ast.Constant) and not any(map(str.isalpha, str(node.value))))


def spells(pattern: ast.expr) -> bool:
    """Whether a regular expression spells words of its own."""
    parts = [node.value for node in ast.walk(pattern) if isinstance(node, ast.Constant)]
    return any(re.search("[A-Za-z]", re.sub(r"\\.", "", str(part))) for part in parts)


def looks(node: ast.AST) -> bool:
    """Whether an expression looks for words in a text for people."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        words = node.left
        literal = isinstance(words, (ast.Constant, ast.JoinedStr)) and has_letters(words)
        member = isinstance(words, ast.Constant) and str(words.value).isidentifier()
        return literal and not member and is_told(node.comparators[0])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    receiver, method, arguments = node.func.value, node.func.attr, node.args
    if isinstance(receiver, ast.Name) and receiver.id == "re" and method in MATCHES:
        return spells(arguments[0]) and is_told(arguments[-1])
    return method in LOOKS and is_told(receiver) and any(map(has_letters, arguments))


def lookers(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.expr) and looks(node):
            yield f"{shown(path)}:{node.lineno} {ast.unparse(node)}"


def test_no_report_parses_a_message() -> None:
    """Where runs are driven, verified and reported, no words are looked for in a message."""
    rooms = modules("orchestrator/fleet", "orchestrator/report", "orchestrator/verify")
    assert [found for path in rooms for found in lookers(path)] == []


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ('any(" WARNING" in text for text in health)', True),
        ("text.startswith(word)", True),
        ('re.sub("^[Ww]ould ", "", detail)', True),
        ('re.match(r"health check (.+?): CRITICAL", error)', True),
        ('result.message.partition(f" {status}")', True),
        ('re.sub("[*_]", "", text)', False),
        ('"\\n" in text', False),
        ('"error" in message', False),  # a member of a wire message
        ("check.status == 'WARNING'", False),
        ("line.startswith('+')", False),
    ],
)
def test_the_rule_tells_words_from_signs(code: str, wrong: bool) -> None:
    """What was found in the reports once is wrong, layout and fields are not."""
    assert any(map(looks, ast.walk(ast.parse(code)))) is wrong
