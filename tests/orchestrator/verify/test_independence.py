"""A second opinion shares nothing with the first."""

from tests.architecture.source import LAYERS, ROOT, dotted, import_graph, imports

SHARED = {"errors", "plan_item", "reporting.masking", "text.suggestions"}
"""What says how things are named, told and hidden; none of it looks at a host."""


def test_nothing_that_observes_is_shared() -> None:
    """Of the runtime, verify imports names, errors and the mask, and the target's side nothing."""
    room = ROOT / "orchestrator" / "verify"
    graph = import_graph(*LAYERS)
    found = {
        f"{path.name}: {name}"
        for path in room.rglob("*.py")
        for name in graph[dotted(path)]
        if name.startswith("remote_runtime.") and name.partition(".")[2] not in SHARED
    }
    assert found == set()
    own = [name for _, name, _ in imports(room / "shell_server.py")]
    assert own
    assert not [name for name in own if name.split(".")[0] in ("orchestrator", "remote_runtime")]
