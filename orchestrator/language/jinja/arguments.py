"""Finds calls in a whole template that cannot succeed because of their arguments (controller)."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import nodes

from orchestrator.language.checks import Finding

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
            yield f"{name}() needs {' and '.join(missing)}", "", call.node.lineno


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
        from orchestrator.language.call_errors import of_call

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
