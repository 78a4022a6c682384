"""Filters, tests and look-up plugins of Ansible in the words of ccm (controller)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, nodes

from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.problems import NotConvertible
from orchestrator.language.jinja.environment import Settings, WholeSandbox
from orchestrator.language.sandbox import Sandbox

Translate = Callable[[Any], Any]

_PREFIXES = ("ansible.builtin.", "community.general.", "ansible.utils.", "ansible.netcommon.")
_TEST_NAMES = {"version_compare": "version", "issubset": "subset", "issuperset": "superset"}
_PATTERNS = ("regex_replace", "regex_search", "regex_findall", "match", "search")


@cache
def _filters(whole: bool) -> frozenset[str]:
    if whole:
        return frozenset(WholeSandbox(StrictUndefined, Settings(), _none, _none).filters)
    return frozenset(Sandbox(StrictUndefined).filters)


def _none(*_: Any) -> Any:
    raise LookupError


@cache
def _tests() -> frozenset[str]:
    return frozenset(Sandbox(StrictUndefined).tests)


def _plain(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def filter_of(node: nodes.Filter, of: Translate, whole: bool) -> Any:
    """A filter of ccm; NotConvertible."""
    name = _plain(node.name)
    inner = of(node.node) if node.node is not None else None
    arguments = [of(one) for one in node.args]
    named = [nodes.Keyword(one.key, of(one.value)) for one in node.kwargs]
    if name == "format":
        return _format(inner, arguments)
    if name in ("version_compare", "changed", "success", "failed", "skipped"):
        raise NotConvertible(f"the filter {name}, which Ansible 2.9 removed")
    if name not in _filters(whole):
        raise NotConvertible(f"ccm has no filter {name}")
    if name in _PATTERNS and arguments:
        check_pattern(arguments[0])
    if name in ("hash", "password_hash") and arguments:
        _check_algorithm(name, arguments[0])
    if name in ("map", "select", "reject", "selectattr", "rejectattr"):
        _check_names(name, arguments, whole)
    return nodes.Filter(inner, name, arguments, named, node.dyn_args, node.dyn_kwargs)


def _check_algorithm(name: str, node: Any) -> None:
    known = {"password_hash": ("sha512", "bcrypt")}.get(name)
    value = node.value if isinstance(node, nodes.Const) else None
    if known and value not in known:
        raise NotConvertible(f"{name} makes sha512 and bcrypt only")


def _check_names(name: str, arguments: list[Any], whole: bool) -> None:
    """The filter of ``map`` and the test of ``select`` must exist, too."""
    position = 1 if name.endswith("attr") else 0
    if len(arguments) <= position or not isinstance(arguments[position], nodes.Const):
        return
    word = str(arguments[position].value)
    if name == "map":
        known = _plain(word) in _filters(whole)
    else:
        known = _TEST_NAMES.get(_plain(word), _plain(word)) in _tests()
    if not known:
        raise NotConvertible(f"ccm has no {'filter' if name == 'map' else 'test'} {word}")
    arguments[position] = nodes.Const(_TEST_NAMES.get(_plain(word), _plain(word)))
    if _plain(word) in _PATTERNS and len(arguments) > position + 1:
        check_pattern(arguments[position + 1])


def _format(inner: Any, arguments: list[Any]) -> Any:
    """``'%s-%s' | format(a, b)`` as ``a ~ '-' ~ b``."""
    if not isinstance(inner, nodes.Const) or not isinstance(inner.value, str):
        raise NotConvertible("the filter format with a computed text")
    parts = re.split(r"(%%|%s|%d|%)", inner.value)
    if any(one in ("%", "%%") for one in parts) or sum(one in ("%s", "%d") for one in parts) != len(
        arguments
    ):
        raise NotConvertible("the filter format with more than %s")
    rest = iter(arguments)
    words = [next(rest) if one in ("%s", "%d") else nodes.Const(one) for one in parts if one]
    return (
        nodes.Concat(words)
        if len(words) > 1
        else nodes.Filter(words[0], "string", [], [], None, None)
    )


def check_pattern(node: Any) -> None:
    """NotConvertible where a literal pattern has what RE2 has not."""
    value = node.value if isinstance(node, nodes.Const) else None
    if isinstance(value, str):
        check_expression(value)


_NOT_LINEAR = re.compile(r"\(\?(?:[=!]|<[=!])|(?<!\\)(?:\\\\)*\\[1-9]|\\Z")


def check_expression(pattern: str) -> None:
    """NotConvertible where a regular expression has look-around or refers to its groups."""
    if _NOT_LINEAR.search(pattern):
        raise NotConvertible("a regular expression with look-around or references to groups")


def test_of(node: nodes.Test, of: Translate) -> Any:
    """A test of ccm; NotConvertible."""
    name = _TEST_NAMES.get(_plain(node.name), _plain(node.name))
    inner = of(node.node)
    arguments = [of(one) for one in node.args]
    named = [nodes.Keyword(one.key, of(one.value)) for one in node.kwargs]
    if name in ("truthy", "falsy") and not arguments and not named:
        truth = [nodes.Const(name == "truthy"), nodes.Const(name == "falsy")]
        return nodes.CondExpr(inner, *truth)
    if name == "contains" and len(arguments) == 1:
        return nodes.Compare(arguments[0], [nodes.Operand("in", inner)])
    if name not in _tests():
        raise NotConvertible(f"ccm has no test {name}")
    if name in _PATTERNS and arguments:
        check_pattern(arguments[0])
    return nodes.Test(inner, name, arguments, named, node.dyn_args, node.dyn_kwargs)


def look_up(node: nodes.Call, of: Translate, scope: Scope) -> Any:
    """``lookup('file', …)`` and its like; NotConvertible for other plugins."""
    first = node.args[0] if node.args else None
    plugin = _plain(first.value) if isinstance(first, nodes.Const) else ""
    arguments = list(node.args[1:])
    if plugin == "env" and len(arguments) == 1 and isinstance(arguments[0], nodes.Const):
        name = str(arguments[0].value)
        found = nodes.Getattr(nodes.Name("Environ", "load"), name, "load")
        return nodes.Filter(found, "default", [nodes.Const("")], [], None, None)
    if plugin in ("file", "template") and len(arguments) == 1 and not node.kwargs:
        folder = scope.files if plugin == "file" else scope.templates
        if isinstance(arguments[0], nodes.Const):
            path: Any = nodes.Const(posixpath.join(folder, str(arguments[0].value)))
            if str(arguments[0].value).startswith(("/", "~")):
                raise NotConvertible("lookup of a file outside of the project")
        else:
            path = nodes.Concat([nodes.Const(folder + "/"), of(arguments[0])])
        call = nodes.Call(nodes.Name(plugin, "load"), [path], [], None, None)
        if plugin == "template":
            return call
        return nodes.Call(nodes.Getattr(call, "rstrip", "load"), [], [], None, None)
    if plugin in ("flattened", "list", "items") and arguments and not node.kwargs:
        made = nodes.List([of(one) for one in arguments])
        levels = [nodes.Keyword("levels", nodes.Const(1))] if plugin == "items" else []
        return made if plugin == "list" else nodes.Filter(made, "flatten", [], levels, None, None)
    if plugin == "vars" and len(arguments) == 1 and isinstance(arguments[0], nodes.Const):
        return of(nodes.Name(str(arguments[0].value), "load"))
    raise NotConvertible(f"ccm has no lookup plugin {plugin or 'of a computed name'}")
