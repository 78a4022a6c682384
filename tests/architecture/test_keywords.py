"""What takes many values is given them by name: no reader counts commas."""

import ast

from tests.architecture.source import LAYERS, modules, nodes, parsed, shown

MANY = 4
ALONE = 2  # by position, of what takes many
CALLED_BY_TEMPLATES = ("jet_", "_jet")  # by position, as they are compiled
# Named tuples of which so many are made that names would be felt: of tokens, and looks at paths.
OF_MANY = ("Token", "Status", "ResolvedPath")


def test_a_function_of_many_parameters_takes_them_by_keyword() -> None:
    """With more than four parameters, no more than the first two may be given by position."""
    found = []
    for path in modules(*LAYERS):
        for node in nodes(path):
            if not isinstance(node, ast.FunctionDef) or node.name.startswith(CALLED_BY_TEMPLATES):
                continue
            given = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
            given = given[1:] if given[:1] in (["self"], ["cls"]) else given
            if len(given) + len(node.args.kwonlyargs) > MANY and len(given) > ALONE:
                found.append(f"{shown(path)}:{node.lineno} {node.name}")
    assert found == []


def test_a_named_tuple_of_many_values_is_given_them_by_name() -> None:
    """With more than four values, they are not told apart by where they stand."""
    trees = {path: parsed(path) for path in modules(*LAYERS)}
    nodes = [(path, node) for path, tree in trees.items() for node in ast.walk(tree)]
    bases: dict[str, list[str]] = {}
    for _, node in nodes:
        if isinstance(node, ast.ClassDef):
            bases.setdefault(node.name, []).append(",".join(map(ast.unparse, node.bases)))
    # A name that stands for other classes, too, tells nothing of a call.
    tuples = {name for name, of in bases.items() if set(of) == {"NamedTuple"}}.difference(OF_MANY)
    found = [
        f"{shown(path)}:{node.lineno} {node.func.id}"
        for path, node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in tuples
        and len(node.args) > MANY
    ]
    assert found == []
