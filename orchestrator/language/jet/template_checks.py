"""Checks of a template before it is rendered: names, functions and arguments (controller)."""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from orchestrator.language.cursor import ParseError
from orchestrator.language.jet.functions import FUNCTIONS, REFUSED
from orchestrator.language.jet.syntax import (
    Binary,
    Block,
    Call,
    Const,
    Field,
    Include,
    Index,
    Name,
    Node,
    Range,
    Set,
    Slot,
    Ternary,
    Tree,
    Try,
    Yield,
)
from orchestrator.language.lookup_paths import BadPathError, PathText, check_path_text
from remote_runtime.text.suggestions import nearest

_ARGUMENTS: dict[str, tuple[int, int | None]] = {
    **{name: (function.least, function.maximum) for name, function in FUNCTIONS.items()},
    "lookup": (1, 2),
    "file": (1, 1),
    "readFile": (1, 1),
    "registrations": (4, 4),
    "kvGet": (2, 3),
    "secret": (1, 1),
    "template": (1, 1),
    "isset": (1, None),
    "exec": (1, 2),
}


def walk(node: Any) -> Iterator[Node]:
    """Every node of a tree, including the tree itself, in the order written."""
    if isinstance(node, Node):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))
    elif isinstance(node, list | tuple):
        for entry in node:
            yield from walk(entry)


def call_problems(tree: Tree, more: Iterable[str]) -> Iterator[ParseError]:
    """Calls of functions that do not exist, or with too few or too many arguments.

    ``more`` has additional functions, which check their arguments themselves.
    """
    for node in walk(tree.body):
        if isinstance(node, Slot):
            hint = 'it takes the place of the piped value: 2 | repeat("x", _)'
            yield ParseError("_ is allowed only in a call after a pipe", node.at, hint)
        elif isinstance(node, Call) and node.name not in more:
            yield from _call_problem(node, more)


def _call_problem(call: Call, more: Iterable[str]) -> Iterator[ParseError]:
    if call.name in REFUSED:
        yield ParseError(f"{call.name}() is not supported here", call.at, REFUSED[call.name])
        return
    if call.name not in _ARGUMENTS:
        known = sorted({*_ARGUMENTS, *more})
        likely = nearest(call.name, known)
        hint = f"did you mean {likely}?" if likely else "known: " + ", ".join(known)
        yield ParseError(f"there is no function {call.name!r}", call.at, hint)
        return
    least, maximum = _ARGUMENTS[call.name]
    count = len(call.arguments)
    if count < least or (maximum is not None and count > maximum):
        words = str(least) if least == maximum else f"{least} or more" if maximum is None else (
            f"{least} to {maximum}"
        )  # fmt: skip
        noun = "argument" if words == "1" else "arguments"
        yield ParseError(f"{call.name} takes {words} {noun}, not {count}", call.at)
    elif call.name == "secret" and not _is_text(call.arguments[0]):
        yield ParseError("secret() takes literal text, never computed text", call.at)
    elif call.name == "lookup":
        try:
            check_path_text(call.arguments[0], _path_text)
        except BadPathError as error:
            yield ParseError(f"lookup(): {error}", call.at)


def _is_text(node: Node) -> bool:
    return isinstance(node, Const) and isinstance(node.value, str)


def _path_text(node: Node) -> PathText:
    if isinstance(node, Const) and isinstance(node.value, str):
        return PathText(node.value, literal=True)
    if isinstance(node, Ternary):
        return PathText(either=(node.yes, node.no))
    if isinstance(node, Binary) and node.operator == "+":
        return PathText(joined=(node.left, node.right))
    return PathText()


def introduced(tree: Tree) -> set[str]:
    """The variables that a template sets anywhere."""
    found: set[str] = set()
    for node in walk(tree.body):
        if isinstance(node, Set) and node.let:
            found.update(node.names)
        elif isinstance(node, Range):
            found.update((node.index, node.value))
        elif isinstance(node, Block):
            found.update(name for name, _ in node.parameters)
        elif isinstance(node, Yield):
            found.update(name for name, _ in node.arguments)
        elif isinstance(node, Try):
            found.add(node.error)
    return found


def used(node: Any) -> Iterator[Name]:
    """The variables required on every path, without those in ``isset`` or in a ``try``."""
    if isinstance(node, Name):
        yield node
    elif isinstance(node, Try):
        yield from used(node.otherwise)
    elif isinstance(node, Call) and node.name == "isset":
        for argument in node.arguments:
            yield from _used_as_keys(argument)
    elif isinstance(node, Node):
        for field in fields(node):
            yield from used(getattr(node, field.name))
    elif isinstance(node, list | tuple):
        for entry in node:
            yield from used(entry)


def _used_as_keys(node: Any) -> Iterator[Name]:
    while isinstance(node, Field | Index):
        if isinstance(node, Index):
            yield from used(node.key)
        node = node.base
    if not isinstance(node, Name):
        yield from used(node)


def unknown_names(tree: Tree, known: set[str]) -> Iterator[ParseError]:
    """Variables that no template sets."""
    for name in used(tree.body):
        if name.name not in known:
            likely = nearest(name.name, [word for word in known if word])
            hint = f"did you mean {likely}?" if likely else f"set it first: {name.name} := …"
            yield ParseError(f"{name.name!r} is not set anywhere", name.at, hint)


def includes(tree: Tree) -> Iterator[tuple[Const | None, bool]]:
    """The paths of the templates that are run; None for a computed path. Each comes with whether it
    may be missing.
    """
    for node in walk(tree.body):
        if isinstance(node, Include):
            yield (node.path if isinstance(node.path, Const) else None), node.optional
        elif isinstance(node, Call) and node.name == "exec":
            path = node.arguments[0] if node.arguments else None
            yield (path if isinstance(path, Const) else None), False
