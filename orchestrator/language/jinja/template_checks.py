"""The problems of a template that can be found without facts and data (controller)."""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from jinja2 import nodes
from jinja2.meta import find_undeclared_variables

from orchestrator.language.ansible_names import hint_for_name
from orchestrator.language.call_errors import call_without, of_call
from orchestrator.language.expression_checks import (
    NONE,
    NULLS,
    Finding,
    Vocabulary,
    calls,
    static_problems,
)
from orchestrator.language.jinja.environment import WholeSandbox
from remote_runtime.text.suggestions import nearest

# The required arguments of functions that exist only for a host.
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "lookup": ("path",),
    "file": ("path",),
    "readFile": ("path",),
    "template": ("text",),
    "jet": ("text",),
    "kvGet": ("bucket", "key"),
    "secret": ("reference",),
    "registrations": ("cluster", "protocol", "service", "address"),
}


def missing_arguments(
    tree: nodes.Template, filters: Mapping[str, Any], tests: Mapping[str, Any], own: frozenset[str]
) -> Iterator[Finding]:
    """Calls of filters, tests and functions without a required argument; ``own`` names
    are skipped.
    """
    for table, kind in ((filters, nodes.Filter), (tests, nodes.Test)):
        for node in tree.find_all(kind):
            message = _complaint(table.get(node.name), node)
            if message:
                yield message, "", node.lineno
    for call in tree.find_all(nodes.Call):
        name = call.node.name if isinstance(call.node, nodes.Name) else ""
        if name in own or name not in _REQUIRED or _is_open(call):
            continue
        given = {keyword.key for keyword in call.kwargs}
        missing = [one for one in _REQUIRED[name][len(call.args) :] if one not in given]
        if missing:
            yield call_without(f"{name}()", missing), "", call.node.lineno


def _complaint(function: Callable[..., Any] | None, node: Any) -> str:
    """Python's error for this call, "" if none is known in advance."""
    if function is None or _is_open(node):
        return ""
    inner = inspect.unwrap(function)
    try:
        signature = inspect.signature(inner)
    except (TypeError, ValueError):  # a function of C that does not describe itself
        return ""
    passed = [None] * (1 + hasattr(inner, "jinja_pass_arg"))
    try:
        signature.bind(*passed, *node.args, **{word.key: word for word in node.kwargs or ()})
    except TypeError as error:
        return of_call(f"{node.name}() {_asked(str(error), signature)}")
    return ""


def _asked(message: str, signature: inspect.Signature) -> str:
    """The error of a failed call, derived from that of a failed ``bind``."""
    if message.startswith("missing a required"):
        return message.replace("missing a required", "missing 1 required", 1)
    if message.startswith("too many"):
        return f"takes {len(signature.parameters)} positional arguments but more were given"
    return message


def _is_open(node: Any) -> bool:
    """Whether it has additional arguments from a list or a map."""
    return node.dyn_args is not None or node.dyn_kwargs is not None


_OPTIONAL_TESTS = ("defined", "undefined")
_OPTIONAL_FILTERS = ("default", "d", "mandatory")
_SPECIAL = ("caller", "kwargs", "loop", "self", "super", "varargs")
_CALLED = ("template", "jet", "file", "readFile")
_PERHAPS = (nodes.If, nodes.For, nodes.Macro, nodes.CondExpr, nodes.And, nodes.Or)
"""Nodes that may not evaluate all of their parts."""
_REFERENCES = (nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include)


class Reference(NamedTuple):
    """A template that another one names. ``path`` is None if it is known only at evaluation."""

    path: str | None
    offset: int
    optional: bool


class LiteralCall(NamedTuple):
    """A call of ``template()``, ``jet()`` or ``file()`` with one literal text, and the ``names`` of
    its keywords. ``sure``: every run of the template makes the call.
    """

    function: str
    text: str
    names: tuple[str, ...]
    offset: int
    sure: bool


class Facets(NamedTuple):
    """The names and calls in the tree of a template.

    ``free`` are the names that it reads, with the offset of each, ``introduced`` the names
    that it sets, ``optional`` the names that may be missing.
    """

    free: dict[str, int]
    introduced: frozenset[str]
    optional: frozenset[str]
    references: tuple[Reference, ...]
    literals: frozenset[str]
    calls: tuple[LiteralCall, ...]


