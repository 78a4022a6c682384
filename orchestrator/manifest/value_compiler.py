"""Compiles nodes into values with parsed templates (controller)."""

import re
from typing import Any

from inventory.yaml_document import EncryptedScalar, Mapping, Node, Scalar, Sequence
from orchestrator.expressions import Expression, Template
from orchestrator.expressions.scan import holds_expression
from orchestrator.expressions.template import TEMPLATED, TemplatedList, TemplatedMap
from remote_runtime.errors import InputError, Position, Problem

_PLAIN = (
    "if the braces are for another program, set render: false, use --no-render, write {{ '{{' }}, "
    "or use a file next to the manifest as source"
)

_MAX_MISSES = 100  # pieces of one scalar whose spelling in the file differs


def compile_node(
    node: Node,
    problems: list[Problem],
    *,
    lenient: bool = False,
    keys: bool = False,
    extra: tuple[str, ...] = (),
) -> Any:
    """Plain data if nothing is a template; otherwise a tree that ``render_value`` resolves.

    ``keys``: the keys of a map may be templates, too. ``extra`` has names in addition to those of
    every scope. Problems of expressions are appended.
    """

    def compiled(below: Node) -> Any:
        """Compile a node below this one with the same settings."""
        return compile_node(below, problems, lenient=lenient, keys=keys, extra=extra)

    if isinstance(node, EncryptedScalar):
        from orchestrator.expressions.template import encrypted_template

        return encrypted_template(node)
    if isinstance(node, Scalar):
        if node.kind == "str" and holds_expression(node.text):
            return parse_template(node, problems, lenient, extra)
        return node.value
    if isinstance(node, Sequence):
        entries = [compiled(entry) for entry in node.nodes]
        return TemplatedList(entries) if any(map(is_templated, entries)) else entries
    assert isinstance(node, Mapping)
    pairs = [
        (
            compiled(key) if keys and key.kind == "str" else key.text,
            compiled(value),
        )
        for key, value in node.pairs()
    ]
    if any(is_templated(key) or is_templated(value) for key, value in pairs):
        return TemplatedMap(pairs)
    return dict(pairs)


def is_templated(value: Any) -> bool:
    """Whether a compiled value contains a template."""
    return isinstance(value, TEMPLATED)


def parse_template(
    node: Scalar, problems: list[Problem], lenient: bool = False, extra: tuple[str, ...] = ()
) -> Any:
    """Return the template of a string; the string itself if an expression in it is broken."""
    try:
        return Template.parse(node.text, Locator(node), lenient, extra)
    except InputError as error:
        problems.extend(_with_plain_hint(problem) for problem in error.problems)
        return node.text


def _with_plain_hint(problem: Problem) -> Problem:
    """The problem, with a hint about braces that belong to another program."""
    match = re.search(r"^the expression '\s*[^\w\s'\"(\[{-]", problem.message)
    if match:  # as {{ $labels.x }}, {{.Names}}, {{#each x}}: a hint about names would not help
        return problem._replace(hint=_PLAIN)
    unknown = "is not a name or function" in problem.message
    if unknown and problem.hint.startswith("write "):
        return problem
    if unknown or "cannot be parsed" in problem.message:
        asks = problem.hint.endswith("?")
        both = f"{problem.hint} {_PLAIN.capitalize()}" if asks else f"{problem.hint}; {_PLAIN}"
        own = problem.hint and not problem.hint.startswith("known: ")
        return problem._replace(hint=both if own else _PLAIN)
    return problem


def parse_bare(
    node: Scalar, problems: list[Problem], extra: tuple[str, ...] = ()
) -> Expression | None:
    """The expression of a whole text, without braces."""
    if holds_expression(node.text):
        hint = "write the expression without braces"
        problems.append(Problem("braces are not allowed here", node.position, hint, "template"))
        return None
    try:
        locator = Locator(node)
        return Expression.parse(
            node.text.lower() if node.kind == "bool" else node.text,
            node.position,
            extra=extra,
            locate=lambda offset: locator(node.text[offset:], offset),
        )
    except InputError as error:
        problems.extend(error.problems)
        return None


def expressions_in(value: Any) -> list[Expression]:
    """Every expression below a compiled value."""
    if isinstance(value, Template):
        return value.expressions
    if isinstance(value, TemplatedMap):
        return [e for pair in value.entries for part in pair for e in expressions_in(part)]
    if isinstance(value, TemplatedList):
        return [e for entry in value.entries for e in expressions_in(entry)]
    return []


def with_entry(value: Any, path: tuple[str | int, ...], entry: Any) -> Any:
    """The value with a new entry at the path; the containers along the path are copied."""
    if not path:
        return entry
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = with_entry(value[path[0]], path[1:], entry)
    return copy


class Locator:
    """Finds the positions of the pieces of one scalar in the file.

    A scalar's text and its spelling differ (quotes, escapes, folding), so the search for each piece
    starts at the end of the previous one. A piece that is not found gets the scalar's position, and
    so do all pieces after ``_MAX_MISSES``, because searching for hundreds of thousands would take
    minutes.
    """

    def __init__(self, node: Scalar) -> None:
        self._node = node
        self._line = node.line - 1
        self._column = node.column - 1
        self._last = min(len(node.source.lines), node.line + node.text.count("\n") + 50)
        self._misses = 0

    def __call__(self, piece: str, _: int) -> Position:
        lines = self._node.source.lines
        first = piece.split("\n", 1)[0]
        for number in range(self._line, self._last if self._misses < _MAX_MISSES else 0):
            at = lines[number].find(first, self._column if number == self._line else 0)
            if at >= 0:
                self._line, self._column = number, at + 1
                return self._node.source.position(number + 1, at + 1)
        self._misses += 1
        return self._node.position


def flag(node: Node | None, name: str, problems: list[Problem]) -> bool:
    """A boolean of the manifest, false by default; mistakes are appended to ``problems``."""
    if node is None:
        return False
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    message = f"{name} must be true or false, not {node.describe()}"
    problems.append(Problem(message, node.position, "", "input.type"))
    return False
