"""Which modules of the runtime every run imports, each behind what it imports itself (controller).

A target imports these in one go, which saves it the work of the import system for each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

# What is imported in functions that every run calls.
_ROOTS = (
    "remote_runtime.session",
    "remote_runtime.ledger",
    *(
        f"remote_runtime.facts.{family}"
        for family in ("host", "cpu", "memory", "network", "partition", "custom", "fit")
    ),
)


def at_once(members: Mapping[str, bytes]) -> list[str]:
    """The names, made of the sources that go into an image by their paths."""
    sources = {_name(path): source for path, source in members.items() if path.endswith(".py")}
    found: dict[str, None] = {}
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name not in sources:
            return
        seen.add(name)
        visit(name.rpartition(".")[0])
        for other in _imported(sources[name]):
            visit(other)
        found[name] = None

    for root in _ROOTS:
        visit(root)
    return list(found)


def _name(path: str) -> str:
    return path[: -len(".py")].removesuffix("/__init__").replace("/", ".")


def _imported(source: bytes) -> Iterator[str]:
    """What a module may import when it is imported itself, in its order."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
