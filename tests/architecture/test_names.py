"""A name stands for one thing."""

import ast
import builtins
import re
from collections import Counter

from tests.architecture.source import LAYERS, ROOT, modules, nodes, parsed, shown

# Participles that say nothing of what a class is.
PARTICIPLES = {
    "Said",
    "Shown",
    "Seen",
    "Told",
    "Heard",
    "Held",
    "Kept",
    "Given",
    "Found",
    "Settled",
    "Chosen",
    "Written",
    "Asked",
    "Ran",
    "Spelt",
}


def test_no_module_is_named_as_a_room_beside_it() -> None:
    """A room's name is no module's of another room, but for the command that is about it."""
    house = ROOT / "orchestrator"
    rooms = {path.parent.name for path in house.glob("*/__init__.py")}
    below = [p for p in house.glob("*/*.py") if p.stem in rooms - {p.parent.name}]
    assert [shown(path) for path in below if path.parent.name != "cli"] == []


def test_no_class_is_named_by_a_participle() -> None:
    """The name of a class is a noun for what it is."""
    found = {
        f"{shown(path)} {node.name}"
        for path in modules(*LAYERS)
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and node.name.strip("_") in PARTICIPLES
    }
    assert sorted(found) == []


def test_a_constant_has_one_value() -> None:
    """No module assigns a constant twice, because the first value would be a wrong statement."""
    found = []
    for path in modules(*LAYERS):
        assigned = [node for node in parsed(path).body if isinstance(node, ast.Assign)]
        targets = [target for node in assigned for target in node.targets]
        names = Counter(target.id for target in targets if isinstance(target, ast.Name))
        found += [f"{shown(path)} {name}" for name, number in names.items() if number > 1]
    assert found == []


def test_a_limit_is_named_max() -> None:
    """A constant that is a limit has MAX in its name, not MOST or LONGEST, and what is counted."""
    found = {
        f"{shown(path)} {target.id}"
        for path in modules(*LAYERS)
        for node in nodes(path)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
        and ({"MOST", "LONGEST"} & {*target.id.split("_")} or target.id.endswith("MAX_COUNT"))
    }
    assert sorted(found) == []


def test_docstrings_name_errors_that_exist() -> None:
    """An error that a docstring names is one of the code, of Python, or of a library in use."""
    known, named = set(dir(builtins)), []
    for path in modules(*LAYERS):
        for node in nodes(path):
            known.update(str(getattr(node, key, "")) for key in ("name", "id", "attr", "value"))
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                words = re.findall(r"(?<![.\w])[A-Z]\w+Error\b", ast.get_docstring(node) or "")
                named += [(shown(path), word) for word in words]
    assert [(path, word) for path, word in named if word not in known] == []
