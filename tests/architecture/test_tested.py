"""Every module has a test that a reader finds: by its name, or in ``TESTED_BY``."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture.source import (
    LAYERS,
    PRODUCT,
    ROOT,
    dotted,
    import_graph,
    modules,
    parsed,
    shown,
)
from tests.architecture.tested_by import TESTED_BY

# Who imports by a name that is made up at run time, and where from; pytest finds its plugin itself.
FINDERS = {
    "orchestrator.cli.commands": "orchestrator.cli",
    "remote_runtime.registry": "remote_runtime.resources",
    "remote_runtime.health.kinds": "remote_runtime.health.kinds",
    "orchestrator.verify.checks": "orchestrator.verify.checks",
    "orchestrator.verify.running": "orchestrator.verify.plugin",
}
_DOTTED = re.compile(r"\b[a-z_]+(?:\.[a-z_]+)+\b")


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


def named_tests(path: Path) -> list[str]:
    """Where a reader looks first: in the same folders, those of a type's parts left out.

    The test of a package has the name of its folder, in it or beside it.
    """
    parts = path.relative_to(ROOT).with_suffix("").parts
    *folders, name = [part for part in parts if part not in ("resources", "providers")]
    if name == "__init__":
        name = folders[-1]
        return [_test([*folders, name]), _test(folders)]
    return [_test([*folders, name])]


def _test(parts: list[str]) -> str:
    return "/".join(["tests", *parts[:-1], f"test_{parts[-1].strip('_')}.py"])


def is_named(path: Path) -> bool:
    """Whether that test is there."""
    return any((ROOT / test).is_file() for test in named_tests(path))


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
def uses() -> dict[str, set[str]]:
    """Whom each module imports, starts as a process or finds by its name."""
    graph = {name: set(others) for name, others in import_graph(*PRODUCT, "tests").items()}
    for path in modules(*PRODUCT, "tests"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                graph[dotted(path)].update(n for n in _DOTTED.findall(node.value) if n in graph)
    for name, folder in FINDERS.items():
        graph[name].update(other for other in graph if f"{other}.".startswith(f"{folder}."))
    return graph


@cache
def reached(test: str) -> frozenset[str]:
    """The modules that a test uses, itself or through what it uses."""
    todo, seen = [dotted(ROOT / test)], set[str]()
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += uses()[module]
    return frozenset(seen)


def test_every_module_has_a_test_that_a_reader_finds() -> None:
    """A module without a test of its name stands in the list with the one that holds it."""
    listed = {path for _, _, meant in entries() for path in meant}
    lost = [
        f"{shown(path)}: write {named_tests(path)[0]}, or list it in TESTED_BY"
        for path in modules(*LAYERS)
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
            wrong.append(f"{word} has {named_tests(ROOT / word)[0]}")
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
