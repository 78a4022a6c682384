"""The data of a manifest: variables of Ansible with their precedence (controller).

Ansible's order, from the weakest: defaults of the role, group_vars, host_vars, variables of the
play, vars of the role, include_vars, set_fact, parameters of the role. In a manifest these are
``data``, data files, the data of an ``apply`` and overrides.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.conversion import uncertain_variables
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja import fact_names, text_rewriter
from orchestrator.ansible.jinja.parsing import (
    condition_tree,
    holds_vaulted,
    only_expression,
    parse_expression,
    parts_of,
    path_of,
)
from orchestrator.ansible.jinja.possible_values import resolve
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.output.manifest_entries import CHECK, Datum, as_test, grouped
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import Task
from orchestrator.ansible.source.yaml_reader import Map

OWN, FACTS = "vars:role", "vars:facts"
_PART_OF_ANSWER = re.compile(r"\bAsked\.\w+\.std\w+\b[^|]*\[\d")
_NO_ANSWER = (
    "where the command fails, such as before its program is installed, the push fails before its "
    "first change: set {} in the data of such hosts"
)


@dataclass
class Layer:
    """Variables that only some hosts have: a group's or a host's. ``order`` is its entry."""

    name: str
    order: str
    values: Map
    entry: str = ""  # its key of overrides, or the data file


@dataclass
class DataPlan:
    """The sources of one manifest's values, in ascending precedence."""

    defaults: Map = field(default_factory=Map)
    layers: list[Layer] = field(default_factory=list)
    passed: Map = field(default_factory=Map)  # variables of the play
    own: Map = field(default_factory=Map)  # vars of the role
    others: dict[str, tuple[str, Any]] = field(default_factory=dict)  # of other roles of the play

    def values(self) -> dict[str, list[Any]]:
        """Return all possible values of each variable."""
        found: dict[str, list[Any]] = {}
        sources = [self.defaults, *(one.values for one in self.layers), self.passed, self.own]
        for source in sources:
            for key, value in source.items():
                found.setdefault(key, []).append(value)
        for key, (_, value) in self.others.items():
            found.setdefault(key, [value])
        return found


def write_data(builder: Conversion, plan: DataPlan, notes: list[str]) -> set[str]:
    """Write the data of a manifest; return the names that nothing sets."""
    return _Writer(builder, plan, notes).run()


