"""A name stands for one thing."""

from tests.architecture.source import ROOT, shown


def test_no_module_is_named_as_a_room_beside_it() -> None:
    """A room's name is no module's of another room, but for the command that is about it."""
    house = ROOT / "orchestrator"
    rooms = {path.parent.name for path in house.glob("*/__init__.py")}
    below = [p for p in house.glob("*/*.py") if p.stem in rooms - {p.parent.name}]
    assert [shown(path) for path in below if path.parent.name != "cli"] == []
