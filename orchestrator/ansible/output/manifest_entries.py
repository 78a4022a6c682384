"""The parts of a new manifest: resources, comments and data (controller)."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from orchestrator.ansible.jinja.unparse import literal

READS_ELEMENT = re.compile(r"\{\{[^}]*\b(item|index|key)\b")
"""Matches a string with an expression that differs between the elements of a loop."""
CONVERTED, CHECK, KEPT = "converted", "check", "not converted"
"""The outcome of a task: converted exactly, with a marked difference, or kept as a comment."""


@dataclass
class Record:
    """The result of one task."""

    module: str
    name: str
    path: str
    line: int
    outcome: str = CONVERTED
    reasons: list[str] = field(default_factory=list)
    manifest: str = ""
    role: str = ""
    resources: list[str] = field(default_factory=list)


@dataclass
class Entry:
    """One resource. ``comments`` are written above it, and so are ``checks``, which are marked."""

    type: str
    name: str
    properties: dict[str, Any] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    control: dict[str, Any] = field(default_factory=dict)
    foreach: str = ""
    alias: str = ""
    tags: list[str] = field(default_factory=list)
    subscribe: list[str] = field(default_factory=list)
    sensitive: bool = False
    restarts: tuple[str, str] | None = None  # ("restart" or "reload", the service)
    changes: bool = True  # whether it can change the host
    notifies: dict[int, bool] = field(default_factory=dict)  # handlers, and whether always
    ends_with: list[str] = field(default_factory=list)  # the last handlers of a role
    partial: bool = False  # a part of another resource of this name, which must be there
    implied: bool = False  # the original makes it where it is missing, without its own task
    exists_where: list[str] = field(default_factory=list)  # the conditions in its list
    record: Record | None = None

    @property
    def reference(self) -> str:
        """The reference to it, as ``type#name``."""
        return f"{self.type}#{self.alias or self.name}"

    @property
    def is_literal(self) -> bool:
        """Whether its name is the same on every host."""
        return not self.foreach and "{{" not in self.name and "${" not in self.name

    def all_properties(self) -> dict[str, Any]:
        """Its properties in the order in which they are written."""
        result: dict[str, Any] = {}
        if self.foreach:
            result["foreach"] = self.foreach
        if self.alias:
            result["alias"] = self.alias
        result.update(self.properties)
        control = dict(self.control)
        if self.conditions:
            control = {"if": both(self.conditions), **control}
        if control:
            result["control"] = control
        if self.subscribe:
            result["subscribe"] = list(dict.fromkeys(self.subscribe))
        if self.tags:
            result["tags"] = list(dict.fromkeys(self.tags))
        if self.sensitive:
            result["sensitive"] = True
        return result


@dataclass
class Comment:
    """Lines between the resources that belong to none of them."""

    lines: list[str]


@dataclass
class Datum:
    """A value of ``data`` with the comments above it."""

    value: Any
    comments: list[str] = field(default_factory=list)


@dataclass
class Manifest:
    """One manifest. ``path`` is relative to the directory of the site."""

    path: str
    title: list[str] = field(default_factory=list)
    data: dict[str, Datum] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    first_keys: list[str] = field(default_factory=list)
    overrides: dict[str, dict[str, Any]] = field(default_factory=dict)
    asks: dict[str, dict[str, Any]] = field(default_factory=dict)
    assertions: list[dict[str, Any] | Comment] = field(default_factory=list)
    items: list[Entry | Comment] = field(default_factory=list)
    fail_on_error: bool = True
    _places: dict[int, int] = field(default_factory=dict, repr=False)

    def entries(self) -> list[Entry]:
        """Its resources."""
        return [one for one in self.items if isinstance(one, Entry)]

    def replace(self, entry: Entry, new: list[Entry | Comment]) -> None:
        """Replace a resource with others."""
        position = self.place(entry)
        self.items[position : position + 1] = new

    def place(self, entry: Entry) -> int:
        """The index of a resource in ``items``, which is remembered for as long as it is right."""
        found = self._places.get(id(entry), len(self.items))
        if found >= len(self.items) or self.items[found] is not entry:
            self._places = {id(one): index for index, one in enumerate(self.items)}
            found = self._places[id(entry)]
        return found


def both(conditions: list[str]) -> str:
    """Conditions that must all be true, as one expression."""
    if len(conditions) == 1:
        return conditions[0]
    return " and ".join(f"({one})" if needs_parentheses(one) else one for one in conditions)


def chosen(text: str, conditions: list[str]) -> str:
    """A list if the conditions are true, else an empty one, as an expression."""
    return f"[{text}] if {as_test(conditions)} else []"


def as_test(conditions: list[str]) -> str:
    """Conditions that must all be true, as the test of ``a if TEST else b``."""
    return grouped(both(conditions))


def any_of(alternatives: Iterable[list[str]]) -> str:
    """Return one expression that is true if all conditions of at least one list are true."""
    tests = list(dict.fromkeys(both(one) for one in alternatives))
    if len(tests) == 1:
        return tests[0]
    return " or ".join(f"({one})" if " if " in one or " and " in one else one for one in tests)


def needs_parentheses(condition: str) -> bool:
    """Whether ``and`` binds more tightly than an operator in a condition."""
    return " or " in condition or " if " in condition


def list_of(
    value: str, elements: str, conditions: list[str] | None = None, name: str = "item"
) -> str:
    """The list of an expression's values for the elements for which the conditions are true."""
    test = f" if {both(conditions)}" if conditions else ""
    start = f"{{% for {name} in {grouped(elements)}{test} %}}"
    body = f"[{start}{{{{ {value} | to_json }}}},{{% endfor %}}]"
    return f"template({literal(body)}) | from_yaml"


def grouped(elements: str) -> str:
    """An expression in parentheses if it has an ``if``, which would belong to what follows."""
    return f"({elements})" if " if " in elements else elements


def numbered(name: str, taken: Container[str], form: str = "{}-{}") -> str:
    """The name, with the first number from 2 that makes it unique if it is already used."""
    numbers = (form.format(name, number) for number in count(2))
    return next(one for one in chain([name], numbers) if one not in taken)


def slug(text: str) -> str:
    """Return a string in a form suitable for an alias or a file name."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "task"
