"""Each test shows what it asserts."""

import ast
import re
from collections.abc import Collection, Iterable

from tests.architecture.source import modules, nodes, shown

Function = ast.FunctionDef | ast.AsyncFunctionDef

_HELPER = re.compile(r"_*(assert_|check_|expect_)")
_ASSERTION = re.compile(r"assert([A-Z]|_(not_)?called)")  # of unittest


def asserts(function: Function, helpers: Collection[str]) -> bool:
    """Whether it has an assertion, or calls one of the helpers that have one."""
    for node in _carried_out(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("pytest.raises", "self.fail"):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if _ASSERTION.match(name) or name in helpers:
                return True
    return False


def _carried_out(function: Function) -> Iterable[ast.AST]:
    """What is in it; of a function in it only if another line there has its name."""
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function) or node.name in used:
            waiting += ast.iter_child_nodes(node)


def asserting_helpers(functions: Iterable[Function]) -> frozenset[str]:
    """The names of helpers of which each function with that name asserts."""
    named: dict[str, list[Function]] = {}
    for one in functions:
        if _HELPER.match(one.name):
            named.setdefault(one.name, []).append(one)
    known: frozenset[str] = frozenset()
    while True:
        more = frozenset(
            name for name, all_of_it in named.items() if all(asserts(f, known) for f in all_of_it)
        )
        if more == known:
            return known
        known = more


def test_each_test_shows_what_it_asserts() -> None:
    """Either by its own assertion or by the name of a helper: assert_X, check_X or expect_X."""
    functions = [
        (path, node)
        for path in modules("tests")
        for node in nodes(path)
        if isinstance(node, Function)
    ]
    helpers = asserting_helpers(node for _, node in functions)
    silent = [
        f"{shown(path)}:{node.lineno} {node.name}"
        for path, node in functions
        if node.name.startswith("test_") and not asserts(node, helpers)
    ]
    assert silent == []


def _functions(text: str) -> list[Function]:
    return [node for node in ast.parse(text).body if isinstance(node, Function)]


def test_a_docstring_asserts_nothing() -> None:
    """Neither do a call of another name, and a function that nothing calls."""
    for body, shows in (
        ('"""Fails if f() raises."""\n    f()', False),
        ("self.check(1)", False),
        ("check_form(1)", True),
        ("_expect_form(1)", True),
        ("self.assert_form(1)", True),
        ("self.assert_other(1)", False),
        ("check_other(1)", False),
        ("self.assertEqual(1, f())", True),
        ("assert f()", True),
        ("def g():\n        assert f()", False),
        ("def g():\n        assert f()\n    h(g)", True),
    ):
        (function,) = _functions(f"def test_a():\n    {body}\n")
        assert asserts(function, {"assert_form", "check_form", "_expect_form"}) == shows, body


def test_a_helper_asserts_itself_or_by_another_one() -> None:
    """The name alone asserts nothing, and neither does one of two with the same name."""
    text = """
def check_plain(): assert f()
def check_further(): check_plain()
def check_nothing(): f()
def check_both(): assert f()
def check_both(): f()
def expect_itself(): expect_itself()
"""
    assert asserting_helpers(_functions(text)) == {"check_plain", "check_further"}