def tree_problems(tree: nodes.Template, sandbox: WholeSandbox) -> list[Finding]:
    """Unknown filters and tests, missing arguments, bad paths of ``lookup()``; offsets from 0."""
    names = tuple({node.name for node in tree.find_all(nodes.Name)})
    found = static_problems([tree], Vocabulary(sandbox, names, (), lambda _: []))
    called = {id(call.node) for call in calls([tree], ("lookup",))}
    for name in tree.find_all(nodes.Name):
        if name.name == "lookup" and name.ctx == "load" and id(name) not in called:
            found.append(("lookup can be called only by its own name", "", name.lineno))
    told = {at for _, _, at in found}
    introduced = frozenset(_introduced(tree))
    for one in missing_arguments(tree, sandbox.filters, sandbox.tests, introduced):
        if one[2] not in told:
            found.append(one)
    return [(message, hint, at - 1) for message, hint, at in found]


def facets(tree: nodes.Template) -> Facets:
    """The names and calls of a tree; TemplateSyntaxError."""
    unset = find_undeclared_variables(tree) - {*_SPECIAL}
    free: dict[str, int] = {}
    for name in tree.find_all(nodes.Name):
        if name.name in unset:
            free[name.name] = min(free.get(name.name, name.lineno - 1), name.lineno - 1)
    introduced = frozenset(_introduced(tree))
    return Facets(
        free=free,
        introduced=introduced,
        optional=frozenset(_optional(tree)),
        references=tuple(_references(tree)),
        literals=frozenset(n.value for n in tree.find_all(nodes.Const) if isinstance(n.value, str)),
        calls=tuple(call for call in _calls(tree) if call.function not in introduced),
    )


def unknown_names(own: Facets, known: Collection[str]) -> Iterator[Finding]:
    """The names that a template uses and nothing sets."""
    for name, offset in own.free.items():
        if name not in known:
            likely = nearest(name, known)
            hint = f"did you mean {likely}?" if likely else "test it with `is defined`, or set it"
            hint = f"write {NONE}" if name in NULLS else hint_for_name(name) or hint
            yield f"{name!r} is not a name or function of this template", hint, offset


def _introduced(tree: nodes.Template) -> Iterator[str]:
    for name in tree.find_all(nodes.Name):
        if name.ctx != "load":
            yield name.name
    for macro in tree.find_all(nodes.Macro):
        yield macro.name
    for imported in tree.find_all(nodes.Import):
        yield imported.target
    for wanted in tree.find_all(nodes.FromImport):
        yield from (name if isinstance(name, str) else name[1] for name in wanted.names)


def _optional(tree: nodes.Template) -> Iterator[str]:
    for kind, names in ((nodes.Test, _OPTIONAL_TESTS), (nodes.Filter, _OPTIONAL_FILTERS)):
        for node in tree.find_all(kind):
            if node.name in names and isinstance(node.node, nodes.Name):
                yield node.node.name


def _calls(node: nodes.Node, sure: bool = True) -> Iterator[LiteralCall]:
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and len(node.args) == 1:
        text = node.args[0].value if isinstance(node.args[0], nodes.Const) else None
        if node.node.name in _CALLED and isinstance(text, str):
            names = tuple(word.key for word in node.kwargs)
            name = node.node.name
            yield LiteralCall(name, text, names=names, offset=node.lineno - 1, sure=sure)
    for below in node.iter_child_nodes():
        yield from _calls(below, sure and not isinstance(node, _PERHAPS))


def _references(tree: nodes.Template) -> Iterator[Reference]:
    for node in tree.find_all(nodes.Node):
        if not isinstance(node, _REFERENCES):
            continue
        optional = bool(getattr(node, "ignore_missing", False))
        named = node.template
        choices = named.items if isinstance(named, nodes.List | nodes.Tuple) else [named]
        for choice in choices:
            path = choice.value if isinstance(choice, nodes.Const) else None
            literal = path if isinstance(path, str) else None
            yield Reference(literal, node.lineno - 1, optional or len(choices) > 1)
