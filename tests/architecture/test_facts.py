"""Facts travel as fields: no text that was made for people is looked into to find one out."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from tests.architecture.source import modules, parsed, shown

TOLD = {"message", "text", "detail", "headline", "words", "error", "reason", "health", "hint"}
LOOKS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "find", "index", "partition",
    "rpartition", "split", "rsplit", "replace",
}  # fmt: skip
FOREIGN = {"orchestrator/cli/parser.py"}  # argparse tells what is wrong in words alone
MATCHES = {"match", "search", "fullmatch", "sub", "split", "findall", "finditer"}


def is_for_people(node: ast.expr) -> bool:
    """Whether a value is called what texts for people are called."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in TOLD


def has_letters(node: ast.expr) -> bool:
    """Whether words may stand in it: a line break or a bracket is no fact."""
    return not (isinstance(node, ast.Constant) and not any(map(str.isalpha, str(node.value))))


def spells(pattern: ast.expr) -> bool:
    """Whether a regular expression spells words of its own."""
    parts = [node.value for node in ast.walk(pattern) if isinstance(node, ast.Constant)]
    signs = r"\\.|\[[^]]*\]|\(\?P.\w+"  # escapes, classes and the names of groups
    return any(re.search("[A-Za-z]{2}", re.sub(signs, "", str(part))) for part in parts)


def patterns(tree: ast.Module) -> set[str]:
    """The names of a module's regular expressions that spell words of their own."""
    return {
        ast.unparse(node.targets[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "re.compile"
        and spells(node.value.args[0])
    }


def knows(method: str, words: ast.expr) -> bool:
    """Whether a text that is known as a whole, as an id is, is only taken off."""
    parts = [node for node in ast.walk(words) if isinstance(node, ast.Constant)]
    return method == "removeprefix" and bool(parts) and not any(map(has_letters, parts))


def looks(node: ast.AST, spelling: Collection[str] = ()) -> bool:
    """Whether an expression looks for words in a text for people.

    ``spelling`` names the regular expressions that spell words.
    """
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        words = node.left
        literal = isinstance(words, (ast.Constant, ast.JoinedStr)) and has_letters(words)
        member = isinstance(words, ast.Constant) and str(words.value).isidentifier()
        return literal and not member and is_for_people(node.comparators[0])
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    receiver, method, arguments = node.func.value, node.func.attr, node.args
    if isinstance(receiver, ast.Name) and receiver.id == "re" and method in MATCHES:
        return spells(arguments[0]) and is_for_people(arguments[-1])
    if isinstance(receiver, ast.Name) and receiver.id in spelling and method in MATCHES:
        return is_for_people(arguments[-1])
    looked = method in LOOKS and is_for_people(receiver) and any(map(has_letters, arguments))
    return looked and not knows(method, arguments[0])


def lookers(path: Path) -> Iterator[str]:
    tree = parsed(path)
    spelling = patterns(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and looks(node, spelling):
            yield f"{shown(path)}:{node.lineno} {ast.unparse(node)}"


def test_no_report_parses_a_message() -> None:
    """Where runs are asked for, driven, verified and reported, no words are looked for in texts."""
    rooms = modules(*(f"orchestrator/{room}" for room in ("cli", "fleet", "report", "verify")))
    found = [line for path in rooms if shown(path) not in FOREIGN for line in lookers(path)]
    assert found == []


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ('any(" WARNING" in text for text in health)', True),
        ("text.startswith(word)", True),
        ('re.sub("^[Ww]ould ", "", detail)', True),
        ('re.match(r"health check (.+?): CRITICAL", error)', True),
        ('result.message.partition(f" {status}")', True),
        ("result.hint.replace(only, '')", True),
        ('message.replace("is not in this run", "is not there")', True),
        ('_NEEDS = re.compile(r"it needs (\\w+)")\n_NEEDS.match(message)', True),
        ('_RUN = re.compile("run: .*")\n_RUN.sub(kept, text)', True),
        ("_QUOTED = re.compile(r\"'\\w+'\")\n_QUOTED.sub(kept, text)", False),
        ('message.removeprefix(f"{type}#{name}: ")', False),  # an id, known as a whole
        ('re.sub("[*_]", "", text)', False),
        ('"\\n" in text', False),
        ('"error" in message', False),  # a member of a wire message
        ("check.status == 'WARNING'", False),
        ("line.startswith('+')", False),
    ],
)
def test_the_rule_tells_words_from_signs(code: str, wrong: bool) -> None:
    """What was found in the reports once is wrong, layout and fields are not."""
    tree = ast.parse(code)
    assert any(looks(node, patterns(tree)) for node in ast.walk(tree)) is wrong
