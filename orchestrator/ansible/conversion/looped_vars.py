"""``include_vars`` in a loop over file names, which may skip missing files (controller)."""

import re
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.parsing import (
    condition_tree,
    in_role,
    is_template,
    names_in,
    only_expression,
    outputs,
    parts_of,
    path_of,
    tree_of,
)
from orchestrator.ansible.jinja.unparse import unparse
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task, listed

_LISTS = ("loop", "with_items", "with_list", "with_flattened")
_THERE = ("file", "exists")


@dataclass
class LoopFile:
    """A file of the loop. ``optional``: the original skips it if it is missing."""

    name: str
    optional: bool
    task: Task


def files_of(task: Task) -> list[LoopFile]:
    """The files of a task in their order, each with the task that reads it. NotConvertible."""
    assert task.loop is not None
    word, elements = task.loop
    variable = _variable(task)
    literal = isinstance(elements, list) and all(isinstance(one, str) for one in elements)
    if word not in _LISTS or not literal:
        raise NotConvertible(f"include_vars with {word}")
    when, optional = _conditions(task)
    found = []
    for one in elements:
        name = in_role(_filled(str(task.file), task, {variable: one}))
        own = task.with_keywords(when=when, loop_control=None)
        own.loop, own.args, own.free_form = None, {"file": name}, ""
        found.append(LoopFile(name, optional, own))
    if len({one.name for one in found}) < len(found):
        raise NotConvertible("include_vars of one file in a loop")
    return found


def _variable(task: Task) -> str:
    control = task.keywords.get("loop_control") or {}
    return str(control.get("loop_var", "item")) if isinstance(control, dict) else ""


def _filled(text: str, task: Task, element: dict[str, str]) -> str:
    """A file name with the element of the loop in place of its variable."""
    known = {**task.variables, **element}
    node = only_expression(text) if is_template(text) else None
    path = path_of(node) if node is not None else None
    if path is not None and not path[1] and isinstance(known.get(path[0]), str):
        inner = {key: one for key, one in task.variables.items() if key != path[0]}
        given = known[path[0]]
        kept = task.with_keywords(vars=inner)
        return given if path[0] in element else _filled(given, kept, element)
    parts = outputs(text) if is_template(text) else None
    if parts is None:
        return text
    made = ""
    for one in parts:
        name = path_of(one)
        if isinstance(one, nodes.TemplateData):
            made += one.data
        elif name is not None and not name[1] and name[0] in element:
            made += element[name[0]]
        else:
            made += "{{ " + unparse(one) + " }}"
    return made


def _conditions(task: Task) -> tuple[list[Any], bool]:
    """The conditions other than that the file exists, and whether there is one that it does."""
    kept: list[Any] = []
    optional = False
    for condition in listed(task.keywords.get("when")):
        if isinstance(condition, bool):
            kept.append(condition)
            continue
        for one in parts_of(condition_tree(condition), nodes.And):
            if isinstance(one, nodes.Test) and one.name.rsplit(".", 1)[-1] in _THERE:
                if not _is_same(one.node, task):
                    raise NotConvertible("include_vars if another file exists")
                optional = True
            elif names_in(one) & _names_of_element(task):
                raise NotConvertible("include_vars in a loop with a condition on the element")
            else:
                kept.append(unparse(one))
    return kept, optional


def _names_of_element(task: Task) -> set[str]:
    """The variables that have the element of the loop, or a text with it."""
    found: set[str] = set()
    waiting = [_variable(task)]
    while waiting:
        found.add(waiting[-1])
        word = re.compile(rf"\b{re.escape(waiting.pop())}\b")
        readers = {name for name, value in task.variables.items() if word.search(repr(value))}
        waiting += readers - found
    return found


def _is_same(node: nodes.Expr, task: Task) -> bool:
    """Whether an expression is the path of the file that the task reads."""
    marks = {_variable(task): "\0"}
    text = "{{ " + unparse(node) + " }}"
    return _plain(_filled(text, task, marks)) == _plain(_filled(str(task.file), task, marks))


def _plain(text: str) -> str:
    if not is_template(text):
        return in_role(text)
    tree = tree_of(text)
    parts = tree.nodes if isinstance(tree, nodes.Concat) else [tree]
    return in_role("".join(_word(one) for one in parts))


def _word(node: Any) -> str:
    if isinstance(node, nodes.TemplateData):
        return node.data
    if isinstance(node, nodes.Const):
        return str(node.value)
    if isinstance(node, (nodes.Add, nodes.Concat)):
        inner = [node.left, node.right] if isinstance(node, nodes.Add) else node.nodes
        return "".join(_word(one) for one in inner)
    return "{{ " + unparse(node) + " }}"
