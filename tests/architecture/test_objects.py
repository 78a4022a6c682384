"""Objects are whole when they are made, and change by what they do themselves."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import modules, nodes, shown

# Objects of pytest, rich, jinja2 and threading, which are set up this way.
FOREIGN = {"report", "config", "backends", "head", "table", "environment", "patience"}


def set_from_outside(path: Path) -> Iterator[str]:
    """Every assignment to an attribute of another object than ``self``."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            owner = ast.unparse(node.value).partition(".")[0]
            own = isinstance(node.value, ast.Name) and owner == "self"
            if not own and owner not in FOREIGN:
                yield f"{shown(path)}:{node.lineno} {ast.unparse(node)}"


def test_nothing_is_filled_from_outside_after_it_was_made() -> None:
    """Where runs are driven, verified and reported, an attribute is assigned through self only."""
    rooms = modules("orchestrator/fleet", "orchestrator/report", "orchestrator/verify")
    assert [found for path in rooms for found in set_from_outside(path)] == []
