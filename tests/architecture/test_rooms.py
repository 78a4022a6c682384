"""The rooms of the controller stand in one order, and imports go down it only."""

from tests.architecture.source import ROOT, import_graph

# From the top: each may use those below it.
ROOMS = (
    "cli",
    "studio",
    "runs",
    "ansible",
    "report",
    "verify",
    "cluster",
    "plan_files",
    "planning",
    "transport",
    "rollout",
    "workers",
    "history",
    "fleet",
    "project",
    "formatter",
    "manifest",
    "templates",
    "expressions",
    "language",
    "secrets",
    "sources",
    "registration",
    "site_types",
    "image",
    "support",
)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_room_has_its_place() -> None:
    """A directory of the controller without a place in the order is refused."""
    directories = {p.parent.name for p in (ROOT / "orchestrator").glob("*/__init__.py")}
    assert directories == set(ROOMS), f"ROOMS of {__file__} names each room once, in its place"
    loose = [p.name for p in (ROOT / "orchestrator").glob("*.py") if p.name != "__init__.py"]
    assert loose == [], "a module of the controller lies in a room"


def test_imports_go_down_the_order_only() -> None:
    """No room imports one above it, in a function or for types neither."""
    upward = [
        f"{module}:{line} imports {other}"
        for module, others in import_graph("orchestrator").items()
        for other, line in others.items()
        if _room(module) and _room(other) and ROOMS.index(_room(module)) > ROOMS.index(_room(other))
    ]
    assert upward == []
