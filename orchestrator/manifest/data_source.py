"""One data source with its own hierarchy, and its result for a host (controller)."""

import re
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Entries
from typing import Any, NamedTuple, NoReturn, Protocol

from inventory.problem_collector import is_null
from inventory.yaml_document import (
    Mapping,
    Node,
    Scalar,
    Sequence,
    ambiguous_values,
    parse_data,
    parse_document,
    read_data,
    to_plain,
)
from orchestrator.expressions import Expression, Scope, Template
from orchestrator.expressions.scan import holds_expression
from orchestrator.language.errors import FactsUnavailableError
from orchestrator.manifest.annotations import Annotation, read_annotations
from orchestrator.manifest.checks.schema_errors import suggestion
from orchestrator.manifest.data_files import NO_FILES, DataFiles, all_secret, has_value_at, pairs_of
from orchestrator.manifest.deferred_values import Deferred
from orchestrator.manifest.merge import STRATEGIES, Merging, merge_base, merge_key
from orchestrator.manifest.value_compiler import compile_node, expressions_in, is_templated
from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.text.suggestions import nearest

BASE = "data"
KEYS = ("data", "hierarchy", "overrides")
_MERGES = ("first", "deep")
_FIRST = Merging()


class ValueContainer(Protocol):
    """A container of values: a data source, or the project's data files."""

    def holds(self, path: Entries[str], /) -> bool:
        """Whether it has a value at this path of keys, or at a parent of it."""

    def known_keys(self) -> list[str]:
        """Its top-level keys."""

    def expressions(self) -> list[Expression]:
        """Every expression in the container."""


class Layer(NamedTuple):
    """A map of data: an ``entry`` of the order, or ``data`` itself.

    ``tree`` is compiled, and ``node`` has its positions; None for an empty one.
    """

    entry: str
    tree: Any
    node: Mapping | None

    def pairs(self) -> list[tuple[str, Any]]:
        """Its keys with their compiled values."""
        return pairs_of(self.tree)


Bind = Callable[[Layer, str, Any], Any]
"""Computes a value from its compiled form in a layer, by its top-level key; "" for the
whole layer.
"""


