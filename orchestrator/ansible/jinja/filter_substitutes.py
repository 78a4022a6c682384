"""Replaces filters that ccm lacks with filters that it has (controller)."""

import re
from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.problems import NotConvertible

_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_PROJECTION = re.compile(
    r"(?P<base>[A-Za-z_][\w.]*)?\[(?:\*|\?(?P<key>[\w.]+)\s*==\s*[`'\"]+(?P<value>[^`'\"]*)[`'\"]+)?\]"
    r"(?:\.(?P<rest>[A-Za-z_][\w.]*))?(?P<first>\s*\|\s*\[0\])?"
)

_SEED = 3  # the position of the seed among the arguments of random


def filtered(node: Any, name: str, *arguments: Any, **named: Any) -> nodes.Filter:
    """``node | name(arguments)``."""
    words = [nodes.Keyword(key, nodes.Const(one)) for key, one in named.items()]
    return nodes.Filter(node, name, [_node(one) for one in arguments], words, None, None)


def _node(value: Any) -> Any:
    return value if isinstance(value, nodes.Node) else nodes.Const(value)


def substitute(name: str, expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    """Return a ccm expression for a filter that ccm lacks, or None. NotConvertible."""
    maker = _MAKERS.get(name)
    return maker(expression, arguments, named) if maker is not None else None


def _version(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    return nodes.Test(expression, "version", arguments, named, None, None)


def _hashed(kind: str) -> Callable[[Any, list[Any], list[Any]], Any]:
    def make(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
        return None if arguments or named else filtered(expression, "hash", kind)

    return make


def _address(kind: str) -> Callable[[Any, list[Any], list[Any]], Any]:
    def make(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
        if named or len(arguments) > 1:
            return None
        found = filtered(expression, "ipaddr", kind)
        return filtered(found, "ipaddr", arguments[0]) if arguments else found

    return make


def _replaced(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    """Convert ``regex_replace`` if its pattern only removes the matches."""
    if len(arguments) != 1 or any(one.key == "replacement" for one in named):
        return None
    return nodes.Filter(
        expression, "regex_replace", [*arguments, nodes.Const("")], named, None, None
    )


def _query(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    """Convert ``json_query`` in one of the simple forms ``a.b``, ``[*].a``, ``[?a=='b'].c``."""
    if len(arguments) != 1 or named or not isinstance(arguments[0], nodes.Const):
        raise NotConvertible("ccm has no filter json_query")
    text = str(arguments[0].value).strip()
    if _PLAIN_PATH.fullmatch(text):
        return _below(expression, text)
    match = _PROJECTION.fullmatch(text)
    if match is None:
        raise NotConvertible("ccm has no filter json_query")
    found = _below(expression, match["base"]) if match["base"] else expression
    if match["key"]:
        found = filtered(found, "selectattr", match["key"], "defined")
        found = filtered(found, "selectattr", match["key"], "equalto", match["value"])
    if match["rest"]:
        found = filtered(found, "selectattr", match["rest"], "defined")
        found = filtered(found, "map", attribute=match["rest"])
    found = filtered(found, "list")
    return filtered(found, "first") if match["first"] else found


def _below(node: Any, path: str) -> Any:
    for key in path.split("."):
        node = nodes.Getattr(node, key, "load")
    return node


def _joined(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    """Convert ``path_join`` of a literal list in which no part after the first is absolute."""
    if arguments or named or not isinstance(expression, (nodes.List, nodes.Tuple)):
        return None
    for one in expression.items[1:]:
        if isinstance(one, nodes.Const) and str(one.value).startswith("/"):
            return None
    return filtered(expression, "join", "/")


def _resolved(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    raise NotConvertible("realpath, which follows the symlinks of the controller")


def _random(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    """With a seed, ccm finds the same value as Ansible."""
    if not any(one.key == "seed" for one in named) and len(arguments) < _SEED:
        raise NotConvertible("random without a seed, which returns a different value on every run")
    return None


def _parsed(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    """``from_yaml`` returns a value that is not text unchanged."""
    is_value = isinstance(expression, nodes.Filter) and expression.name in (
        "from_json",
        "from_yaml",
    )
    return expression if is_value else None


def _part_of_url(expression: Any, arguments: list[Any], named: list[Any]) -> Any:
    part = arguments[0] if arguments else named[0].value if named else None
    if isinstance(part, nodes.Const) and part.value in ("password", "netloc"):
        raise NotConvertible(
            f"urlsplit('{part.value}'): a password in a URL; store it in a separate variable"
        )
    return None


_MAKERS: dict[str, Callable[[Any, list[Any], list[Any]], Any]] = {
    "version_compare": _version,
    "sha1": _hashed("sha1"),
    "checksum": _hashed("sha1"),
    "md5": _hashed("md5"),
    "ipv4": _address("ipv4"),
    "ipv6": _address("ipv6"),
    "regex_replace": _replaced,
    "json_query": _query,
    "path_join": _joined,
    "random": _random,
    "realpath": _resolved,
    "from_json": _parsed,
    "from_yaml": _parsed,
    "urlsplit": _part_of_url,
}
