"""Every module has a test that a reader finds: by its name, or in ``TESTED_BY``."""

import ast
from functools import cache
from pathlib import Path

from tests.architecture.source import (
    LAYERS,
    ROOT,
    dotted,
    import_graph,
    modules,
    parsed,
    shown,
)
from tests.architecture.tested_by import TESTED_BY

# Who imports by a name that is made up at run time, and the folder that is imported from.
FINDERS = {
    "orchestrator.cli.commands": "orchestrator.cli",
    "remote_runtime.registry": "remote_runtime.resources",
    "remote_runtime.health.kinds": "remote_runtime.health.kinds",
}


def runs(path: Path) -> bool:
    """Whether there is anything to test: a function with a body, not only declarations."""
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any(not _says_nothing(statement) for statement in node.body)
        for node in ast.walk(parsed(path))
    )


def _says_nothing(statement: ast.stmt) -> bool:
    constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return constant or isinstance(statement, ast.Pass)


def named_test(path: Path) -> str:
    """The test that a reader looks for first; that of a package has the name of its folder."""
    parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "resources"]
    *folders, name = parts[:-1] if parts[-1] == "__init__" else parts
    return "/".join(["tests", *folders, f"test_{name.strip('_')}.py"])


def is_named(path: Path) -> bool:
    """Whether that test is there."""
    return (ROOT / named_test(path)).is_file()


def entries() -> list[tuple[str, str, list[Path]]]:
    """Every entry of the list: the test, the words, and the modules that they stand for.

    A folder, written with a slash at its end, stands for all of it that has no other test.
    """
    exact = {word for words in TESTED_BY.values() for word in words if word.endswith(".py")}
    found = []
    for test, words in TESTED_BY.items():
        for word in words:
            meant = [ROOT / word]
            if word.endswith("/"):
                below = sorted((ROOT / word).rglob("*.py"))
                meant = [p for p in below if not is_named(p) and runs(p) and shown(p) not in exact]
            found.append((test, word, meant))
    return found


@cache
def reached(test: str) -> frozenset[str]:
    """The modules that a test imports, itself or through what it imports."""
    graph = import_graph(*LAYERS, "docs", "benchmarks", "examples", "tests")
    todo, seen = [dotted(ROOT / test)], set[str]()
    while todo:
        module = todo.pop()
        if module in seen:
            continue
        seen.add(module)
        todo += graph[module]
        folder = FINDERS.get(module)
        todo += [m for m in graph if folder and m.startswith(f"{folder}.")]
    return frozenset(seen)


def test_every_module_has_a_test_that_a_reader_finds() -> None:
    """A module without a test of its name stands in the list with the one that holds it."""
    listed = {path for _, _, meant in entries() for path in meant}
    lost = [
        f"{shown(path)}: write {named_test(path)}, or list it in tests/architecture/tested_by.py"
        for path in modules(*LAYERS, "docs", "benchmarks", "examples")
        if runs(path) and not is_named(path) and path not in listed
    ]
    assert lost == []


def test_the_list_is_exact() -> None:
    """Every test and module of the list is there, needs its entry and stands there once."""
    wrong = [f"{test} is not there" for test in TESTED_BY if not (ROOT / test).is_file()]
    count: dict[Path, int] = {}
    for _, word, meant in entries():
        if not (ROOT / word).exists():
            wrong.append(f"{word} is not there")
        elif not meant:
            wrong.append(f"{word}: all of it has tests of its own")
        elif word.endswith(".py") and is_named(ROOT / word):
            wrong.append(f"{word} has {named_test(ROOT / word)}")
        elif word.endswith(".py") and not runs(ROOT / word):
            wrong.append(f"{word} declares only, nothing runs")
        for path in meant:
            count[path] = count.get(path, 0) + 1
    assert wrong == []
    assert [shown(path) for path, times in count.items() if times > 1] == []
    assert list(TESTED_BY) == sorted(TESTED_BY)
    assert [test for test, words in TESTED_BY.items() if list(words) != sorted(words)] == []


def test_a_test_reaches_what_it_holds() -> None:
    """A test is named for modules only that run in it: it imports them, or what imports them."""
    loose = [
        f"{test} does not reach {shown(path)}"
        for test, _, meant in entries()
        for path in meant
        if (ROOT / test).is_file() and path.is_file() and dotted(path) not in reached(test)
    ]
    assert loose == []
