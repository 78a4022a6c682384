"""Finds the possible values of an expression in the files of the project (controller)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import fact_names
from orchestrator.ansible.jinja.parsing import (
    STATEMENTS,
    is_template,
    outputs,
    path_of,
    sole_expressions,
)
from orchestrator.ansible.jinja.scope import OPEN, Sample, Scope
from orchestrator.ansible.problems import NotConvertible

_TEXTS = frozenset(
    [
        "lower",
        "upper",
        "capitalize",
        "title",
        "trim",
        "replace",
        "join",
        "regex_replace",
        "regex_escape",
        "basename",
        "dirname",
        "quote",
        "to_json",
        "to_nice_json",
        "to_yaml",
        "to_nice_yaml",
        "b64encode",
        "b64decode",
        "hash",
        "password_hash",
        "comment",
        "string",
        "indent",
        "center",
        "wordwrap",
        "truncate",
        "escape",
        "e",
        "urlencode",
        "ipwrap",
        "checksum",
        "sha1",
        "md5",
    ]
)
_TEXT_METHODS = frozenset(
    ["lower", "upper", "capitalize", "title", "strip", "lstrip", "rstrip", "replace", "join",
     "format", "zfill", "ljust", "rjust", "center", "removeprefix", "removesuffix"]
)  # fmt: skip
_BOOL_METHODS = frozenset(["startswith", "endswith", "isdigit", "isalpha", "isupper", "islower"])
_BOOLS = frozenset(["bool"])
_NUMBERS = frozenset(["int", "float", "length", "count", "sum", "abs", "round", "wordcount"])
_LISTS = frozenset(
    [
        "list",
        "map",
        "select",
        "reject",
        "selectattr",
        "rejectattr",
        "sort",
        "unique",
        "flatten",
        "union",
        "difference",
        "intersect",
        "symmetric_difference",
        "dict2items",
        "split",
        "regex_findall",
        "zip",
        "product",
        "batch",
        "slice",
        "reverse",
        "dictsort",
        "splitext",
    ]
)
_MAPS = frozenset(["combine", "items2dict"])
_PARSED = frozenset(["from_json", "from_yaml"])  # hardly ever text
_SAME_ELEMENTS = frozenset(
    [
        "list",
        "select",
        "reject",
        "selectattr",
        "rejectattr",
        "sort",
        "unique",
        "union",
        "difference",
        "reverse",
    ]
)


_LIST_METHODS = frozenset(["split", "rsplit", "splitlines", "items", "keys", "values"])

_OF_KIND = (
    ((nodes.Compare, nodes.Test, nodes.Not), "bool"),
    ((nodes.Concat, nodes.TemplateData), "text"),
)


def _joined(*samples: Sample) -> Sample:
    result = Sample()
    for one in samples:
        result.values += one.values
        result.kinds |= one.kinds
        result.open |= one.open
        result.scope = result.scope or one.scope
    return result


def sample_of(node: nodes.Node, scope: Scope, depth: int = 0) -> Sample:
    """The possible values of an expression, if known."""
    if depth > 20:
        return OPEN
    path = path_of(node)
    if path is not None:
        return _of_path(path[0], path[1], scope, depth)
    if isinstance(node, nodes.Const):
        return Sample([node.value])
    for kinds, kind in _OF_KIND:
        if isinstance(node, kinds):
            return Sample(kinds={kind})
    if isinstance(node, nodes.CondExpr):
        other = sample_of(node.expr2, scope, depth) if node.expr2 is not None else Sample([""])
        return _joined(sample_of(node.expr1, scope, depth), other)
    if isinstance(node, (nodes.List, nodes.Tuple)):
        return _of_list(node, scope, depth)
    if isinstance(node, nodes.Dict):
        return _of_map(node, scope, depth)
    if isinstance(node, nodes.Filter):
        return _of_filter(node, scope, depth)
    if isinstance(node, (nodes.And, nodes.Or, nodes.Add)):
        left, right = sample_of(node.left, scope, depth), sample_of(node.right, scope, depth)
        either = left.all_kinds() | right.all_kinds()
        if isinstance(node, nodes.Add) and either and either <= {"text", "number", "none"}:
            return Sample(kinds=either - {"none"})
        return _joined(left, right)
    return _of_part(node, scope, depth)


def loses_newline(text: str, scope: Scope) -> bool:
    """Whether Ansible may drop the last newline of a string: after a single value of another type.

    NotConvertible if the string is not a template.
    """
    if text.startswith("#jinja2:"):  # a line with options for Jinja
        text = text.partition("\n")[2]
    if not text.endswith("\n") or text.endswith("\n\n"):
        return False
    found = [sample_of(one, scope) for one in sole_expressions(text[:-1])]
    return any(one.open or one.all_kinds() - {"text"} for one in found)


def _of_part(node: nodes.Node, scope: Scope, depth: int) -> Sample:
    if isinstance(node, nodes.Mod):  # a format, or a remainder
        first = sample_of(node.left, scope, depth + 1)
        return Sample(kinds={"text"}) if first.all_kinds() == {"text"} else Sample(kinds={"number"})
    if isinstance(node, (nodes.BinExpr, nodes.Neg, nodes.Pos)):
        return Sample(kinds={"number"})
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        if node.node.attr in _LIST_METHODS:
            return Sample(kinds={"list"}, open=True)
        if node.node.attr in _BOOL_METHODS:
            return Sample(kinds={"bool"})
        return Sample(kinds={"text"}) if node.node.attr in _TEXT_METHODS else OPEN
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
        return _of_call(node.node.name, node.args, scope, depth)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        inner = sample_of(node.node, scope, depth + 1)
        return Sample(kinds=inner.all_kinds() & {"list", "text"}, open=True)
    if _is_parsed(node):
        return _MEMBER
    if isinstance(node, nodes.Getitem):
        return elements(sample_of(node.node, scope, depth + 1))
    return OPEN


_MEMBER = Sample(kinds={"bool", "number", "text"}, open=True)
"""A member of parsed JSON or YAML."""


def _is_parsed(node: Any) -> bool:
    """Whether an expression is a member of what ``from_json`` or ``from_yaml`` returns."""
    if isinstance(node, (nodes.Getattr, nodes.Getitem)):
        inner = node.node
        return _is_parsed(inner) or (isinstance(inner, nodes.Filter) and inner.name in _PARSED)
    return False


def _of_call(name: str, arguments: list[Any], scope: Scope, depth: int) -> Sample:
    if name == STATEMENTS:
        return Sample(kinds={"text"})
    if name == "dict":
        return Sample(kinds={"map"}, open=True)
    plugin = str(getattr(arguments[0], "value", "")).rsplit(".", 1)[-1] if arguments else ""
    if name in ("query", "q", "lookup") and plugin == "dict" and len(arguments) > 1:
        return _pairs(sample_of(arguments[1], scope, depth + 1))
    return Sample(kinds={"list"}, open=True) if name in ("query", "q") else OPEN


def _of_list(node: Any, scope: Scope, depth: int) -> Sample:
    inner = [sample_of(one, scope, depth + 1) for one in node.items]
    if any(one.open or one.kinds for one in inner):
        return Sample(kinds={"list"}, open=any(one.open for one in inner))
    return Sample([[value for one in inner for value in one.values]])


def _of_map(node: nodes.Dict, scope: Scope, depth: int) -> Sample:
    pairs = [(p.key, sample_of(p.value, scope, depth + 1)) for p in node.items]
    known: dict[Any, Any] = {}
    for key, one in pairs:
        if not isinstance(key, nodes.Const) or len(one.values) != 1:
            return Sample(kinds={"map"})
        known[key.value] = one.values[0]
    return Sample([known])


def _of_path(name: str, keys: list[Any], scope: Scope, depth: int) -> Sample:
    if name in ("ansible_facts", "vars") and keys:
        prefix = "ansible_" if name == "ansible_facts" else ""
        name, keys = f"{prefix}{keys[0]}", keys[1:]
    known = scope.registers.get(name)
    if known is not None and known.element is not None and keys:
        return _of_result(known.element, name, keys, scope)
    if name in scope.locals:
        return below(scope.locals[name], keys)
    if name in scope.task_vars:
        found = resolve(scope.task_vars[name], scope, depth)
        rest = {key: one for key, one in scope.task_vars.items() if key != name}
        return below(replace(found, scope=scope.having(task_vars=rest)), keys)
    if name in scope.registers:
        return _of_register(keys)
    if name in scope.values:
        return below(_of_variable(name, scope, depth), keys)
    if name.startswith("ansible_"):
        fact = name[8:]
        if fact in fact_names.LISTS and keys:
            return OPEN if fact == "mounts" else Sample(kinds={"text"})
        number = fact in fact_names.NUMBERS
        return Sample(
            kinds={"number" if number else "list" if fact in fact_names.LISTS else "text"}
        )
    if name in ("inventory_hostname", "inventory_hostname_short", "role_name", "playbook_dir"):
        return Sample(kinds={"text"})
    if name in ("group_names", "groups"):
        is_name = len(keys) > (name == "groups")
        return Sample(kinds={"text" if is_name else "list"})
    return OPEN


def _of_result(element: Any, name: str, keys: list[Any], scope: Scope) -> Sample:
    """Return a sample of one result of a loop: its element, or the result of the task."""
    if keys[0] != "item":
        return _of_register(keys)
    rest = {key: one for key, one in scope.registers.items() if key != name}
    return below(sample_of(element, scope.having(registers=rest)), keys[1:])


_KIND_OF_MEMBER = {
    "files": "list", "stdout_lines": "list", "matched": "number", "rc": "number",
    "status": "number", "changed": "bool", "exists": "bool", "isdir": "bool", "isreg": "bool",
    "islnk": "bool", "failed": "bool", "size": "number", "uid": "number", "gid": "number",
    "nlink": "number", "inode": "number", "mtime": "number", "ctime": "number",
    "atime": "number",
}  # fmt: skip


def _of_register(keys: list[Any]) -> Sample:
    if not keys:
        return Sample(kinds={"map"})
    if keys[0] in ("json", "results"):
        return _MEMBER if keys[0] == "json" and len(keys) > 1 else OPEN
    found = _KIND_OF_MEMBER.get(str(keys[-1]), "text")
    return Sample(kinds={found}, open=keys == ["files"])


def _of_variable(name: str, scope: Scope, depth: int) -> Sample:
    """The possible values of a variable; a variable that reads itself can have any value."""
    known = scope.uses.samples
    if name not in known:
        known[name] = OPEN
        plain = scope.having(locals={}, task_vars={}) if scope.locals or scope.task_vars else scope
        known[name] = _joined(*(resolve(one, plain, depth) for one in scope.values[name]))
        known[name].scope = plain
    return known[name]


def resolve(value: Any, scope: Scope, depth: int = 0) -> Sample:
    """The possible values of a YAML value after its template is rendered."""
    if is_template(value):
        try:
            parts = outputs(value)
        except NotConvertible:
            return OPEN
        whole = parts[0] if parts is not None and len(parts) == 1 else None
        return sample_of(whole, scope, depth + 1) if whole is not None else Sample(kinds={"text"})
    return Sample([value])


def below(sample: Sample, keys: list[Any]) -> Sample:
    """The possible values of members of a list or map."""
    for key in keys:
        found: list[Any] = []
        for value in sample.values:
            if (isinstance(value, dict) and key in value) or (
                isinstance(value, (list, tuple)) and isinstance(key, int) and key < len(value)
            ):
                found.append(value[key])
        is_open = sample.open or bool(sample.kinds & {"list", "map"}) or not found
        sample = _members(found, sample, is_open)
    return sample


def _members(values: list[Any], outer: Sample, is_open: bool) -> Sample:
    """The sample of members of lists or maps, of which some may be templates."""
    plain = [one for one in values if not is_template(one)]
    made = [_rendered(one, outer.scope) for one in values if is_template(one)]
    return _joined(Sample(plain, set(), is_open or bool(made), outer.scope), *made)


def _rendered(text: str, scope: Scope | None) -> Sample:
    """The kinds of what a template within a variable may be."""
    if scope is None:
        return OPEN
    known = scope.uses.samples
    if text in known:
        return known[text]
    known[text] = OPEN  # also for one that reads itself
    found = resolve(text, scope)
    result = Sample(found.values, found.kinds, True, found.scope)
    if scope.locals or scope.task_vars:
        del known[text]  # it may have another value in another task
    else:
        known[text] = result
    return result


def elements(sample: Sample) -> Sample:
    """The possible elements of a list, or keys of a map."""
    found: list[Any] = []
    for value in sample.values:
        if isinstance(value, (list, tuple, dict)):
            found += list(value)
    return _members(found, sample, sample.open or bool(sample.kinds))


def map_values(sample: Sample) -> Sample:
    """The possible values of a map."""
    found = [one for value in sample.values if isinstance(value, dict) for one in value.values()]
    return _members(found, sample, sample.open or bool(sample.kinds))


def _of_filter(node: nodes.Filter, scope: Scope, depth: int) -> Sample:
    name = node.name.rsplit(".", 1)[-1]
    inner = sample_of(node.node, scope, depth + 1) if node.node is not None else OPEN
    if name in ("default", "d"):
        if not node.args:
            return _joined(inner, Sample([""]))
        given = sample_of(node.args[0], scope, depth + 1)
        return _joined(inner, _without_keys(given, _keys_of(node.node, node.args[0])))
    if name == "ternary":
        return _joined(*(sample_of(one, scope, depth + 1) for one in node.args))
    for names, kind in ((_TEXTS, "text"), (_BOOLS, "bool"), (_NUMBERS, "number")):
        if name in names:
            return Sample(kinds={kind})
    if name in ("first", "last", "min", "max", "random"):
        return elements(inner)
    if name == "dict2items":
        return _pairs(inner)
    if name in _SAME_ELEMENTS and not inner.kinds and name not in ("union", "list"):
        return Sample(inner.values, set(), inner.open, inner.scope)
    if name == "list":
        is_list = inner.all_kinds() == {"list"}
        return inner if is_list else Sample(kinds={"list"}, open=True)
    if name in _PARSED:
        return Sample(kinds={"list", "map"}, open=True)
    if name in _LISTS or (name in _LISTS_OF and _LISTS_OF[name](node.args)):
        return Sample(kinds={"list"}, open=True)
    return Sample(kinds={"map"}, open=True) if name in _MAPS else OPEN


def _is_projection(arguments: list[Any]) -> bool:
    """Whether a query of JMESPath returns a list."""
    text = getattr(arguments[0], "value", None) if arguments else None
    return isinstance(text, str) and "[" in text and "|" not in text


_LISTS_OF: dict[str, Callable[[list[Any]], bool]] = {
    "json_query": _is_projection,
    "regex_search": lambda given: len(given) > 1,
}
"""Filters that return a list with some arguments."""


def _keys_of(node: Any, whole: Any) -> set[Any]:
    """The keys of ``whole`` that an expression reads, such as ``item.name`` of ``item``."""
    if isinstance(node, nodes.Filter) and node.name in ("default", "d"):
        return set().union(*(_keys_of(one, whole) for one in (node.node, *node.args[:1])))
    path, base = path_of(node), path_of(whole)
    if path is None or base is None or not path[1] or (path[0], path[1][:-1]) != base:
        return set()
    return {path[1][-1]}


def _without_keys(sample: Sample, keys: set[Any]) -> Sample:
    """A sample without the maps that have one of the keys, whose value is used instead."""
    left = [one for one in sample.values if not (isinstance(one, dict) and keys & set(one))]
    return Sample(left, sample.kinds, sample.open, sample.scope)


def _pairs(sample: Sample) -> Sample:
    found = [
        [{"key": key, "value": one} for key, one in value.items()]
        for value in sample.values
        if isinstance(value, dict)
    ]
    return Sample(found, set(), sample.open or bool(sample.kinds), sample.scope)
