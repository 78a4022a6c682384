"""Translates Ansible's filters, tests and lookup plugins to those of ccm (controller)."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, nodes

from orchestrator.ansible.jinja.filter_substitutes import filtered, substitute
from orchestrator.ansible.jinja.parsing import names_in, parts_of, path_of
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import unparse
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
    """The equivalent filter in ccm; NotConvertible."""
    name = _plain(node.name)
    inner: Any = of(node.node) if node.node is not None else None
    arguments = [of(one) for one in node.args]
    named = [nodes.Keyword(one.key, of(one.value)) for one in node.kwargs]
    if name == "ternary" and len(arguments) == 2 and not named and _is_defined(node.node):
        return nodes.CondExpr(inner, *arguments)
    if name in ("default", "d") and arguments and _is_address(inner):
        # Without its own address, a host of ccm has its name as the address.
        own = nodes.Compare(inner, [nodes.Operand("ne", nodes.Getattr(inner.node, "name", "load"))])
        return nodes.CondExpr(own, inner, arguments[0])
    if name in ("changed", "success", "failed", "skipped"):
        raise NotConvertible(f"the filter {name}, which Ansible 2.9 removed")
    other = substitute(name, inner, arguments, named)
    if other is not None:
        return other
    if name not in _filters(whole):
        raise NotConvertible(f"ccm has no filter {name}")
    if name in _PATTERNS and arguments:
        check_pattern(arguments[0])
    if name == "password_hash" and arguments:
        _check_algorithm(arguments[0])
    if name in ("map", "select", "reject", "selectattr", "rejectattr"):
        _check_names(name, arguments, whole)
    return nodes.Filter(inner, name, arguments, named, node.dyn_args, node.dyn_kwargs)


_BOOLEANS = frozenset(["yes", "on", "true", "1", "no", "off", "false", "0", "none", ""])


def as_boolean(node: nodes.Expr, of: Translate, scope: Scope) -> nodes.Filter:
    """``x | bool``, which is false for any string that is not a boolean."""
    sample = sample_of(node, scope)
    is_known = not sample.open and sample.kinds <= {"bool", "none"}
    if is_known and all(str(one).lower() in _BOOLEANS for one in sample.values):
        return filtered(of(node), "bool")
    return filtered(of(node), "bool", False)


def _is_address(node: Any) -> bool:
    """Whether a ccm expression is the address of a host."""
    if not isinstance(node, nodes.Getattr) or node.attr != "address":
        return False
    base = node.node.node if isinstance(node.node, nodes.Getitem) else node.node
    return isinstance(base, nodes.Name) and base.name in ("Host", "Hosts")


def _is_defined(node: Any) -> bool:
    """Whether a test prevents its argument from being read if it is missing."""
    inner = node.node if isinstance(node, nodes.Not) else node
    return isinstance(inner, nodes.Test) and inner.name in ("defined", "undefined")


def _check_algorithm(node: Any) -> None:
    value = node.value if isinstance(node, nodes.Const) else None
    if value not in ("sha512", "bcrypt"):
        raise NotConvertible("password_hash supports only sha512 and bcrypt")


def _check_names(name: str, arguments: list[Any], whole: bool) -> None:
    """Check that the filter of ``map`` and the test of ``select`` exist, too."""
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


def check_pattern(node: Any) -> None:
    """NotConvertible if a literal pattern uses features that RE2 lacks."""
    value = node.value if isinstance(node, nodes.Const) else None
    if isinstance(value, str):
        check_expression(value)


_NOT_LINEAR = re.compile(r"\(\?(?:[=!]|<[=!])|(?<!\\)(?:\\\\)*\\[1-9]|\\Z")


def check_expression(pattern: str) -> None:
    """NotConvertible where a regular expression has look-around or refers to its groups."""
    if _NOT_LINEAR.search(pattern):
        raise NotConvertible("a regular expression with look-around or backreferences")


def test_of(node: nodes.Test, of: Translate) -> Any:
    """The equivalent test in ccm; NotConvertible."""
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
    """``lookup('file', …)`` and similar calls; NotConvertible for other plugins."""
    first = node.args[0] if node.args else None
    plugin = _plain(str(first.value)) if isinstance(first, nodes.Const) else ""
    arguments = list(node.args[1:])
    options = {one.key: one.value for one in node.kwargs}
    wants_list = _is_true(options.pop("wantlist", None)) or _name_of(node) in ("query", "q")
    if plugin == "env" and len(arguments) == 1 and isinstance(arguments[0], nodes.Const):
        name = str(arguments[0].value)
        found = nodes.Getattr(nodes.Name("Environ", "load"), name, "load")
        return nodes.Filter(found, "default", [nodes.Const("")], [], None, None)
    if plugin == "template":
        options.pop("convert_data", None)  # without effect since Ansible 2.19
    if plugin in ("file", "template") and len(arguments) == 1 and not options:
        written = constant_text(arguments[0])
        if written is None:
            raise NotConvertible("lookup of a file with a computed name")
        if written.startswith(("/", "~")) or scope.locate is None:
            raise NotConvertible("lookup of a file outside of the project")
        path: Any = nodes.Const(scope.locate(scope, plugin, written))
        call = nodes.Call(nodes.Name(plugin, "load"), [path], [], None, None)
        if plugin == "template":
            return call
        return nodes.Call(nodes.Getattr(call, "rstrip", "load"), [], [], None, None)
    if plugin in ("flattened", "list", "items") and arguments and not options:
        made = nodes.List([of(one) for one in arguments])
        if plugin == "list":
            return made if wants_list or len(arguments) > 1 else made.items[0]
        levels = {"levels": 1} if plugin == "items" else {}
        flat = filtered(made, "flatten", **levels)
        return flat if wants_list else filtered(flat, "join", ",")
    if plugin == "dict" and len(arguments) == 1 and not options:
        return nodes.Filter(of(arguments[0]), "dict2items", [], [], None, None)
    if plugin == "vars" and len(arguments) == 1 and not wants_list:
        default = options.get("default")
        return _variable(arguments[0], default, of, scope)
    if plugin == "url" and len(arguments) == 1:
        return _of_url(of(arguments[0]), options, wants_list, scope)
    raise NotConvertible(f"ccm has no lookup plugin {plugin or 'of a computed name'}")


def constant_text(node: Any) -> str | None:
    """The text of a literal expression, without ``role_path`` at its start."""
    if isinstance(node, nodes.Const):
        return str(node.value)
    parts = node.nodes if isinstance(node, nodes.Concat) else parts_of(node, nodes.Add)
    rest = [one.value for one in parts[1:] if isinstance(one, nodes.Const)]
    if not rest or len(rest) < len(parts) - 1 or path_of(parts[0]) != ("role_path", []):
        return None
    text = "".join(str(one) for one in rest).lstrip("/")
    return text.removeprefix("files/").removeprefix("templates/")


def _name_of(node: nodes.Call) -> str:
    return node.node.name if isinstance(node.node, nodes.Name) else ""


def _is_true(node: Any) -> bool:
    return isinstance(node, nodes.Const) and bool(node.value)


def _variable(name: Any, default: Any, of: Translate, scope: Scope) -> Any:
    """``lookup('vars', NAME)``: a variable, whose name may join a string and a value."""
    if isinstance(name, nodes.Const):
        found: Any = nodes.Name(str(name.value), "load")
        if default is not None:
            found = nodes.Filter(found, "default", [default], [], None, None)
        return of(found)
    found = computed(name, of, scope)
    return (
        found if default is None else nodes.Filter(found, "default", [of(default)], [], None, None)
    )


def computed(name: Any, of: Translate, scope: Scope) -> Any:
    """Return the variable whose name is a string before or after a value. NotConvertible."""
    parts = name.nodes if isinstance(name, nodes.Concat) else parts_of(name, nodes.Add)
    begin = parts[0].value if isinstance(parts[0], nodes.Const) else ""
    end = parts[-1].value if isinstance(parts[-1], nodes.Const) else ""
    known = [
        one
        for one in scope.values
        if one.startswith(str(begin)) and one.endswith(str(end)) and one != f"{begin}{end}"
    ]
    if not (begin or end) or not known:
        raise NotConvertible("a variable with a computed name")
    for one in known:
        of(nodes.Name(one, "load"))
    if any(one in scope.renames for one in known):
        raise NotConvertible("a variable with a computed name, which the role sets again")
    return nodes.Getitem(nodes.Name("Data", "load"), of(name), "load")


def _of_url(url: Any, options: dict[str, Any], wants_list: bool, scope: Scope) -> Any:
    """``lookup('url', …)``: the host sends the request, because ccm's controller sends none."""
    if "headers" in options:
        raise NotConvertible("lookup of a URL with headers")
    whole = "split_lines" in options and not _is_true(options["split_lines"])
    answer = fetched(url, scope)
    text: Any = nodes.Getattr(answer, "stdout", "load")
    if whole:
        return text
    lines = nodes.Call(nodes.Getattr(text, "splitlines", "load"), [], [], None, None)
    return lines if wants_list else nodes.Filter(lines, "join", [nodes.Const(",")], [], None, None)


