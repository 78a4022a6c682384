"""Facts that replace a value that was read before: they get a separate name in data (controller).

``set_fact`` may read the earlier value of its own variable, or follow tasks that read it. Data has
one value for each name, so the new value has its own name, and everything after it reads that name.
"""

import re
from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.conversion import included_vars
from orchestrator.ansible.conversion.loops import Loop, element_scope, read_loop
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja import fact_names, text_rewriter
from orchestrator.ansible.jinja.parsing import (
    condition_tree,
    is_template,
    names_in,
    parse_expression,
    parts_of,
    path_of,
    tree_of,
)
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import operand, unparse
from orchestrator.ansible.modules.module_arguments import expression_of
from orchestrator.ansible.output.manifest_entries import (
    CHECK,
    Datum,
    Record,
    as_test,
    grouped,
    list_of,
    numbered,
)
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task, listed


def names_now(builder: Conversion, task: Task, value: Any) -> dict[str, str]:
    """The names that a fact reads and that have another name in data by now, as variables."""
    read = repr([value, listed(task.keywords.get("when"))])
    return {
        name: "{{ " + new.removeprefix("Data.") + " }}"
        for name, new in builder.scope.renames.items()
        if new.startswith("Data.") and re.search(rf"\b{re.escape(name)}\b", read)
    }


def is_needed(builder: Conversion, task: Task, name: str, value: Any) -> bool:
    """Whether the value of a fact needs its own name."""
    if task.loop is not None or name in builder.scope.renames or _reads_value(task, name):
        return True
    if fact_names.is_fact(name):
        return True
    plain = included_vars.own_default(name, value)
    if is_template(plain) or isinstance(plain, (list, dict)):
        try:
            if name in names_in(tree_of(plain)):
                return True
        except NotConvertible:
            if re.search(rf"\b{re.escape(name)}\b", str(plain)):
                return True
    if _may_stay_unset(task, name) and (
        not _is_known(builder, name) or included_vars.is_included(builder, name)
    ):
        return True
    read = name in builder.scope.uses.data and name not in builder.facts
    return read and name in builder.project_variables and plain is value


def _reads_value(task: Task, name: str) -> bool:
    """Whether a condition reads the earlier value, not only whether it is set or empty."""
    trees = [condition_tree(one) for one in listed(task.keywords.get("when")) if one is not True]
    parts = [part for one in trees for part in parts_of(one, nodes.And)]
    read = [one for one in parts if name in names_in(one)]
    return any(not _is_test_for_empty(one, name) and not _tests_presence(one) for one in read)


def _tests_presence(node: nodes.Expr) -> bool:
    """Whether a condition begins with whether a name is set."""
    first = parts_of(node, nodes.Or)[0]
    inner = first.node if isinstance(first, nodes.Not) else first
    return isinstance(inner, nodes.Test) and inner.name in ("defined", "undefined")


def of_empty_default(builder: Conversion, task: Task, names: list[str]) -> Task:
    """``when: x == ''`` of a fact that is always empty before, as ``when: x is not defined``."""
    for name in names:
        known = builder.scope.values.get(name, [])
        others = [one for one in known if one != task.args[name]]
        if task.loop is not None or not others or any(one != "" for one in others):
            continue
        trees = [condition_tree(one) for one in listed(task.keywords.get("when"))]
        parts = [part for one in trees for part in parts_of(one, nodes.And)]
        kept = [one for one in parts if not _is_test_for_empty(one, name)]
        if len(kept) == len(parts) or any(name in names_in(one) for one in kept):
            continue
        before = [f"{one.name} {one.all_properties()!r}" for one in builder.manifest.entries()]
        if name in builder.scope.renames or any(f"Data.{name}" in one for one in before):
            continue  # an earlier task reads the empty value
        builder.emptied.add(name)
        builder.scope.values = {**builder.scope.values, name: [task.args[name]]}
        when = [*(unparse(one) for one in kept), f"{name} is not defined"]
        task = task.with_keywords(when=when)
    return task


def _is_test_for_empty(node: nodes.Expr, name: str) -> bool:
    """Whether a condition is ``x == ''``, ``not x`` or ``x | length == 0``."""
    if isinstance(node, nodes.Not):
        return path_of(node.node) == (name, [])
    if not isinstance(node, nodes.Compare) or len(node.ops) != 1 or node.ops[0].op != "eq":
        return False
    inner, other = node.expr, node.ops[0].expr
    if isinstance(inner, nodes.Filter) and inner.node is not None:
        is_length = inner.name in ("length", "count")
        return is_length and path_of(inner.node) == (name, []) and other == nodes.Const(0)
    return path_of(inner) == (name, []) and other == nodes.Const("")