class DataSource:
    """``data``, ``hierarchy`` and ``overrides`` of one file; shared by all hosts.

    ``notes`` has the positions in that file that YAML 1.1 would read differently. A ``remote``
    source, from another machine, has plain values. Expressions in its order and its checks see the
    host and its facts, and nothing of the controller.
    """

    def __init__(
        self,
        root: Mapping,
        problems: list[Problem],
        warnings: list[Problem],
        *,
        remote: bool = False,
    ) -> None:
        self.notes = ambiguous_values(root)
        self.is_remote = remote
        self.name = root.source.name
        self.text = root.source.text
        self.encrypted = root.source.encrypted
        self._problems = problems
        self._maps: list[Mapping] = []
        self.data = self._tree(root, "data")
        base = root.get("data")
        self._base = Layer(BASE, self.data, base if isinstance(base, Mapping) else None)
        self.overrides: dict[str, Any] = {}
        self._nodes: dict[str, Mapping] = {}
        self._override_nodes: dict[str, Scalar] = {}
        self.order: list[Any] = ["default"]
        self.merging = Merging()
        self.keys_merged: dict[str, Position] = {}
        """The top-level keys that ``hierarchy.keys`` names, with where it does."""
        overrides = root.get("overrides")
        if isinstance(overrides, Mapping):
            self.overrides = {name: self._tree(overrides, name) for name in overrides}
            values = {name: overrides.value(name) for name in overrides}
            self._nodes = {n: one for n, one in values.items() if isinstance(one, Mapping)}
            self._override_nodes = {name: overrides.key(name) for name in overrides}
        elif overrides is not None and not is_null(overrides):
            self._report(overrides, f"overrides must be a map, not {overrides.describe()}")
        self._read_hierarchy(root.get("hierarchy"))
        self.annotations: list[Annotation] = read_annotations(root.get("data"), problems, warnings)
        self._warn_of_data(warnings)
        for node in self._nodes.values():
            for one in read_annotations(node, [], []):
                message = f"@{one.word} has no effect in an override"
                hint = "write it above the same key under data"
                warnings.append(Problem(message, one.where, hint, "input.annotation"))
        if remote:
            warnings += [one for node in self._maps for one in _templates_in(node)]

    def is_static(self, files: DataFiles = NO_FILES) -> bool:
        """Whether it has the same data on every host."""
        if any(map(is_templated, (self.data, *self.overrides.values(), *self.order))):
            return False
        if any(files.is_sealed(str(entry)) for entry in self.order):
            return False
        found = (files.get(str(entry)) for entry in self.order)
        return not any(file and is_templated(file.tree) for file in found)

    def holds(self, path: Entries[str]) -> bool:
        """Whether data or an override has a value at this path of keys, or at a parent of it."""
        return any(has_value_at(node, path) for node in self._maps)

    def place(self, override: str) -> Position | None:
        """The position of an override."""
        entry = self._override_nodes.get(override)
        return entry.position if entry else None

    def reached(self, scope: Scope, files: DataFiles = NO_FILES) -> list[str]:
        """Return the names of the order on a host; EvaluationError."""
        result: list[str] = []
        for entry in self.order:
            try:
                name = _render_entry(entry, scope)
            except FactsUnavailableError:
                result += self.possible(entry, files)
            else:
                result += [name] if name is not None else []
        return result

    def possible(self, entry: Any, files: DataFiles = NO_FILES) -> list[str]:
        """The overrides and files that an entry of the order can name, for any values
        in its expressions.
        """
        known = dict.fromkeys([*self.overrides, *files.names()])
        if not isinstance(entry, Template):
            return [name for name in known if name == str(entry)]
        fixed = (".*" if isinstance(p, Expression) else re.escape(p) for p in entry.pieces)
        pattern = re.compile("".join(fixed), re.DOTALL)
        return [name for name in known if pattern.fullmatch(name)]

    def may_name(self, name: str, files: DataFiles) -> bool:
        """Whether the order can name this override or file."""
        return any(name in self.possible(entry, files) for entry in self.order)

    def maps(self) -> list[Mapping]:
        """The maps of data and of each override, as they are written."""
        return list(self._maps)

    def known_keys(self) -> list[str]:
        """The top-level keys of data and overrides."""
        return list(dict.fromkeys(key for node in self._maps for key in node.entries))

    def base_keys(self) -> list[str]:
        """The top-level keys of data itself."""
        return list(self._base.node.entries) if self._base.node is not None else []

    def keys_above(self) -> list[str]:
        """The top-level keys of overrides."""
        return [key.text for key in self.keys_of_overrides()]

    def keys_of_overrides(self) -> list[Scalar]:
        """The top-level keys of all overrides, with their positions."""
        return [node.key(key) for node in self._nodes.values() for key in node]

    def expressions(self) -> list[Expression]:
        """Every expression in data, overrides and order."""
        in_order = [one for entry in self.order for one in expressions_in(entry)]
        return [*self.value_expressions(), *in_order]

    def value_expressions(self) -> list[Expression]:
        """Every expression in data and overrides, which may read other values."""
        return [
            expression
            for tree in (self.data, *self.overrides.values())
            for expression in expressions_in(tree)
        ]

    def resolve(self, scope: Scope, bind: Bind, files: DataFiles = NO_FILES) -> dict[str, Any]:
        """The data of one host, with templates rendered by ``bind``; EvaluationError.

        ``scope`` is lenient.
        """
        scope = scope.outside() if self.is_remote else scope
        data = merge_base(self.merging, bind(self._base, "", self.data))
        taken: set[str] = set()
        is_first = True
        uncertainty: FactsUnavailableError | None = None
        for entry in self.order:
            try:
                name = _render_entry(entry, scope)
            except FactsUnavailableError as error:
                if not scope.facts.are_partial:
                    raise
                # It may be any of these: their keys are known, but not their values.
                for possible in self.possible(entry, files):
                    for layer in self.layers(possible, files):
                        data.update((key, _unknown(key, error)) for key, _ in layer.pairs())
                        uncertainty = error
                continue
            result: list[str] = []
            layers = self.layers(name, files)
            for layer, key, value in ((one, *pair) for one in layers for pair in one.pairs()):
                if uncertainty and self.merging.strategy(key) == "first":
                    data[key] = _unknown(key, uncertainty)  # the earlier entry may win
                elif self.merging.wants(key, is_first, taken):
                    merge_key(self.merging, key, data, bind(layer, key, value))
                    result.append(key)
            taken.update(result)
            is_first = is_first and not layers
            if layers and self.merging == _FIRST:
                break
        return data

    @property
    def base(self) -> Layer:
        """``data`` itself, the lowest layer."""
        return self._base

    def names_of_order(self, scope: Scope) -> list[str | None]:
        """Return the name of each entry of the order; None if all its expressions are empty."""
        scope = scope.outside() if self.is_remote else scope
        return [_render_entry(entry, scope) for entry in self.order]

    def layers(self, name: str | None, files: DataFiles = NO_FILES) -> list[Layer]:
        """The layers that an entry of the order finds; later ones override earlier ones."""
        if name is None:
            return []
        file = files.get(name)
        layers = [Layer(name, file.tree, file.node)] if file else []
        if name in self.overrides:
            layers.append(Layer(name, self.overrides[name], self._nodes.get(name)))
        return layers

    def _tree(self, parent: Mapping, key: str) -> Any:
        node = parent.get(key)
        if node is None or is_null(node):
            return {}
        if not isinstance(node, Mapping):
            self._report(node, f"{key} must be a map, not {node.describe()}")
            return {}
        self._maps.append(node)
        if self.is_remote:
            return to_plain(node)
        return compile_node(node, self._problems, lenient=True)

    def _read_hierarchy(self, node: Node | None) -> None:
        if node is None:
            return
        if not isinstance(node, Mapping):
            self._report(node, f"hierarchy must be a map, not {node.describe()}")
            return
        known = ("order", "merge", "keys", "knockout")
        refuse_unknown_keys(node, known, what="hierarchy", problems=self._problems)
        order = node.get("order")
        if isinstance(order, Sequence) and order.nodes:
            self.order = [self._order_entry(entry) for entry in order.nodes]
        elif order is not None:
            self._report(order, "order must be a list with at least one override name")
        self.merging = Merging(
            self._word(node.get("merge"), "merge", _MERGES) or "first",
            self._strategies(node.get("keys")),
            self._mark(node.get("knockout")),
        )

    def _strategies(self, node: Node | None) -> dict[str, str]:
        if node is None or is_null(node):
            return {}
        if not isinstance(node, Mapping):
            hint = "for example keys: {users: unique}"
            self._report(node, f"keys must be a map, not {node.describe()}", hint)
            return {}
        strategies = {k.text: self._word(v, f"keys.{k.text}", STRATEGIES) for k, v in node.pairs()}
        for key, _ in node.pairs():
            self.keys_merged[key.text] = key.position
            if "." in key.text and not self.holds([key.text]):
                hint = f"name {key.text.partition('.')[0]}"
                self._report(key, f"keys takes top-level keys of the data, not {key.text}", hint)
        return {key: word for key, word in strategies.items() if word}

    def _word(self, node: Node | None, key: str, known: Entries[str]) -> str:
        """The text if it is one of the allowed words; otherwise ""."""
        if node is None:
            return ""
        if isinstance(node, Scalar) and node.value in known:
            return str(node.value)
        word = node.text if isinstance(node, Scalar) else node.describe()
        listed = f"{', '.join(known[:-1])} or {known[-1]}"
        likely = nearest(word, list(known))
        hint = f"did you mean {likely}?" if likely else ""
        shown = repr(word) if isinstance(node, Scalar) else word
        self._report(node, f"{key} must be {listed}, not {shown}", hint)
        return ""

    def _mark(self, node: Node | None) -> str:
        if node is None:
            return ""
        if isinstance(node, Scalar) and node.kind == "str" and node.text:
            return node.text
        what = repr(node.text) if isinstance(node, Scalar) else node.describe()
        self._report(node, f"knockout must be text, not {what}", 'write knockout: "--"')
        return ""

    def _order_entry(self, node: Node) -> Any:
        if isinstance(node, Scalar) and node.kind != "null":
            value = compile_node(node, self._problems, lenient=True)
            return value if is_templated(value) else node.text
        self._report(node, f"an entry of order must be text, not {node.describe()}")
        return ""

    def _warn_of_data(self, warnings: list[Problem]) -> None:
        for expression in (one for entry in self.order for one in expressions_in(entry)):
            if expression.data_paths():
                message = f"order cannot read data: {expression.source.strip()}"
                hint = "order selects the data, so it can read only facts, vars and environ"
                warnings.append(Problem(message, expression.where, hint, "data.self"))

    def _report(self, node: Node, message: str, hint: str = "") -> None:
        self._problems.append(Problem(message, node.position, hint, "input.type"))