def fetched(url: Any, scope: Scope, options: str = "") -> Any:
    """``Asked.NAME`` with the response to ``curl`` on the host. NotConvertible."""
    written = unparse(url)
    if scope.no_data or "Asked." in written or "item" in names_in(url):
        raise NotConvertible("a URL that depends on a lookup on the host, or on a loop element")
    shown = url.value if isinstance(url, nodes.Const) else "{{ " + written + " }}"
    question = {"command": f"curl --fail --silent --show-error --location{options} {shown}"}
    name = scope.uses.name_of("url", question)
    scope.uses.asks[name] = question
    scope.uses.uncertainties.append(
        f"Asked.{name} is the response to curl on the host; in the original, the "
        "controller sends the request"
    )
    return nodes.Getattr(nodes.Name("Asked", "load"), name, "load")


def has_key(value: Any, key: Any) -> bool:
    """Whether a literal value contains an element."""
    if isinstance(value, dict):
        return key in value
    return isinstance(value, list) and isinstance(key, int) and -1 < key < len(value)


def constants(node: Any) -> list[Any] | None:
    """The strings of a literal string or list; None for other expressions."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return [node.value]
    if not isinstance(node, (nodes.List, nodes.Tuple)):
        return None
    found = [one.value for one in node.items if isinstance(one, nodes.Const)]
    is_whole = len(found) == len(node.items) and all(isinstance(one, str) for one in found)
    return found if is_whole else None


def extracted(node: nodes.Filter, of: Translate, hostvars: Callable[[Any, list[Any]], Any]) -> Any:
    """``extract`` of a member of ``hostvars``, also for each host of a list; otherwise None."""
    start = int(node.name == "map" and node.args[:1] == [nodes.Const("extract")])
    given = node.args[start:]
    is_extract = node.name == "extract" or start == 1
    if not is_extract or not given or path_of(given[0]) != ("hostvars", []):
        return None
    keys = [key for one in given[1:] for key in _literal_keys(one)]
    found = path_of(hostvars(nodes.Const(""), keys))
    if found is None:
        raise NotConvertible("extract of a fact that ccm computes from others")
    more = [nodes.Const(key) for key in found[1][1:]]
    words = [*node.args[:start], nodes.Name("Hosts", "load"), *more]
    return nodes.Filter(of(node.node), node.name, words, [], None, None)


def _literal_keys(node: nodes.Expr) -> list[Any]:
    """A literal key, or those of a literal list. NotConvertible."""
    try:
        found = node.as_const()
    except nodes.Impossible:
        raise NotConvertible("extract with a computed key") from None
    return list(found) if isinstance(found, (list, tuple)) else [found]
