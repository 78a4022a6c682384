"""Reads the list of resources, in both of its forms, with defaults (controller)."""

from inventory.problem_collector import is_null
from inventory.yaml_document import Mapping, Node, Scalar, Sequence
from orchestrator.manifest.checks.other_tools import type_hint
from orchestrator.manifest.checks.resource_checks import (
    Nodes,
    declare,
    known_properties,
    refuse_loop,
)
from orchestrator.manifest.checks.schema_errors import suggestion, with_article
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.defaults import NO_DEFAULTS, Defaults
from orchestrator.manifest.resource_types import BUILT_IN, Type, Types
from remote_runtime.errors import Problem


class ResourceReader:
    """One pass over ``ccm.resources``, which collects every problem.

    ``written``: the resources were generated, and these are the properties that the user wrote.
    ``defaults`` are those of the manifest; defaults of a list override them.
    """

    def __init__(
        self,
        problems: list[Problem],
        *,
        written: str | None = None,
        types: Types = BUILT_IN,
        defaults: Defaults = NO_DEFAULTS,
    ) -> None:
        self._problems = problems
        self._types = types
        self._written = written
        self._defaults = defaults
        self.resources: list[DeclaredResource] = []

    def read(self, node: Node) -> None:
        """Read the whole list."""
        if not isinstance(node, Sequence) or not node.nodes:
            empty = isinstance(node, Sequence) or is_null(node)
            what = "is empty" if empty else f"is {node.describe()}"
            message = f"resources {what}; expected a list of resources"
            self._report(node, message, "start one with '- file:' under it")
            return
        for item in node.nodes:
            self._item(item)

    def _item(self, item: Node) -> None:
        if not isinstance(item, Mapping) or not item.entries:
            message = f"a resource must be a map with its type as the key, not {item.describe()}"
            self._report(item, message, "write '- file: ...'")
            return
        for number, (key, value) in enumerate(item.pairs()):
            if number:
                message = f"a second key, {key.text!r}, in one resource item"
                self._report(key, message, "one type per item: start a new one with '-'")
            type_ = self._types.get(key.text)
            if type_ is None:
                message = f"there is no resource type {key.text!r}"
                known = list(self._types.names())
                hint = type_hint(key.text, known) or suggestion(key.text, known)
                self._report(key, message, hint, "input.unknown")
            elif isinstance(value, Sequence):
                self._list(type_, value)
            elif isinstance(value, Mapping):
                self._single(type_, key, value)
            else:
                message = f"{key.text} must be a list of named resources or a map with a name"
                hint = f"write '- NAME: {{...}}' under {key.text}"
                self._report(value, f"{message}, not {value.describe()}", hint)

    def _single(self, type_: Type, key: Scalar, mapping: Mapping) -> None:
        name = mapping.get("name")
        if name is None:
            message = f"{key.text} has no name"
            self._report(key, message, "add 'name:', or write a list of '- NAME: {...}'")
            return
        rest = Mapping(mapping.source, mapping.line, mapping.column)
        rest.entries = {k: v for k, v in mapping.entries.items() if k != "name"}
        self._declare(type_, name, known_properties(type_, rest, self._problems))

    def _list(self, type_: Type, sequence: Sequence) -> None:
        entries: list[tuple[Scalar, Nodes]] = []
        defaults: Nodes | None = None
        if not sequence.nodes:
            self._report(sequence, f"the list of {type_.name} resources is empty", "remove it")
        for node in sequence.nodes:
            for key, nodes in self._entry(type_, node):
                if key.text != "defaults":
                    entries.append((key, nodes))
                elif defaults is None:
                    defaults = nodes
                    refuse_loop(nodes, self._problems)
                else:
                    self._report(key, "a second 'defaults' in one list", "merge the two")
        for key, nodes in entries:
            self._declare(type_, key, nodes, defaults)

    def _entry(self, type_: Type, node: Node) -> list[tuple[Scalar, Nodes]]:
        if not isinstance(node, Mapping) or not node.entries:
            one = with_article(type_.name)
            message = f"{one} resource must be written as '- NAME: {{...}}', not {node.describe()}"
            hint = "start one with '-'"
            if isinstance(node, Scalar):
                hint = f"write '- {node.text}: {{}}'"
            self._report(node, message, hint)
            return []
        result = []
        for number, (key, value) in enumerate(node.pairs()):
            if number:
                message = f"a second name, {key.text!r}, in one list item"
                hint = "one name per item: start a new one with '-', or indent the properties"
                self._report(key, message, hint)
            if isinstance(value, Mapping):
                result.append((key, known_properties(type_, value, self._problems)))
            elif isinstance(value, Scalar) and value.kind == "null":
                result.append((key, {}))
            elif not number:
                message = f"the properties of {type_.name}#{key.text} must be a map"
                hint = "write 'PROPERTY: VALUE' under the name"
                self._report(value, f"{message}, not {value.describe()}", hint)
        return result

    def _declare(
        self, type_: Type, name: Node, nodes: Nodes, defaults: Nodes | None = None
    ) -> None:
        if not isinstance(name, Scalar) or name.kind == "null" or not name.text:
            empty = isinstance(name, Scalar) and name.kind == "str"
            must = "must not be empty" if empty else f"must be text, not {name.describe()}"
            hint = type_.hint_for("name")
            self._report(name, f"the name of {with_article(type_.name)} {must}", hint)
            return
        self.resources.append(
            declare(
                type_,
                name,
                nodes=nodes,
                problems=self._problems,
                written=self._written,
                defaults={**self._defaults.get(type_.name, {}), **(defaults or {})},
            )
        )

    def _report(self, node: Node, message: str, hint: str, kind: str = "input") -> None:
        self._problems.append(Problem(message, node.position, hint, kind))
