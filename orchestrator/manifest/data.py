"""One source of data with its own hierarchy, and what it comes to for a host (controller)."""

from __future__ import annotations

import re
from collections.abc import Sequence as Entries
from typing import Any

from inventory.checking import is_null
from inventory.document import Mapping, Node, Scalar, Sequence, ambiguous_values, read_document
from orchestrator.expressions import Expression, Scope, Template, render_value
from orchestrator.language.errors import FactsUnavailableError
from orchestrator.manifest.annotations import Annotation, read_annotations
from orchestrator.manifest.checks.schema_errors import suggestion
from orchestrator.manifest.merge import merge_deep
from orchestrator.manifest.values import compile_node, expressions_in, is_templated
from remote_runtime.errors import InputError, Position, Problem

KEYS = ("data", "hierarchy", "overrides")
_MERGES = ("first", "deep")


class DataSource:
    """``data``, ``hierarchy`` and ``overrides`` of one file; shared by all hosts.

    ``notes`` are the places of that file that YAML 1.1 would read otherwise.
    """

    def __init__(self, root: Mapping, problems: list[Problem], warnings: list[Problem]) -> None:
        self.notes = ambiguous_values(root)
        self._problems = problems
        self._maps: list[Mapping] = []
        self.data = self._tree(root, "data")
        self.overrides: dict[str, Any] = {}
        self._override_nodes: dict[str, Scalar] = {}
        self.order: list[Any] = ["default"]
        self.merge = "first"
        overrides = root.get("overrides")
        if isinstance(overrides, Mapping):
            self.overrides = {name: self._tree(overrides, name) for name in overrides}
            self._override_nodes = {name: overrides.key(name) for name in overrides}
        elif overrides is not None and not is_null(overrides):
            self._report(overrides, f"overrides must be a map, not {overrides.describe()}")
        self._read_hierarchy(root.get("hierarchy"))
        self.annotations: list[Annotation] = read_annotations(root.get("data"), problems, warnings)
        self._warn_of_data(warnings)

    @property
    def is_static(self) -> bool:
        """Whether it comes to the same for every host."""
        return not any(map(is_templated, (self.data, *self.overrides.values(), *self.order)))

    def holds(self, path: Entries[str]) -> bool:
        """Whether data or an override has a value at this path of keys, or above it."""
        return any(_leads(node, path) for node in self._maps)

    def place(self, override: str) -> Position | None:
        """Where an override stands."""
        entry = self._override_nodes.get(override)
        return entry.position if entry else None

    def reached(self, scope: Scope) -> list[str]:
        """The names that the order comes to for a host; EvaluationError."""
        found: list[str] = []
        for entry in self.order:
            try:
                name = _render_entry(entry, scope)
            except FactsUnavailableError:
                found += self.possible(entry)
            else:
                found += [name] if name is not None else []
        return found

    def possible(self, entry: Any) -> list[str]:
        """The overrides that an entry of the order may name, whatever its expressions give."""
        if not isinstance(entry, Template):
            return [name for name in self.overrides if name == str(entry)]
        fixed = (".*" if isinstance(p, Expression) else re.escape(p) for p in entry.pieces)
        pattern = re.compile("".join(fixed), re.DOTALL)
        return [name for name in self.overrides if pattern.fullmatch(name)]

    def names(self) -> list[str]:
        """The keys of data and overrides."""
        return list(dict.fromkeys(key for node in self._maps for key in node.entries))

    def expressions(self) -> list[Expression]:
        """Every expression in data, overrides and order."""
        return [
            expression
            for tree in (self.data, *self.overrides.values(), *self.order)
            for expression in expressions_in(tree)
        ]

    def resolve(self, scope: Scope) -> dict[str, Any]:
        """The data of one host. ``scope`` is a lenient one; EvaluationError."""
        data: dict[str, Any] = render_value(self.data, scope)
        for entry in self.order:
            try:
                name = _render_entry(entry, scope)
            except FactsUnavailableError:
                if not scope.facts.are_partial:
                    raise
                # It may be any of these: their keys are known, if not their values.
                for possible in self.possible(entry):
                    data = merge_deep(render_value(self.overrides[possible], scope), data)
                continue
            if name not in self.overrides or name is None:
                continue
            override = render_value(self.overrides[name], scope)
            if self.merge == "first":
                return {**data, **override}
            data = merge_deep(data, override)
        return data

    def _tree(self, parent: Mapping, key: str) -> Any:
        node = parent.get(key)
        if node is None or is_null(node):
            return {}
        if not isinstance(node, Mapping):
            self._report(node, f"{key} must be a map, not {node.describe()}")
            return {}
        self._maps.append(node)
        return compile_node(node, self._problems, lenient=True)

    def _read_hierarchy(self, node: Node | None) -> None:
        if node is None:
            return
        if not isinstance(node, Mapping):
            self._report(node, f"hierarchy must be a map, not {node.describe()}")
            return
        refuse_unknown_keys(node, ("order", "merge"), what="hierarchy", problems=self._problems)
        order = node.get("order")
        if isinstance(order, Sequence) and order.nodes:
            self.order = [self._order_entry(entry) for entry in order.nodes]
        elif order is not None:
            self._report(order, "order must be a list of names of overrides")
        merge = node.get("merge")
        if isinstance(merge, Scalar) and merge.value in _MERGES:
            self.merge = str(merge.value)
        elif merge is not None:
            word = merge.text if isinstance(merge, Scalar) else merge.describe()
            hint = suggestion(word, list(_MERGES))
            self._report(merge, f"merge must be first or deep, not {word}", hint)

    def _order_entry(self, node: Node) -> Any:
        if isinstance(node, Scalar) and node.kind != "null":
            value = compile_node(node, self._problems, lenient=True)
            return value if is_templated(value) else node.text
        self._report(node, f"an entry of order must be text, not {node.describe()}")
        return ""

    def _warn_of_data(self, warnings: list[Problem]) -> None:
        for expression in self.expressions():
            if expression.data_paths():
                message = f"data is still empty here: {expression.source.strip()}"
                hint = "data is resolved from facts and environ"
                warnings.append(Problem(message, expression.where, hint, "data.self"))

    def _report(self, node: Node, message: str, hint: str = "") -> None:
        self._problems.append(Problem(message, node.position, hint, "input.type"))


