"""A state type reads and applies through the ports of the host; all else is for its base class."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import ROOT, imports, modules, nodes, parsed, shown
from tests.architecture.test_types import DIRECTORY

NAMES = {
    *("noop", "overlay", "user_commands", "has_acted", "suppose", "record_read"),
    *("effects", "rehearse", "preflight", "unfinished", "known_effects", "assumed_actions"),
    *("Action", "Effect"),
}
"""What the lifecycle, the context and the overlay of a preview are called by."""

MODULES = tuple(
    f"remote_runtime.{name}" for name in ("context", "overlay", "effects", "uncertainty")
)


def state_types() -> list[Path]:
    """The directories of the types."""
    found = {path.parent.name for path in DIRECTORY.glob("*/schema.json")}
    return [DIRECTORY / name for name in sorted(found)]


def questions_about_the_run(tree: ast.AST) -> Iterator[int]:
    """The lines that name something of the lifecycle, as a name, an attribute or an argument."""
    for node in ast.walk(tree):
        names = {
            getattr(node, key, None) for key in ("id", "attr", "arg", "name") if node is not tree
        }
        if names & NAMES:
            yield getattr(node, "lineno", 0)


def test_a_state_type_does_not_know_the_run() -> None:
    """It never asks whether the run is a preview, and says what it does once: in its calls."""
    found = []
    for path in modules(*[str(each.relative_to(ROOT)) for each in state_types()]):
        lines = set(questions_about_the_run(parsed(path)))
        lines |= {line for line, name, _ in imports(path) if name.startswith(MODULES)}
        found += [f"{shown(path)}:{line}" for line in sorted(lines)]
        if path.name == "wording.py":
            found.append(shown(path))
    assert found == []


def test_the_modules_of_the_lifecycle_are_there() -> None:
    """A module that gets another name stays in the rule."""
    places = [ROOT / name.replace(".", "/") for name in MODULES]
    assert [one for one in places if not (one.is_dir() or one.with_suffix(".py").is_file())] == []


def test_only_types_import_types() -> None:
    """What types are built on, such as ports and package managers, imports none of them; the
    registry finds them by name."""
    found = [
        f"{shown(path)}:{line}"
        for path in modules("remote_runtime")
        if DIRECTORY not in path.parents
        for line, name, _ in imports(path)
        if name.startswith("remote_runtime.resources.")
    ]
    assert found == []


def test_each_type_is_held() -> None:
    """Each type is a state type, which the rule covers."""
    paths = list(DIRECTORY.glob("*/resource.py"))
    assert paths
    for path in paths:
        is_state = any(
            isinstance(node, ast.ClassDef)
            and node.name == "Resource"
            and "StateType" in ast.unparse(node.bases[0])
            for node in nodes(path)
        )
        assert is_state, path


def test_questions_are_recognized() -> None:
    """An attribute, a keyword, a method and a name are found."""
    code = (
        "self.context.noop\nf(effects=1)\nclass A:\n  def assumed_actions(self): pass\nAction()\n1"
    )
    assert sorted(questions_about_the_run(ast.parse(code))) == [1, 2, 4, 5]
