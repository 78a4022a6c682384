"""The problems of an expression that can be found without facts and data (controller)."""

from collections.abc import Callable, Collection, Sequence
from math import isfinite
from typing import Any, NamedTuple

from jinja2 import nodes

from orchestrator.language.ansible_names import hint_for_name
from orchestrator.language.lookup_paths import BadPathError, PathText, check_path_text
from orchestrator.language.sandbox import Sandbox
from remote_runtime.text.suggestions import nearest

Finding = tuple[str, str, int]
"""A mistake: the message, a hint, and the ``lineno`` of its node."""
_LISTED = 30
NULLS, NONE = ("null", "nil"), "none"
"""The names for null in other languages, and in Jinja2."""
_OF_FOREACH = ("item", "key", "index")
_OF_FILES = ("managed",)


class Vocabulary(NamedTuple):
    """The limits of an expression: the sandbox that runs it, and the names of a scope.

    ``known`` contains all names; those in ``extra`` override functions of expr-lang. ``jet``
    returns the message and hint of each mistake in a call of ``jet()``.
    """

    engine: Sandbox
    known: tuple[str, ...]
    extra: tuple[str, ...]
    jet: Callable[[nodes.Call], list[tuple[str, str]]]


def static_problems(
    trees: Sequence[nodes.Node],
    vocabulary: Vocabulary,
    own: str = "",
    likely: Collection[str] = (),
) -> list[Finding]:
    """Unknown names, filters and tests, infinite numbers, bad paths, broken Jet strings.

    Names that begin with ``own`` are internal and do not come from the manifest; ``likely`` has
    words to suggest in addition to the known ones.
    """
    problems: list[Finding] = []
    for name in walk(trees, nodes.Name):
        if name.name not in vocabulary.known and not (own and name.name.startswith(own)):
            message = f"{name.name!r} is not a name or function that templates can use"
            problems.append((message, _meant(name.name, vocabulary.known, likely), name.lineno))
    for number in walk(trees, nodes.Const):
        if isinstance(number.value, float) and not isfinite(number.value):
            problems.append(("the number is larger than 1.7e308", "", number.lineno))
    engine = vocabulary.engine
    for kind, table in ((nodes.Filter, engine.filters), (nodes.Test, engine.tests)):
        for node in walk(trees, kind):
            if node.name not in table:
                message = f"there is no {kind.__name__.lower()} {node.name!r}"
                problems.append((message, _meant(node.name, table, likely), node.lineno))
    for call in calls(trees, ("lookup",)):
        path = next(iter([*call.args, *(word.value for word in call.kwargs)]), None)
        try:
            check_path_text(path, lambda node: _path_text(node, own + "concat"))
        except BadPathError as error:
            shown = repr(path.value) if isinstance(path, nodes.Const) else ""
            problems.append((f"lookup({shown}): {error}", "", (path or call).lineno))
    problems += secret_problems(trees)
    for call in calls(trees, ("jet",)):
        problems += [(message, hint, call.lineno) for message, hint in vocabulary.jet(call)]
    return problems


def _path_text(node: nodes.Expr | None, concat: str) -> PathText:
    """The origin of a path; ``concat`` is the function that joins its arguments."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return PathText(node.value, literal=True)
    if isinstance(node, nodes.CondExpr):
        return PathText(either=[choice for choice in (node.expr1, node.expr2) if choice])
    if isinstance(node, nodes.Concat):
        return PathText(joined=node.nodes)
    if isinstance(node, nodes.Call) and calls([node], (concat,)):
        return PathText(joined=node.args)
    if isinstance(node, nodes.Add):
        return PathText(joined=(node.left, node.right))
    if isinstance(node, nodes.Mod) and isinstance(node.left, nodes.Const):
        return PathText(str(node.left.value).split("%")[0])
    return PathText()


def _meant(word: str, known: Collection[str], likely: Collection[str]) -> str:
    if word in likely:
        return f"it is a function: {word}(…)"
    if word in NULLS:
        return f"write {NONE}"
    if word in _OF_FOREACH:
        return "only an entry with foreach has it"
    if word in _OF_FILES:
        return "only template files have it"
    hint = hint_for_name(word)
    if hint:
        return hint
    found = nearest(word, (*known, *likely))
    if found:
        return f"did you mean {found}?"
    return "known: " + ", ".join(known) if len(known) < _LISTED else ""


def walk(trees: Sequence[nodes.Node], kind: type[Any]) -> list[Any]:
    """Every node of a kind, in the order written."""
    return [
        node
        for tree in trees
        for node in ([tree] if isinstance(tree, kind) else []) + list(tree.find_all(kind))
    ]


def calls(trees: Sequence[nodes.Node], names: tuple[str, ...]) -> list[nodes.Call]:
    """The calls of some functions."""
    return [
        call
        for call in walk(trees, nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in names
    ]


def secret_problems(trees: Sequence[nodes.Node]) -> list[Finding]:
    """Calls of ``secret()`` whose argument is computed, and other uses of its name."""
    problems: list[Finding] = []
    called = calls(trees, ("secret",))
    for call in called:
        values = [one.value for one in call.args if isinstance(one, nodes.Const)]
        is_literal = len(values) == len(call.args) == 1 and isinstance(values[0], str)
        if not is_literal or call.kwargs:
            message = "secret() takes literal text, never computed text"
            problems.append((message, "such as secret('secrets.yaml#db.password')", call.lineno))
    names = {id(call.node) for call in called}
    others = [n for n in walk(trees, nodes.Name) if n.name == "secret" and id(n) not in names]
    if any(name.ctx != "load" for name in others):
        return []  # a name of the template's own
    alone = "secret can be called only by its own name"
    return problems + [(alone, "", name.lineno) for name in others]


def literal_arguments(trees: Sequence[nodes.Node], names: tuple[str, ...]) -> list[str]:
    """Return the string literals that are the first argument of some functions."""
    return [
        call.args[0].value
        for call in calls(trees, names)
        if call.args
        and isinstance(call.args[0], nodes.Const)
        and isinstance(call.args[0].value, str)
    ]