def load_source(path: str, problems: list[Problem], warnings: list[Problem]) -> DataSource | None:
    """The data of a ``--hiera`` file; None where it cannot be read at all."""
    if "://" in path:
        hint = "give a file; fetch it first"
        problems.append(Problem(f"--hiera {path}: only files can be read", None, hint))
        return None
    try:
        root = read_document(path, problems)
    except InputError as error:
        problems.extend(error.problems)
        return None
    if not isinstance(root, Mapping):
        message = f"external data must be a map with data, not {root.describe()}"
        problems.append(Problem(message, root.position, "", "input.type"))
        return None
    refuse_unknown_keys(
        root, KEYS, what="external data", problems=problems, hint="put values under data:"
    )
    return DataSource(root, problems, warnings)


def refuse_unknown_keys(
    mapping: Mapping, known: Entries[str], *, what: str, problems: list[Problem], hint: str = ""
) -> None:
    """Report every key that does not belong there, with the nearest that does."""
    for key, _ in mapping.pairs():
        if key.text not in known:
            advice = suggestion(key.text, list(known))
            advice = f"{hint}; {advice}" if hint else advice
            message = f"{what} has no key {key.text!r}"
            problems.append(Problem(message, key.position, advice, "input.unknown"))


def _render_entry(entry: Any, scope: Scope) -> str | None:
    """The name that an entry of order comes to; None where all its expressions are empty."""
    if not isinstance(entry, Template):
        return str(entry)
    parts = [
        (piece.evaluate(scope) if isinstance(piece, Expression) else None, piece)
        for piece in entry.pieces
    ]
    from orchestrator.expressions.template import as_text

    if all(value in (None, "") for value, piece in parts if isinstance(piece, Expression)):
        return None
    return "".join(as_text(value) if isinstance(p, Expression) else p for value, p in parts)


def _leads(node: Node, path: Entries[str]) -> bool:
    for key in path:
        if not isinstance(node, Mapping) or not node.entries:
            return True  # the value that is there is replaced, or an empty map filled
        found = node.get(key)
        if found is None:
            return False
        node = found
    return True
