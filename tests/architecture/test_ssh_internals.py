"""One module uses private members of the SSH libraries; it lists them and the checked releases."""

import ast
import importlib
import importlib.metadata
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from orchestrator.transport.ssh_internals import CHECKED_RELEASES, MEMBERS
from tests.architecture.source import ROOT, dotted, modules, nodes, parsed, shown

INTERNALS = ROOT / "orchestrator" / "transport" / "ssh_internals.py"
LIBRARIES = ("fabric", "paramiko", "invoke")
OF_ANY = {"_replace", "_asdict", "_fields"}  # of named tuples


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_ANY


@cache
def of_libraries() -> frozenset[str]:
    """Every private name that a module of the libraries gives an attribute."""
    found = set()
    for library in LIBRARIES:
        directory = Path(importlib.import_module(library).__file__ or "").parent
        for path in directory.glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                found |= set(_named(node))
    return frozenset(filter(is_private, found))


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.keyword):
        yield node.arg or ""
    elif isinstance(node, ast.ClassDef):
        yield from (one for inner in node.body for one in _bound(inner))


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a class gives a value or a type."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def users() -> list[Path]:
    """The modules that may have an object of these libraries in hand."""
    return [path for path in modules("orchestrator/transport") if path != INTERNALS]


def test_no_other_module_uses_a_private_member_of_the_ssh_libraries() -> None:
    """Not of an object, and not by a class derived from one of theirs."""
    found = []
    for path in users():
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                mine = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if not mine and node.attr in of_libraries():
                    found.append(f"{shown(path)}:{node.lineno} {ast.unparse(node)}")
    assert found == []


def test_no_class_derived_from_one_of_the_ssh_libraries_has_a_private_name_of_its() -> None:
    """A name of ours that is one of theirs replaces it, whether that is meant or not."""
    found = []
    for path in users():
        if not path.name.startswith("ssh_"):
            continue
        module = importlib.import_module(dotted(path))
        for node in parsed(path).body:
            if not isinstance(node, ast.ClassDef):
                continue
            bases = vars(module)[node.name].__mro__[1:]
            theirs = {name for base in bases for name in _theirs(base)}
            ours = {name for one in ast.walk(node) for name in _named(one)}
            found += [f"{shown(path)} {node.name}.{name}" for name in sorted(ours & theirs)]
    assert found == []


@cache
def _theirs(base: type) -> frozenset[str]:
    """The private names of a class of the libraries."""
    if base.__module__.split(".")[0] not in LIBRARIES:
        return frozenset()
    named = {*vars(base), *re.findall(r"self\.(_\w+)", inspect.getsource(base))}
    return frozenset(filter(is_private, named))


def test_each_private_member_is_listed_and_is_in_the_release_that_is_installed() -> None:
    """The list of the module is what the module uses."""
    listed = {name for names in MEMBERS.values() for name in names}
    used = {name for node in nodes(INTERNALS) for name in _named(node)}
    assert {name for name in used if name in of_libraries()} == listed
    missing = []
    for name_of_class, names in MEMBERS.items():
        module, _, kind = name_of_class.rpartition(".")
        found = getattr(importlib.import_module(module), kind)
        there = set(dir(found)).union(*(_theirs(base) for base in found.__mro__))
        missing += [f"{name_of_class}.{name}" for name in names if name not in there]
    assert missing == []


def test_the_ssh_libraries_are_capped_at_what_is_checked() -> None:
    """What CI installs is the last release that the list says was checked."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for library, releases in CHECKED_RELEASES.items():
        bounds = re.search(rf'"{library}>=([\d.]+),<=([\d.]+)"', text)
        assert bounds is not None
        assert releases[0] in (bounds[1], f"{bounds[1]}.0")
        assert releases[-1] == bounds[2]
        assert importlib.metadata.version(library) in releases
