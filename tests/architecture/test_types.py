"""A resource type is its directory: the product neither lists types nor asks for one by name."""

import ast
from collections.abc import Iterator

from tests.architecture.source import PRODUCT, ROOT, modules, parsed, shown

DIRECTORY = ROOT / "remote_runtime" / "resources"
TYPES = {path.parent.name for path in DIRECTORY.glob("*/schema.json")}
IMPORTER = ROOT / "orchestrator" / "ansible"
"""Writes manifests of what another tool calls modules, so it names types as a person would."""
BENCHMARKS = ROOT / "benchmarks"
"""Measure resources that are written down, as those of a manifest are."""
KINDS = {"user", "group"}
"""Types that are called as the kinds of accounts of the system are, which effects are told by."""


def _words(nodes: list[ast.expr]) -> list[str]:
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def lists_of_types(tree: ast.AST) -> Iterator[int]:
    """The lines where a list, tuple, set or the keys of a map are for the most part types.

    Some words, such as file and service, mean something of the system among words of its kind.
    """
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            words = _words(node.elts)
        elif isinstance(node, ast.Dict):
            words = _words([key for key in node.keys if key is not None])
        else:
            continue
        named = len(TYPES.difference(KINDS).intersection(words))
        if named > 1 and named * 2 >= len(words):
            yield node.lineno


def questions_about_a_type(tree: ast.AST) -> Iterator[int]:
    """The lines where something called a type is compared with the name of one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and "type" in ast.unparse(node.left).lower():
            inner = [each for side in node.comparators for each in ast.walk(side)]
            if TYPES.intersection(_words([each for each in inner if isinstance(each, ast.expr)])):
                yield node.lineno


def test_nothing_but_its_directory_knows_a_type() -> None:
    """Types are found, and what one of them needs is said by its schema."""
    found = [
        f"{shown(path)}:{line}"
        for path in modules(*PRODUCT)
        if not {DIRECTORY, IMPORTER, BENCHMARKS}.intersection(path.parents)
        for line in [*lists_of_types(parsed(path)), *questions_about_a_type(parsed(path))]
    ]
    assert found == []


def test_lists_of_types_are_recognised() -> None:
    """A list, the keys of a map and a comparison are found; words of another kind are not."""
    code = "A = ['file', 'exec']\nB = {'package': 1, 'service': 2, 'x': 3}\nC = ('file', 'socket')"
    assert list(lists_of_types(ast.parse(code))) == [1, 2]
    code = "item.type == 'scaffold'\ntype_name in ('apply',)\nstatus.kind == 'file'"
    assert list(questions_about_a_type(ast.parse(code))) == [1, 2]
