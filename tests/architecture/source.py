"""The product's own source as the rules see it: its modules and who imports whom."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("remote_runtime", "schemas", "inventory", "orchestrator")
PRODUCT = (*LAYERS, "docs", "benchmarks", "examples")


def modules(*directories: str) -> list[Path]:
    """Every module below these directories of the project."""
    found = [path for directory in directories for path in sorted((ROOT / directory).rglob("*.py"))]
    assert found, f"no module below {directories}"
    return found


def shown(path: Path) -> str:
    """A path as a failure tells it."""
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module; read once."""
    gc.disable()  # which would look through all trees again and again
    try:
        return ast.parse(path.read_text(encoding="utf-8"), str(path))
    finally:
        gc.freeze()
        gc.enable()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of the syntax tree of a module, as ``ast.walk`` gives it; walked once."""
    return tuple(ast.walk(parsed(path)))


def dotted(path: Path) -> str:
    """The name that a module is imported by; a package's is that of its ``__init__``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(path: Path) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    """Every import wherever it stands, in functions and for types only too.

    Each as (line, module, names): absolute, and names are what ``from`` takes out of the module.
    """
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    package = list(path.relative_to(ROOT).with_suffix("").parts)
    for node in nodes(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, ()
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, stem, tuple(alias.name for alias in node.names)


@cache
def import_graph(*directories: str) -> dict[str, dict[str, int]]:
    """Who imports whom among the modules of these directories, with the first line that says so.

    ``from package import module`` is an import of that module; what else a package has is one of
    its ``__init__``.
    """
    known = {dotted(path): path for path in modules(*directories)}
    graph: dict[str, dict[str, int]] = {}
    for name, path in known.items():
        graph[name] = {}
        for line, stem, taken in imports(path):
            below = [f"{stem}.{word}" for word in taken]
            found = [module for module in below if module in known]
            if len(found) < len(below) or not below:
                found.append(stem)
            for module in found:
                if module in known:
                    graph[name].setdefault(module, line)
    return graph
