"""A name stands for one thing."""

import ast

from tests.architecture.source import LAYERS, ROOT, modules, parsed, shown

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
# Classes that still have such a name. Rename one, then remove it here; add none.
NOT_RENAMED = {
    "orchestrator/cli/status.py Seen",
    "orchestrator/expressions/rendering_cache.py Seen",
    "orchestrator/expressions/scan.py Found",
    "orchestrator/language/asked.py Asked",
    "orchestrator/language/exprlang/evaluation.py _Held",
    "orchestrator/language/paths.py Spelt",
    "orchestrator/manifest/data.py Held",
    "orchestrator/planning/commands/fleet_command.py Said",
    "orchestrator/planning/data.py Given",
    "remote_runtime/host/machine/leaving.py _Held",
    "remote_runtime/protocol/package_sharing.py Told",
    "remote_runtime/resources/file/write_ahead.py _Written",
    "remote_runtime/resources/package/dpkg/installed.py Kept",
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
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and node.name.strip("_") in PARTICIPLES
    }
    assert sorted(found - NOT_RENAMED) == []