class _Writer:
    def __init__(self, builder: Conversion, plan: DataPlan, notes: list[str]) -> None:
        self.builder, self.plan, self.notes = builder, plan, notes
        self.manifest = builder.manifest
        self.scope = builder.scope.having(task_vars={}, locals={}, renames={}, whole=False)
        self.uses = builder.scope.uses
        self.uncertain: dict[str, str] = {}  # facts, and their uncertainty
        self.layered = {key for layer in plan.layers for key in layer.values}
        self.included = {k for c in builder.includes for m in c.files.values() for k in m}

    def run(self) -> set[str]:
        """Write data, layers and overrides; return the variables that nothing sets."""
        own: dict[str, Any] = {}
        for key, value in self.plan.defaults.items():
            if key not in self.uses.in_place - self.uses.data:
                self._datum(key, value, self.comments(self.plan.defaults, key))
        for key, value in self.plan.own.items():
            if key in self.layered or key in self.plan.passed:
                self._value(own, key, value)
            else:
                self._datum(key, value, self.comments(self.plan.own, key))
        overrides: dict[str, dict[str, Any]] = {}
        for choice in self.builder.includes:
            for entry, values in choice.files.items():
                target = overrides.setdefault(entry, {})
                for key, value in values.items():
                    if not choice.weak or not (key in self.plan.defaults or key in self.plan.own):
                        self._value(target, key, value)
        facts = self._facts()
        missing = self._close()
        uncertain_variables.spread(
            self.builder, {**self.uses.uncertain, **self.uncertain}, [overrides, facts, own]
        )
        self._tables()
        self._order(own, facts, overrides)
        return missing

    def comments(self, source: Map, key: str) -> list[str]:
        """The comment lines above a key of a file."""
        line = source.lines.get(key, 0)
        if not line or not source.path:
            return []
        found: list[str] = []
        lines = self.builder.original(source.path, 1, line)[:-1]
        for text in reversed(lines):
            stripped = text.strip()
            if not stripped.startswith("#"):
                break
            found.insert(0, stripped.lstrip("#").strip())
        return [one.replace("@", "(at)") for one in found if one]

    def _datum(self, key: str, value: Any, comments: list[str]) -> None:
        try:
            self.manifest.data[key] = Datum(self._converted(key, value), comments)
        except NotConvertible as error:
            self._kept(key, value, error.reason, comments)

    def _value(self, target: dict[str, Any], key: str, value: Any) -> None:
        try:
            target[key] = self._converted(key, value)
        except NotConvertible as error:
            self._kept(key, value, error.reason, [])

    def _converted(self, key: str, value: Any) -> Any:
        """Return the value of a variable and note its uncertainty. NotConvertible."""
        before = len(self.uses.uncertainties)
        found = text_rewriter.value(value, self.scope)
        for text in self.uses.uncertainties[before:]:
            self.uncertain.setdefault(key, text)
        return found

    def _kept(self, key: str, value: Any, reason: str, comments: list[str]) -> None:
        """A variable that cannot be converted; the host is refused if it is read."""
        shown = "a vaulted value" if holds_vaulted(value) else repr(value)
        self.notes.append(f"{self.manifest.path}: the variable {key}: {reason}")
        name = f"not_converted_{key}"
        self.manifest.data[name] = Datum(
            None, [*comments, f"NOT CONVERTED: {reason}", f"{key}: {shown}"]
        )

    # --- facts

    def _facts(self) -> dict[str, Any]:
        """Return the values that ``set_fact`` sets as defaults or as overrides."""
        overriding: dict[str, Any] = {}
        for name, settings in self.builder.facts.items():
            try:
                self._fact(name, settings, overriding)
            except NotConvertible as error:
                for _, _, task in settings:
                    self._mark(task, error.reason)
                self._check_readers(name)
        return overriding

    def _fact(
        self, name: str, settings: list[tuple[Any, list[Any], Task]], overriding: dict[str, Any]
    ) -> None:
        known = name not in self.builder.emptied and (
            name in self.plan.defaults or name in self.plan.own or name in self.layered
            or name in self.plan.passed or name in self.included
        )  # fmt: skip
        plain = [
            (value, [part for one in when for part in _parts(one)], task)
            for value, when, task in settings
        ]
        before = len(self.uses.uncertainties)
        result: Any = None
        if known and len(plain) == 1 and _is_default(name, plain[0][1]):
            if name not in self.manifest.data:
                value = self._of(plain[0])
                self.manifest.data[name] = Datum(value, ["set only if nothing else sets it"])
            return
        if all(not when for _, when, _ in plain):
            result = self._of(plain[-1])
        elif not known and all(one and all(_is_unset(name, o) for o in one) for _, one, _ in plain):
            result = self._of(plain[0])
        else:
            result = self._chain(name, plain, known)
        if known:
            overriding[name] = result
        else:
            self.manifest.data[name] = Datum(result, ["from set_fact"])
        for text in self.uses.uncertainties[before:]:
            self._check(plain[-1][2], text)
            self.uncertain[name] = text
        if self.uses.uncertainties[before:] and _PART_OF_ANSWER.search(str(result)):
            self._check(plain[-1][2], _NO_ANSWER.format(name))

    def _of(self, setting: tuple[Any, list[Any], Task]) -> Any:
        value, _, task = setting
        return text_rewriter.value(value, self._scope_of(task))

    def _scope_of(self, task: Task) -> Scope:
        """The variables of a task that sets a fact, and the results of the tasks before it."""
        results = self.builder.results.get(id(task), self.scope.registers)
        return self.scope.having(task_vars=task.variables, registers=results)

    def _chain(self, name: str, settings: list[tuple[Any, list[Any], Task]], known: bool) -> Any:
        """Return several values with conditions as one expression; the last true one wins."""
        lower = self.manifest.data.get(name)
        if known and (lower is None or name in self.layered or name in self.plan.passed):
            raise NotConvertible(
                f"{name} is set under a condition, and overrides values from several places"
            )
        ranked: list[tuple[list[str], str]] = []  # from the weakest to the strongest
        only_unset = _defines if known else _is_unset
        for value, when, task in settings:
            absent = any(only_unset(name, one) for one in when)
            if known and absent:
                continue  # something sets it, so the task does not
            conditions = [self._condition(one, task) for one in when if not only_unset(name, one)]
            found = conditions, _inner(self._of((value, when, task)))
            ranked.insert(0 if absent else len(ranked), found)
        text = "''" if lower is None else _inner(lower.value)
        is_set = lower is not None
        for conditions, inner in ranked:
            is_set |= not conditions
            text = f"{grouped(inner)} if {as_test(conditions)} else {text}" if conditions else inner
        if not is_set:
            reason = f"{name} is empty, not undefined, if no condition is true"
            self._check(settings[-1][2], reason)
        if lower is not None:
            del self.manifest.data[name]
        return "{{ " + text + " }}"

    def _condition(self, one: Any, task: Task) -> str:
        return text_rewriter.condition(one, self._scope_of(task))

    def _mark(self, task: Task, reason: str) -> None:
        for record in self.builder.records:
            if (record.path, record.line) == (task.path, task.line):
                self.builder.mark(record, "not converted", reason)
        lines = [f"NOT CONVERTED: {reason}"]
        self.manifest.title += [*lines, *self.builder.original(task.path, task.line, task.end)]

    def _check_readers(self, name: str) -> None:
        """Mark readers of an unset fact, because a test or a default would hide the problem."""
        text = f"it reads {name}, which is not converted"
        read = re.compile(rf"\bData\.{re.escape(name)}\b")
        for entry in self.manifest.entries():
            if read.search(repr(entry.all_properties()) + entry.name):
                self.builder.check(entry, text)

    def _check(self, task: Task, reason: str) -> None:
        for record in self.builder.records:
            if (record.path, record.line) == (task.path, task.line):
                self.builder.mark(record, CHECK, reason)
        for name in task.args:
            if name in self.manifest.data:
                self.manifest.data[name].comments.append(f"CHECK: {reason}")

    # --- names that are read

    def _close(self) -> set[str]:
        """Resolve names that nothing in the manifest sets from other roles; return those that no
        role sets.
        """
        missing: set[str] = set()
        seen: set[str] = set()
        for name in sorted(self.layered & set(self.manifest.data)):
            self._layer_names(name)
        while left := self.uses.data - seen:
            for name in sorted(left):
                seen.add(name)
                self._need(name, missing)
        return missing

    def _need(self, name: str, missing: set[str]) -> None:
        if name in self.manifest.data or name in self.builder.facts:
            return
        if name == "ansible_managed":
            self.manifest.data[name] = Datum("Ansible managed", ["as the templates print it"])
            return
        known = self.layered | set(self.plan.passed) | self.included | set(self.plan.own)
        if name in self.layered:
            self._layer_names(name)
        if name in known:
            return
        if name in self.plan.defaults:
            self._datum(name, self.plan.defaults[name], self.comments(self.plan.defaults, name))
        elif name in self.plan.others:
            role, value = self.plan.others[name]
            self._datum(name, value, [f"from the role {role}"])
        elif not name.startswith("not_converted_"):
            missing.add(name)

    def _layer_names(self, name: str) -> None:
        for layer in self.plan.layers:
            if name in layer.values:
                try:
                    text_rewriter.value(layer.values[name], self.scope)
                except NotConvertible:
                    continue

    def _tables(self) -> None:
        for name in sorted(self.uses.tables):
            fact, table = fact_names.TABLES[name]
            value = "{{ " + f"{literal(table)}.get({fact}, {fact})" + " }}"
            self.manifest.data[f"ansible_{name}"] = Datum(
                value, ["with the names that Ansible uses"]
            )

    # --- the hierarchy

    def _order(
        self, own: dict[str, Any], facts: dict[str, Any], overrides: dict[str, dict[str, Any]]
    ) -> None:
        order: list[str] = []
        kept: dict[str, dict[str, Any]] = {}
        first: set[str] = set()
        if facts:
            order.append(FACTS)
            kept[FACTS] = facts
        for choice in reversed(self.builder.includes):
            kept.update({entry: overrides[entry] for entry in choice.files})
            if not choice.weak:
                order.append(choice.order)
        if own:
            order.append(OWN)
            kept[OWN] = own
        needed = self.uses.data | set(self.manifest.data)
        for layer in reversed(self.plan.layers):
            keys = needed & set(layer.values)
            if keys:
                order.append(layer.order)
                first |= keys
        order += [one.order for one in reversed(self.builder.includes) if one.weak]
        first |= {key for values in kept.values() for key in values}
        first |= set(set(self.manifest.data) & (set(self.plan.passed) | self._collections()))
        self.manifest.order = list(dict.fromkeys(order))
        self.manifest.overrides = kept
        self.manifest.first_keys = sorted(first)

    def _collections(self) -> set[str]:
        """Keys whose lists and maps a later source replaces, but ccm would merge."""
        found = set()
        for key, one in self.manifest.data.items():
            kinds = resolve(self.plan.defaults.get(key, one.value), self.scope).all_kinds()
            if kinds & {"list", "map"}:
                found.add(key)
        return found


