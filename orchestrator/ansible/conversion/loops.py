"""Loops of tasks: a ``foreach``, or one resource for each literal element (controller)."""

import glob
import itertools
import math
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import (
    is_template,
    only_expression,
    parse_expression,
    path_of,
    tree_of,
)
from orchestrator.ansible.jinja.possible_values import elements, resolve, sample_of
from orchestrator.ansible.jinja.scope import OPEN, Sample, Scope
from orchestrator.ansible.jinja.unparse import literal, operand, unparse
from orchestrator.ansible.modules.mapping_context import Files
from orchestrator.ansible.modules.module_arguments import expression_of
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.key_values import sequence
from orchestrator.ansible.source.tasks import Task, listed

_MAX_UNROLLED = 40
_STATES = 2


@dataclass
class Loop:
    """``elements`` if they are literal, else the expression of ``foreach``."""

    variable: str = "item"
    index: str = ""
    foreach: str = ""
    elements: list[Any] | None = None
    sample: Sample = field(default_factory=lambda: OPEN)
    absent: set[str] = field(default_factory=set)  # keys that the task reads and no element has


def by_state(task: Task, scope: Scope, files: Files) -> list[Task]:
    """A task with ``state: "{{ 'link' if x else 'absent' }}"`` as one task for each state."""
    value = task.args.get("state")
    node = only_expression(value) if isinstance(value, str) and is_template(value) else None
    test: Any
    states: list[Any]
    if isinstance(node, nodes.CondExpr):
        test, states = node.test, [node.expr1, node.expr2]
    elif isinstance(node, nodes.Filter) and node.name == "ternary" and len(node.args) == _STATES:
        test, states = node.node, list(node.args)
    else:
        return []
    loop = read_loop(task, scope, files)
    if loop is not None and loop.elements is not None:
        loop.sample = Sample(list(loop.elements))
    inner = scope if loop is None else element_scope(scope, loop)
    if not all(isinstance(one, nodes.Const) for one in states) or not _is_boolean(test, inner):
        return []
    found = []
    for state, condition in zip(states, (test, nodes.Not(test)), strict=True):
        when = [*listed(task.keywords.get("when")), unparse(condition)]
        one = replace(task, args={**task.args, "state": state.value})
        found.append(one.with_keywords(when=when))
    return found


def _is_boolean(node: Any, scope: Scope) -> bool:
    """Whether an expression is true or false, not a string that counts as true."""
    if isinstance(node, (nodes.Compare, nodes.Test)):
        return True
    if isinstance(node, (nodes.And, nodes.Or)):
        return _is_boolean(node.left, scope) and _is_boolean(node.right, scope)
    if isinstance(node, nodes.Not):
        return _is_boolean(node.node, scope)
    if isinstance(node, nodes.Filter) and node.name.rsplit(".", 1)[-1] == "bool":
        return True
    sample = sample_of(node, scope)
    return sample.all_kinds() == {"bool"} and not sample.open


def element_scope(scope: Scope, loop: Loop) -> Scope:
    """The scope of one element of a loop, which is always ``item`` in ccm."""
    inner = scope.with_locals({"item": loop.sample, loop.variable: loop.sample})
    if loop.variable != "item":
        inner.renames = {**inner.renames, loop.variable: "item"}
    return inner


def read_loop(task: Task, scope: Scope, files: Files) -> Loop | None:
    """The loop of a task, None if it has none. NotConvertible."""
    if task.loop is None:
        return None
    word, value = task.loop
    loop = Loop()
    _control(task, loop)
    kind = word.removeprefix("with_").rsplit(".", 1)[-1]
    reader = _READERS.get(kind)
    if reader is None:
        raise NotConvertible(f"the loop {word}")
    reader(loop, value, scope, files)
    return loop


def _control(task: Task, loop: Loop) -> None:
    control = task.keywords.get("loop_control") or {}
    if not isinstance(control, dict):
        raise NotConvertible("loop_control is a template")
    loop.variable = str(control.get("loop_var", "item"))
    loop.index = str(control.get("index_var", "") or "")
    if text_rewriter.as_bool(control.get("extended", False)):
        raise NotConvertible("loop_control.extended")


