"""Each test shows what it asserts."""

import ast
import re

from tests.architecture.source import modules, nodes, shown

_HELPER = re.compile(r"_*(check_|expect_|assert)")


def asserts(function: ast.FunctionDef) -> bool:
    """Whether it has an assertion, or calls what is named as one."""
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
    """A test without an assertion of its own names the helper that has it: expect_X or check_X."""
    silent = [
        f"{shown(path)}:{node.lineno} {node.name}"
        for path in modules("tests")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not asserts(node)
    ]
    assert silent == []


def test_a_docstring_asserts_nothing() -> None:
    """Neither do a call of another name and a helper that is named ``check`` alone."""
    for body, shows in (
        ('"""Fails if f() raises."""\n    f()', False),
        ("self.check(1)", False),
        ("check_form(1)", True),
        ("_expect_form(1)", True),
        ("self.assertEqual(1, f())", True),
        ("assert f()", True),
    ):
        (function,) = ast.parse(f"def test_a():\n    {body}\n").body
        assert isinstance(function, ast.FunctionDef)
        assert asserts(function) == shows, body
