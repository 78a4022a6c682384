"""The use cases in ``orchestrator/runs`` serve any front end."""

import ast

from tests.architecture.source import ROOT, nodes, shown

OF_A_FRONT_END = {"argparse", "getpass", "signal", "rich", "select"}
CALLS = {"print", "input", "exit", "quit"}
STREAMS = {"stdin", "stdout", "stderr", "exit", "argv"}


def test_use_cases_leave_screen_and_keyboard_to_the_front_end() -> None:
    """Nothing in ``runs`` prints, asks, exits or reads a command line."""
    found = []
    for path in (ROOT / "orchestrator" / "runs").glob("*.py"):
        for node in nodes(path):
            where = f"{shown(path)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import):
                found += [f"{where} {n.name}" for n in node.names if n.name in OF_A_FRONT_END]
            elif isinstance(node, ast.ImportFrom):
                found += [f"{where} {node.module}"] if node.module in OF_A_FRONT_END else []
            elif isinstance(node, ast.Name) and node.id in CALLS:
                found.append(f"{where} {node.id}")
            elif isinstance(node, ast.Attribute) and node.attr in STREAMS:
                found.append(f"{where} {ast.unparse(node)}")
    assert found == []
