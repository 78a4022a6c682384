"""Each test shows what it asserts."""

import ast
import re

from tests.architecture.source import modules, nodes, shown

_HELPER = re.compile(r"_*(check|expect|assert)")


def asserts(function: ast.FunctionDef) -> bool:
    """Whether it has an assertion, calls what is named as one, or its docstring says "Fails if"."""
    if "Fails if" in (ast.get_docstring(function) or ""):
        return True
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("pytest.raises", "self.fail"):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if _HELPER.match(name):
                return True
    return False


def test_each_test_shows_what_it_asserts() -> None:
    """A test without an assertion of its own names the helper that has it: expect_X, check_X."""
    silent = [
        f"{shown(path)}:{node.lineno} {node.name}"
        for path in modules("tests")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not asserts(node)
    ]
    assert silent == []