def _may_stay_unset(task: Task, name: str) -> bool:
    """Whether a fact is set under a condition other than that it is still undefined."""
    whens = [one for one in listed(task.keywords.get("when")) if one is not True]
    return any(name not in names_in(condition_tree(one)) for one in whens)


def set_versions(
    builder: Conversion, task: Task, record: Record, arguments: dict[str, Any]
) -> None:
    """Set facts under separate names. NotConvertible."""
    scope = builder.scope_of(task)
    before = len(scope.uses.uncertainties)
    if task.loop is not None:
        made = _looped(builder, task, scope, arguments)
    else:
        when = listed(task.keywords.get("when"))
        conditions = [text_rewriter.condition(one, scope) for one in when if one is not True]
        conditions = [one for one in conditions if not _is_true(one)]
        made = {
            name: _chosen(builder, name, _expression(value, scope), conditions)
            for name, value in arguments.items()
        }
    uncertainties = scope.uses.uncertainties[before:]
    for name, text in made.items():
        new = _define(builder, name, text, "by set_fact, for the resources that follow")
        before_it = set(re.findall(r"\bData\.(\w+)", text))
        if "default(none)" in text or before_it & scope.uses.optional:
            scope.uses.optional.add(new)
        for one in uncertainties:
            scope.uses.uncertain[new] = one
            builder.mark(record, CHECK, one)
    _follow(builder, list(made))


def _expression(value: Any, scope: Scope) -> str:
    try:
        return expression_of(value, scope)
    except NotConvertible:
        if not isinstance(value, str):
            raise
    text = text_rewriter.text(value, scope)
    if text.startswith("{{") and text.count("{{") == 1:
        return text[2:-2].strip()
    raise NotConvertible("a fact whose parts contain statements")


def _is_true(condition: str) -> bool:
    """Whether a condition is true on every host."""
    try:
        return parse_expression(condition).as_const() is True
    except nodes.Impossible:
        return False


def _chosen(builder: Conversion, name: str, value: str, conditions: list[str]) -> str:
    """The new value if the conditions are true, else the earlier one."""
    if not conditions:
        return value
    return f"{grouped(value)} if {as_test(conditions)} else {_earlier(builder, name)}"


def _is_known(builder: Conversion, name: str) -> bool:
    included = any(name in one for choice in builder.includes for one in choice.files.values())
    return name in builder.project_variables or name in builder.facts or included


def _earlier(builder: Conversion, name: str) -> str:
    renamed = builder.scope.renames.get(name)
    if renamed:
        return renamed
    if fact_names.is_fact(name):
        return text_rewriter.expression_text(name, builder.scope)
    builder.scope.uses.data.add(name)
    return f"Data.{name}" if _is_known(builder, name) else f"Data.{name} | default(none)"


def _define(builder: Conversion, name: str, text: str, comment: str) -> str:
    """Define data with an expression, under a new name that everything after it reads."""
    new = numbered(f"{name}_set", {*builder.manifest.data, *builder.scope.values}, "{}_{}")
    builder.manifest.data[new] = Datum("{{ " + text + " }}", [f"{name}, {comment}"])
    builder.scope.renames[name] = f"Data.{new}"
    builder.scope.uses.data.add(new)
    return new


def _follow(builder: Conversion, names: list[str]) -> None:
    """Rename variables that read a fact, because their values change, too. NotConvertible."""
    scope, found = builder.scope, list(names)
    readers: list[str] = []
    while found:
        word = re.compile(rf"\b{re.escape(found.pop())}\b")
        for name, values in scope.late.items():  # a fact has its values from its own task
            if name in names or name in readers or name in builder.facts:
                continue
            if any(is_template(one) and word.search(one) for one in _all_texts(values)):
                readers.append(name)
                found.append(name)
    first: dict[str, Any] = {}
    for name in readers:
        given = scope.late[name]
        if any(repr(one) != repr(given[0]) for one in given[1:]):
            raise NotConvertible(
                f"{name} has several values, each of which reads {', '.join(names)}"
            )
        first[name] = given[0]
    # the names first, as the values may read each other
    new = {
        name: _define(builder, name, "none", "which reads the values set above") for name in first
    }
    for name, value in first.items():
        builder.manifest.data[new[name]].value = text_rewriter.value(value, scope)


