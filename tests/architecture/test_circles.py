"""No files import each other in a circle: each can be read, and changed, before those above it."""

from tests.architecture.source import PRODUCT, import_graph


def circles(graph: dict[str, dict[str, int]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan), each sorted."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    found: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        path.append(module)
        on_path.add(module)
        for other in graph[module]:
            if other not in order:
                visit(other)
            if other in on_path:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            cut = path.index(module)
            if len(path) > cut + 1:
                found.append(sorted(path[cut:]))
            on_path.difference_update(path[cut:])
            del path[cut:]

    for module in graph:
        if module not in order:
            visit(module)
    return sorted(found)


def _told(circle: list[str], graph: dict[str, dict[str, int]]) -> str:
    lines = [
        f"  {module}:{line} imports {other}"
        for module in circle
        for other, line in sorted(graph[module].items())
        if other in circle
    ]
    return "\n".join(["these import each other:", *lines])


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports in functions and for types only count as any other."""
    graph = import_graph(*PRODUCT, "tests")
    found = circles(graph)
    assert not found, "\n".join(_told(circle, graph) for circle in found)


def test_circles_are_found_whole() -> None:
    """A circle is told once with all of its modules, however many ways lead around in it."""
    ways = {"a": "b", "b": "cd", "c": "a", "d": "b", "e": "af", "f": "", "g": "h", "h": "g"}
    graph = {module: dict.fromkeys(others, 1) for module, others in ways.items()}
    assert circles(graph) == [["a", "b", "c", "d"], ["g", "h"]]
