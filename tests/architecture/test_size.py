"""What has to be read at once stays small. How much a function branches is held by ruff (C90)."""

import ast
from collections import Counter

from tests.architecture.source import PRODUCT, modules, nodes, shown

MODULE_LINES = 600  # 400 is what to aim for
FUNCTION_LINES = 60
DIRECTORY_FILES = 22
ONE_EACH = ("orchestrator/cli", "orchestrator/verify/checks")  # for each command, each type


def test_a_module_is_read_in_one_sitting() -> None:
    """No module of the product is longer than the limit."""
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(*PRODUCT)}
    assert {shown(p): size for p, size in sizes.items() if size > MODULE_LINES} == {}


def test_a_directory_is_seen_at_once() -> None:
    """No directory of the product has more modules than the limit, but for lists of their kind."""
    counts = Counter(shown(path.parent) for path in modules(*PRODUCT))
    for directory in ONE_EACH:
        del counts[directory]
    assert {directory: n for directory, n in counts.items() if n > DIRECTORY_FILES} == {}


def test_a_function_is_seen_at_once() -> None:
    """No function is longer than the limit, those of the tests included."""
    long = [
        f"{shown(path)}:{node.lineno} {node.name}: {size} lines"
        for path in modules(*PRODUCT, "tests")
        for node in nodes(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (size := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    ]
    assert long == []