def _all_texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _all_texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _all_texts(one)]
    return [value] if isinstance(value, str) else []


# --- loops


def _looped(
    builder: Conversion, task: Task, scope: Scope, arguments: dict[str, Any]
) -> dict[str, str]:
    loop = read_loop(task, scope, builder.files)
    if loop is None or loop.index:
        raise NotConvertible("set_fact in this kind of loop")
    if loop.elements is not None:
        loop.foreach = expression_of(loop.elements, scope)
    inner = element_scope(scope, loop)
    if len(arguments) > 1 and any(other in names_in(tree_of(value)) for other in arguments
                              for name, value in arguments.items() if other != name):  # fmt: skip
        raise NotConvertible("facts in a loop that read each other")
    when = [one for one in listed(task.keywords.get("when")) if one is not True]
    if any(name in names_in(parse_expression(str(one))) for one in when for name in arguments):
        raise NotConvertible("set_fact in a loop whose condition reads the fact")
    conditions = [text_rewriter.condition(one, inner) for one in when]
    return {
        name: _accumulated(
            builder, name, value=value, inner=inner, loop=loop, conditions=conditions
        )
        for name, value in arguments.items()
    }


def _accumulated(
    builder: Conversion, name: str, *, value: Any, inner: Scope, loop: Loop, conditions: list[str]
) -> str:
    tree = tree_of(value)

    def each(part: Any) -> str:
        """The list of an expression's values for all elements."""
        text = text_rewriter.expression_text(unparse(part), inner)
        return list_of(operand(parse_expression(text)), loop.foreach, conditions)

    if name not in names_in(tree):
        made = each(tree)
        if not conditions:
            return f"({made}) | last"
        known = _is_known(builder, name) or name in builder.scope.renames
        old = _old(builder, name, None) if known else ""
        rest = f" | default({old})" if old else ""
        return f"({made}) | last{rest or ' | default(none)'}"
    if isinstance(tree, nodes.Add):
        base, default = _own(tree.left, name)
        if base and name not in names_in(tree.right):
            old = operand(parse_expression(_old(builder, name, default)))
            return _added(old, tree.right, inner.values.get(name, []), each)
    if isinstance(tree, nodes.Filter) and tree.node is not None and len(tree.args) == 1:
        base, default = _own(tree.node, name)
        if base and name not in names_in(tree.args[0]):
            old = operand(parse_expression(_old(builder, name, default)))
            return _filtered(old, tree, name, each)
    raise NotConvertible(f"{name} is computed from its own earlier value in a loop")


def _own(node: Any, name: str) -> tuple[bool, Any]:
    """Return whether a tree is the fact itself, and its value if it is not set."""
    if isinstance(node, nodes.Filter) and node.name in ("default", "d") and node.node is not None:
        return path_of(node.node) == (name, []), (node.args[0] if node.args else None)
    return path_of(node) == (name, []), None


def _old(builder: Conversion, name: str, default: Any) -> str:
    text = builder.scope.renames.get(name) or f"Data.{name}"
    if text == f"Data.{name}":
        known = _is_known(builder, name)
        if not known and default is not None:
            return unparse(default)
        builder.scope.uses.data.add(name)
    return text if default is None else f"{text} | default({unparse(default)})"


def _added(old: str, tree: Any, sample: list[Any], each: Callable[[Any], str]) -> str:
    if isinstance(tree, nodes.List) and len(tree.items) == 1:
        return f"{old} + ({each(tree.items[0])})"
    if any(isinstance(one, str) and not is_template(one) for one in sample):
        return f"{old} ~ ({each(tree)}) | join"
    return f"{old} + ({each(tree)}) | flatten(levels=1)"


def _filtered(old: str, tree: Any, name: str, each: Callable[[Any], str]) -> str:
    argument = tree.args[0]
    kind = tree.name.rsplit(".", 1)[-1]
    if kind == "union" and not tree.kwargs:
        return f"{old} | union(({each(argument)}) | flatten(levels=1))"
    if kind == "combine" and isinstance(argument, nodes.Dict) and not tree.kwargs:
        pairs = [nodes.Dict([nodes.Pair(nodes.Const("key"), one.key),
                             nodes.Pair(nodes.Const("value"), one.value)])
                 for one in argument.items]  # fmt: skip
        made = each(nodes.List(list(pairs)))
        return f"{old} | combine(({made}) | flatten(levels=1) | items2dict)"
    raise NotConvertible(f"{name} is computed from its own earlier value in a loop")