def load_source(
    path: str,
    problems: list[Problem],
    *,
    warnings: list[Problem],
    text: str | None = None,
    opened: str | None = None,
) -> DataSource | None:
    """The data of a ``--hiera`` file; None if it cannot be read at all.

    With ``text``, the data comes from another machine, and positions use ``path`` as its name.
    ``opened`` is the text of an encrypted file, all of whose values are secret.
    """
    try:
        if opened is not None:
            root = parse_data(opened, path, problems)
        elif text is None:
            root = read_data(path, problems)
        else:
            root = parse_document(text, path, problems)
    except InputError as error:
        problems.extend(error.problems)
        return None
    if not isinstance(root, Mapping):
        message = f"external data must be a map with the key data, not {root.describe()}"
        problems.append(Problem(message, root.position, "", "input.type"))
        return None
    refuse_unknown_keys(
        root, KEYS, what="external data", problems=problems, hint="put values under data:"
    )
    source = DataSource(root, problems, warnings, remote=text is not None)
    if opened is not None:
        source.annotations += [one for node in source.maps() for one in all_secret(node)]
    return source


def _templates_in(node: Node) -> Iterator[Problem]:
    """A warning for each value of a remote source that looks like a template."""
    if isinstance(node, Scalar):
        if node.kind == "str" and holds_expression(node.text):
            message = "this is plain text: data from another machine is never a template"
            hint = "put templates into the manifest or a local file"
            yield Problem(message, node.position, hint, "data.remote")
    elif isinstance(node, Mapping):
        for _, below in node.pairs():
            yield from _templates_in(below)
    elif isinstance(node, Sequence):
        for below in node.nodes:
            yield from _templates_in(below)


def refuse_unknown_keys(
    mapping: Mapping, known: Entries[str], *, what: str, problems: list[Problem], hint: str = ""
) -> None:
    """Report every unknown key, with the most similar valid one."""
    for key, _ in mapping.pairs():
        if key.text not in known:
            advice = suggestion(key.text, list(known))
            advice = f"{hint}; {advice}" if hint else advice
            message = f"{what}: unknown key {key.text!r}"
            problems.append(Problem(message, key.position, advice, "input.unknown"))


def _unknown(key: str, error: FactsUnavailableError) -> Deferred:
    """A value of data that raises the error when it is read."""

    def refuse() -> NoReturn:
        raise error

    return Deferred([], f"data.{key}", refuse)


def _render_entry(entry: Any, scope: Scope) -> str | None:
    """Return the name of an entry of the order; None if all its expressions are empty."""
    if not isinstance(entry, Template):
        return str(entry)
    parts = [
        (piece.evaluate(scope) if isinstance(piece, Expression) else None, piece)
        for piece in entry.pieces
    ]
    from orchestrator.language.value_types import as_text

    if all(value in (None, "") for value, piece in parts if isinstance(piece, Expression)):
        return None
    return "".join(as_text(value) if isinstance(p, Expression) else p for value, p in parts)
