"""What takes many values is given them by name: no reader counts commas."""

import ast

from tests.architecture.source import LAYERS, modules, parsed, shown

MANY = 4
ALONE = 2  # by position, of what takes many
CALLED_BY_TEMPLATES = ("jet_", "_jet")  # by position, as they are compiled


def test_a_function_of_many_parameters_takes_them_by_keyword() -> None:
    """With more than four parameters, no more than the first two may be given by position."""
    found = []
    for path in modules(*LAYERS):
        for node in ast.walk(parsed(path)):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith(CALLED_BY_TEMPLATES):
                continue
            given = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
            given = given[1:] if given[:1] in (["self"], ["cls"]) else given
            if len(given) + len(node.args.kwonlyargs) > MANY and len(given) > ALONE:
                found.append(f"{shown(path)}:{node.lineno} {node.name}")
    assert found == []
