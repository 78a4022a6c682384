"""The runtime's sources without what only people and type checkers read."""

import ast
import inspect
import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import remote_runtime
from orchestrator.image import builder
from orchestrator.image.minifier import stripped

ROOT = Path(remote_runtime.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))

# Imports every module of a zip and tells what named tuples are in it.
_LOOK = """
import json, sys, zipfile
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
found = {}
for path in zipfile.ZipFile(sys.argv[1]).namelist():
    name = path[:-3].replace("/", ".").replace(".__init__", "")
    if name.endswith("__main__"):
        continue
    module = __import__(name, fromlist=["x"])
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, tuple) and value.__module__ == name:
            key = name + "." + value.__name__
            found[key] = [value._fields, sorted(getattr(value, "_field_defaults", {}))]
print(json.dumps(found))
"""


def cut(text: str) -> str:
    return stripped(textwrap.dedent(text).encode()).decode()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_definition_stays_on_its_line(path: Path) -> None:
    """A traceback of a target names the lines of the sources."""

    def lines(source: bytes) -> list[tuple[str, int]]:
        kinds = (ast.FunctionDef, ast.ClassDef)
        return [(n.name, n.lineno) for n in ast.walk(ast.parse(source)) if isinstance(n, kinds)]

    source = path.read_bytes()
    assert lines(stripped(source)) == lines(source)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_left_for_people_and_type_checkers(path: Path) -> None:
    """No docstring, no annotation and no import of typing is left."""
    tree = ast.parse(stripped(path.read_bytes()))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.AnnAssign)
        assert not (isinstance(node, ast.ImportFrom) and node.module == "typing")
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            assert ast.get_docstring(node) is None
        if isinstance(node, ast.FunctionDef):
            assert node.returns is None
            assert all(argument.annotation is None for argument in node.args.args)


def test_the_statements_stay_the_same() -> None:
    """What a function does is what the source says."""
    text = '''
        """What it is for."""
        from typing import (
            Any,
            List,
        )
        def first(things: List[Any], otherwise: Any = None) -> Any:
            """The first one."""
            found: Any = things[0] if things else otherwise
            return found
        def nothing() -> None:
            """Does nothing."""
        '''
    space: dict[str, object] = {}
    exec(cut(text), space)
    first = space["first"]
    assert callable(first)
    assert (first([1]), first([], 2)) == (1, 2)
    assert str(inspect.signature(first)) == "(things, otherwise=None)"


def test_a_default_may_stand_in_parentheses() -> None:
    """A default value that a formatter breaks over lines keeps its value and its lines."""
    text = """\
        from typing import NamedTuple
        class Pair(NamedTuple):
            first: int
            second: int = (
                2  # the default
            )
            third: int = (3)
        """
    space: dict[str, Callable[..., tuple[int, ...]]] = {}
    exec(cut(text), space)
    assert tuple(space["Pair"](1)) == (1, 2, 3)


def test_the_names_of_types_can_still_be_imported() -> None:
    """The name of a type is a name still, of nothing."""
    assert cut("from typing import Dict\nTable = Dict[str, int]\n") == "pass\nTable = None\n"


def test_what_type_checkers_do_not_read_stays() -> None:
    """What is hidden from type checkers is there when it runs, and what is for them is not."""
    text = """\
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            x = 1
        if not TYPE_CHECKING:
            y: int = 2
        """
    space: dict[str, object] = {}
    exec(cut(text), space)
    assert (space.get("x"), space.get("y")) == (None, 2)


def test_what_needs_typing_when_it_runs_is_refused() -> None:
    """A source that would break without typing makes no image."""
    with pytest.raises(ValueError, match="typing is needed at run time: cast"):
        cut("from typing import cast\nx = cast(int, 1)\n")


def test_named_tuples_have_the_same_fields_in_the_image(tmp_path: Path) -> None:
    """Every module of the zip can be imported; its named tuples have their fields and defaults."""
    archive = tmp_path / "runtime.zip"
    archive.write_bytes(builder.build().archive)
    command = [sys.executable, "-I", "-B", "-c", _LOOK, str(archive)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert len(found) > 10
    for key, (fields, defaults) in found.items():
        module, _, name = key.rpartition(".")
        original = getattr(import_module(module), name)
        assert tuple(fields) == original._fields, key
        assert defaults == sorted(original._field_defaults), key