def _plain(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    if isinstance(value, list):
        _literal(loop, value, scope)
    else:
        _expression(loop, value, scope)


def _literal(loop: Loop, value: list[Any], scope: Scope) -> None:
    coincide = _coincide(value, scope)
    if len(value) <= _MAX_UNROLLED and not coincide:
        loop.elements = value
        return
    loop.foreach = expression_of(value, scope)
    if coincide:
        loop.foreach = f"{_grouped(loop.foreach)} | unique | list"
    loop.sample = Sample(list(value))


def _coincide(value: list[Any], scope: Scope) -> bool:
    """Whether an element that is a variable equals another element by default."""
    written = []
    for one in value:
        node = only_expression(one) if isinstance(one, str) and is_template(one) else None
        path = path_of(node) if node is not None else None
        known = scope.values.get(path[0]) if path is not None and not path[1] else None
        written.append(repr([one] if known is None else known))
    variables = [two for one, two in zip(value, written, strict=True) if is_template(one)]
    return any(written.count(one) > 1 for one in variables)


def _expression(loop: Loop, value: Any, scope: Scope) -> None:
    if isinstance(value, str) and value.strip() in scope.values:
        value = "{{ " + value + " }}"  # as Ansible 1 wrote it
    if not is_template(value):
        raise NotConvertible(f"a loop over {value!r}")
    whole = only_expression(value)
    if isinstance(whole, nodes.Filter) and whole.name == "subelements" and whole.node is not None:
        _of_subelements(loop, whole, scope)
        return
    loop.foreach = expression_of(value, scope)
    sample = resolve(value, scope)
    loop.sample = elements(sample)
    kinds = sample.all_kinds()
    if "map" in kinds:
        raise NotConvertible("a loop over a map")
    _unique(loop, sample)


def _unique(loop: Loop, sample: Sample) -> None:
    """Remove repeated elements, which ccm refuses; repetition makes no difference to a state."""
    for one in sample.values:
        if isinstance(one, list):
            written = [repr(element) for element in one]
            if len(set(written)) < len(written):
                loop.foreach = f"{_grouped(loop.foreach)} | unique | list"
                return


def _grouped(text: str) -> str:
    return operand(parse_expression(text))


def _items(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    """``with_items`` flattens one level."""
    if isinstance(value, list):
        flat: list[Any] = []
        for one in value:
            if isinstance(one, list):
                flat += one
            elif is_template(one):
                kinds = resolve(one, scope).all_kinds()
                if not kinds or not kinds <= {"text", "number", "bool", "map"}:
                    _flattened(loop, value, scope)
                    return
                flat.append(one)
            else:
                flat.append(one)
        _literal(loop, flat, scope)
        return
    if isinstance(value, str) and value.strip() in scope.values:
        value = "{{ " + value + " }}"
    sample = resolve(value, scope)
    if is_template(value) and sample.all_kinds() == {"list"}:
        inner = elements(sample)
        may_be_lists = not inner.all_kinds() and _reads_members(only_expression(value))
        if not may_be_lists and not inner.all_kinds() & {"list"}:
            _expression(loop, value, scope)
            return
    _flattened(loop, [value], scope)


def _reads_members(node: nodes.Expr | None) -> bool:
    """Whether an expression is a list of members of elements, such as ``map(attribute='x')``."""
    while isinstance(node, nodes.Filter) and node.name in ("list", "unique", "sort"):
        node = node.node
    return isinstance(node, nodes.Filter) and node.name == "map"


def _flattened(loop: Loop, value: list[Any], scope: Scope) -> None:
    samples = [resolve(one, scope) for one in value]
    found = Sample()
    for one in samples:
        for each in one.values:
            found.values += each if isinstance(each, list) else [each]
        found.open |= one.open or bool(one.kinds)
    if len(value) == 1 and samples[0].all_kinds() == {"list"} and not samples[0].open:
        loop.foreach = f"{_grouped(expression_of(value[0], scope))} | flatten(levels=1)"
    elif len(value) == 1:
        loop.foreach = f"[{expression_of(value[0], scope)}] | flatten(levels=2)"
    else:
        inner = ", ".join(expression_of(one, scope) for one in value)
        loop.foreach = f"[{inner}] | flatten(levels=1)"
    loop.sample = found
    written = [repr(one) for one in found.values]
    if len(set(written)) < len(written):
        loop.foreach += " | unique | list"


def _dict(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    if isinstance(value, dict):
        loop.elements = [{"key": key, "value": one} for key, one in value.items()]
        return
    sample = resolve(value, scope)
    loop.foreach = f"{_grouped(expression_of(value, scope))} | dict2items"
    pairs = [
        {"key": key, "value": one}
        for each in sample.values
        if isinstance(each, dict)
        for key, one in each.items()
    ]
    loop.sample = Sample(pairs, set(), sample.open or bool(sample.kinds))


def _nested(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    if not isinstance(value, list) or len(value) < 2:
        raise NotConvertible("a nested loop that is not a list of lists")
    are_lists = all(isinstance(one, list) for one in value)
    if are_lists and math.prod(map(len, value)) <= _MAX_UNROLLED:
        loop.elements = [list(one) for one in itertools.product(*value)]
        return
    words = [_grouped(expression_of(one, scope)) for one in value]
    loop.foreach = f"{words[0]} | product({', '.join(words[1:])}) | list"


def _together(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    if not isinstance(value, list) or len(value) < 2:
        raise NotConvertible("with_together of anything but lists")
    words = [_grouped(expression_of(one, scope)) for one in value]
    loop.foreach = f"{words[0]} | zip({', '.join(words[1:])}) | list"


def _sequence(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    loop.elements = list(sequence(value))
    if len(loop.elements) > _MAX_UNROLLED:
        loop.foreach, loop.elements = literal(loop.elements), None


def _indexed(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    if not isinstance(value, list) or any(is_template(one) for one in value):
        raise NotConvertible("with_indexed_items of a variable")
    loop.elements = [[index, one] for index, one in enumerate(value)]


def _fileglob(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    patterns = value if isinstance(value, list) else [value]
    if any(is_template(one) for one in patterns):
        known = [resolve(one, scope) for one in patterns]
        if any(one.open or one.kinds or not one.values for one in known):
            raise NotConvertible(f"files that match {value}")
        patterns = [each for one in known for text in one.values
                    for each in (text if isinstance(text, list) else [text])]  # fmt: skip
    found: list[Any] = []
    for one in patterns:
        if is_template(one) or str(one).startswith(("/", "~")) or ".." in str(one):
            raise NotConvertible(f"files that match {one}")
        for folder in ("files", ""):
            pattern = os.path.join(glob.escape(str(files.base / folder)), str(one))
            names = sorted(Path(name) for name in glob.glob(pattern) if os.path.isfile(name))
            found += [p.relative_to(files.base / folder).as_posix() for p in names]
            if names:
                break
    loop.elements = found


def _filetree(loop: Loop, value: Any, scope: Scope, files: Files) -> None:
    """The files and directories below directories of the role."""
    made: list[Any] = []
    for one in value if isinstance(value, list) else [value]:
        name = str(one).removeprefix("../").rstrip("/")
        places = [files.base / folder / name for folder in ("", "files", "templates")]
        base = next((place for place in places if os.path.isdir(place)), None)
        if is_template(one) or ".." in name or name.startswith("/") or base is None:
            raise NotConvertible(f"the files in {one}")
        kind = files.base / ("templates" if "templates" in base.parts else "files")
        for path in sorted(base.rglob("*")):
            if path.is_symlink() or not files.holds(path):
                raise NotConvertible("a link in a tree of files")
            source = (
                path.relative_to(kind) if kind in path.parents else path.relative_to(files.base)
            )
            state = "directory" if path.is_dir() else "file"
            made.append({"path": path.relative_to(base).as_posix(), "src": source.as_posix(),
                         "state": state, "mode": f"{path.stat().st_mode & 0o777:04o}",
                         "root": ""})  # fmt: skip
    if len(made) > _MAX_UNROLLED * 2:
        raise NotConvertible("a large tree of files")
    loop.elements = made


def _of_subelements(loop: Loop, node: nodes.Filter, scope: Scope) -> None:
    """``list | subelements('key', skip_missing=True)``."""
    key = node.args[0] if node.args else None
    skip = node.args[1] if len(node.args) > 1 else None
    for one in node.kwargs:
        skip = one.value if one.key == "skip_missing" else skip
    if not isinstance(key, nodes.Const) or not (skip is None or isinstance(skip, nodes.Const)):
        raise NotConvertible("subelements with a computed key")
    assert node.node is not None
    text = "{{ " + unparse(node.node) + " }}"
    options = [{"skip_missing": True}] if skip is not None and skip.value else []
    _subelements(loop, [text, key.value, *options], scope, None)


def _subelements(loop: Loop, value: Any, scope: Scope, files: Files | None) -> None:
    if not isinstance(value, list) or len(value) < 2 or not isinstance(value[1], str):
        raise NotConvertible("with_subelements in another form")
    skip = isinstance(value[2], dict) if len(value) > 2 else False
    listed = tree_of(value[0])
    sample = sample_of(listed, scope)
    text = _grouped(expression_of(value[0], scope))
    key = value[1]
    pairs: list[Any] = []
    for one in sample.values:
        for element in one if isinstance(one, list) else []:
            if isinstance(element, dict):
                pairs += [[element, each] for each in element.get(key) or []]
    access = f"one.{key} | default([])" if skip else f"one.{key}"
    body = (
        f"[{{% for one in {text} %}}{{% for each in {access} %}}"
        "{{ [one, each] | to_json }},{% endfor %}{% endfor %}]"
    )
    loop.foreach = f"template({literal(body)}) | from_yaml"
    loop.sample = Sample(pairs, set(), sample.open or bool(sample.kinds))


_READERS = {
    "loop": _plain,
    "list": _plain,
    "items": _items,
    "flattened": _items,
    "dict": _dict,
    "nested": _nested,
    "cartesian": _nested,
    "together": _together,
    "sequence": _sequence,
    "indexed_items": _indexed,
    "fileglob": _fileglob,
    "filetree": _filetree,
    "subelements": _subelements,
}