def _is_default(name: str, when: list[Any]) -> bool:
    return len(when) == 1 and _defines(name, when[0])


def _is_unset(name: str, condition: Any) -> bool:
    """Whether a condition is true where nothing sets a name: ``NAME is not defined or …``."""
    if isinstance(condition, bool):
        return False
    return any(
        _defines(name, unparse(one)) for one in parts_of(condition_tree(condition), nodes.Or)
    )


def _parts(condition: Any) -> list[Any]:
    """The conditions of ``a and b``; none for true."""
    if isinstance(condition, bool):
        return [] if condition else [False]
    parts = parts_of(condition_tree(condition), nodes.And)
    return [unparse(one) for one in parts] if len(parts) > 1 else [condition]


def _defines(name: str, condition: Any) -> bool:
    """Whether a condition is ``NAME is not defined``."""
    try:
        node: Any = parse_expression(str(condition))
    except NotConvertible:
        return False
    negative = type(node).__name__ == "Not"
    test = node.node if negative else node
    if type(test).__name__ != "Test" or path_of(test.node) != (name, []):
        return False
    return bool(test.name == ("defined" if negative else "undefined"))


def _inner(value: Any) -> str:
    """A value as an expression without braces."""
    if isinstance(value, str) and ("{{" in value or "${" in value):
        node = only_expression(value)
        return unparse(node) if node is not None else text_expression(value)
    if isinstance(value, (list, dict)) and "{{" in repr(value):
        return _written(value)
    return literal(value)


def _written(value: Any) -> str:
    """A list or map with templates as an expression."""
    if isinstance(value, list):
        return f"[{', '.join(_written(one) for one in value)}]"
    if isinstance(value, dict):
        pairs = (f"{literal(key)}: {_written(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    return _inner(value)
