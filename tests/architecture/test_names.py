"""A name stands for one thing."""

import ast

from tests.architecture.source import ROOT, modules, parsed, shown

# Each language has its own words for its parts, the same in every language: Token, Parser, Node.
LANGUAGES = ("orchestrator/language/", "orchestrator/expressions/", "orchestrator/templates/")


def is_port(node: ast.ClassDef) -> bool:
    """A port has the name of what stands behind it."""
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def test_no_two_classes_of_the_controller_have_one_name() -> None:
    """Whoever reads a class's name in the controller knows which one it is."""
    places: dict[str, list[str]] = {}
    for path in modules("orchestrator", "inventory", "schemas"):
        for node in parsed(path).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_") or is_port(node):
                continue
            if not shown(path).startswith(LANGUAGES):
                places.setdefault(node.name, []).append(shown(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_module_is_named_as_a_room_beside_it() -> None:
    """A room's name is no module's of another room, but for the command that is about it."""
    house = ROOT / "orchestrator"
    rooms = {path.parent.name for path in house.glob("*/__init__.py")}
    below = [p for p in house.glob("*/*.py") if p.stem in rooms - {p.parent.name}]
    assert [shown(path) for path in below if path.parent.name != "cli"] == []
