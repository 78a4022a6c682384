"""What is wrong with an expression that shows without facts and data (controller)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from jinja2 import nodes

from orchestrator.language.paths import BadPathError, split_path
from orchestrator.language.sandbox import Sandbox
from remote_runtime.nearest import nearest

Found = tuple[str, str, int]
"""A mistake: the message, a hint, and the ``lineno`` of its node."""
_LISTED = 30


def static_problems(
    trees: Sequence[nodes.Expr],
    engine: Sandbox,
    known: Collection[str],
    own: str = "",
    likely: Collection[str] = (),
) -> list[Found]:
    """Unknown names, filters and tests, bad paths, broken Jet texts.

    Names that begin with ``own`` are not the manifest's; ``likely`` are words that may be meant
    beside the known ones.
    """
    problems: list[Found] = []
    for name in walk(trees, nodes.Name):
        if name.name not in known and not (own and name.name.startswith(own)):
            message = f"{name.name!r} is not a name or function of templates"
            problems.append((message, _meant(name.name, known, likely), name.lineno))
    for kind, table in ((nodes.Filter, engine.filters), (nodes.Test, engine.tests)):
        for node in walk(trees, kind):
            if node.name not in table:
                message = f"there is no {kind.__name__.lower()} {node.name!r}"
                problems.append((message, _meant(node.name, table, likely), node.lineno))
    for call in calls(trees, ("lookup",)):
        for path in literal_arguments([call], ("lookup",))[:1]:
            try:
                split_path(path)
            except BadPathError as error:
                problems.append((f"lookup({path!r}): {error}", "", call.args[0].lineno))
    for call in calls(trees, ("jet",)):
        problems += [(message, hint, call.lineno) for message, hint in _jet_problems(call)]
    return problems


def _meant(word: str, known: Collection[str], likely: Collection[str]) -> str:
    if word in likely:
        return f"it is a function: {word}(…)"
    found = nearest(word, (*known, *likely))
    if found:
        return f"did you mean {found}?"
    return "known: " + ", ".join(known) if len(known) < _LISTED else ""


def walk(trees: Sequence[nodes.Expr], kind: type[Any]) -> list[Any]:
    """Every node of a kind, in the order written."""
    return [
        node
        for tree in trees
        for node in ([tree] if isinstance(tree, kind) else []) + list(tree.find_all(kind))
    ]


def calls(trees: Sequence[nodes.Expr], names: tuple[str, ...]) -> list[nodes.Call]:
    """The calls of some functions."""
    return [
        call
        for call in walk(trees, nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in names
    ]


def literal_arguments(trees: Sequence[nodes.Expr], names: tuple[str, ...]) -> list[str]:
    """The texts that are spelt out as the first argument of some functions."""
    return [
        call.args[0].value
        for call in calls(trees, names)
        if call.args
        and isinstance(call.args[0], nodes.Const)
        and isinstance(call.args[0].value, str)
    ]


def _jet_problems(call: nodes.Call) -> list[tuple[str, str]]:
    """The mistakes of a Jet template that stands in the expression as a literal."""
    from orchestrator.language.jet import Delimiters, text_problems

    given = [node.value for node in call.args if isinstance(node, nodes.Const)]
    if len(call.args) not in (1, 3) or call.kwargs:
        return [("jet() takes a template, and perhaps two delimiters", "")]
    if len(given) != len(call.args) or not all(isinstance(value, str) for value in given):
        return []  # known only once it is evaluated
    delimiters = Delimiters(*given[1:])
    if delimiters.problem():
        return [(f"jet(): {delimiters.problem()}", "")]
    return [(f"{p.where}: {p.message}", p.hint) for p in text_problems(given[0], delimiters)]
