"""The origin of a data value: the sources that were searched, and its parts (controller)."""

from __future__ import annotations

from collections.abc import Sequence as Keys
from typing import Any, NamedTuple

from inventory.yaml_document import Mapping, Node, Sequence
from orchestrator.expressions import Scope, render_value
from orchestrator.language.lookup_paths import MISSING, find
from orchestrator.manifest.data_files import NO_FILES, DataFiles
from orchestrator.manifest.data_source import DataSource, Layer
from orchestrator.manifest.merge import Merging, Part, PartList, PartMap, merge_source, with_origin
from remote_runtime.errors import Position
from remote_runtime.reporting.masking import MASKED, Mask

GIVEN = "--data"
NO_KEY = "no such key"
NO_ENTRY = "no override and no data file"
EMPTY = "skipped: its expressions are empty"
PASSED = "not used: an earlier entry takes precedence"


class Source(NamedTuple):
    """One searched source: an ``entry`` of an order, ``data`` or ``--data``.

    ``found``: it has a value there, which is used unless ``note`` states otherwise. ``source`` is
    its ``--hiera`` file, "" for the manifest, and ``merge`` the merge strategy of that file.
    """

    entry: str
    where: Position | None = None
    value: Any = None
    found: bool = False
    note: str = ""
    source: str = ""
    merge: str = ""


class Explanation(NamedTuple):
    """The explanation of the value at ``keys``: its ``merge``, the searched sources, and its parts
    by their paths.

    ``found``: the data has such a value, which is ``value``.
    """

    keys: tuple[str, ...]
    merge: str
    sources: list[Source]
    parts: list[tuple[tuple[str, ...], Part]]
    found: bool
    value: Any


class Explainer:
    """Visits the data sources in order; ``scope`` has the resulting data."""

    def __init__(self, scope: Scope, keys: Keys[str]) -> None:
        self.scope = scope
        self._keys = tuple(keys)
        self._sources: list[Source] = []
        self._data: Any = {}
        self._merge = ""
        self._source = ""
        self._merging = Merging()

    def read(self, source: DataSource, files: DataFiles = NO_FILES) -> None:
        """Add the data of the manifest itself, whose merge strategies also apply to later ones."""
        self._merging = source.merging
        self._data = source.resolve(self.scope, self._bind, files)
        self._look_through(source, files)

    def over(self, source: DataSource) -> None:
        """Add the data of a later source with its own hierarchy."""
        self._source = source.name
        data = source.resolve(self.scope, self._bind)
        self._data = merge_source(self._merging, self._data, data)
        self._look_through(source, NO_FILES)

    def _look_through(self, source: DataSource, files: DataFiles) -> None:
        self._merge = source.merging.strategy(self._keys[0])
        self._look(source.base, "")
        taken: set[str] = set()
        is_first = True
        for name in source.names_of_order(self.scope):
            layers = source.layers(name, files)
            counts = source.merging.wants(self._keys[0], is_first, taken)
            if not layers:
                text = str(name) if name is not None else "(empty)"
                self._add(Source(text, note=NO_ENTRY if name is not None else EMPTY))
            for layer in layers:
                self._look(layer, "" if counts else PASSED)
            if any(self._keys[0] in dict(layer.pairs()) for layer in layers):
                taken.add(self._keys[0])
            is_first = is_first and not layers

    def assign(self, data: dict[str, Any]) -> None:
        """Add an assignment of ``--data``."""
        value = find(data, "", self._keys)
        if value is not MISSING:
            self._source, self._merge = GIVEN, ""
            self._add(Source(GIVEN, None, value, found=True))
        self._data = merge_source(self._merging, self._data, _marked(data, None, GIVEN))

    def explanation(self) -> Explanation:
        """The explanation of the value."""
        tree = find(self._data, "", self._keys)
        exists = tree is not MISSING
        parts = list(_parts(tree, ())) if exists else []
        value = find(self.scope.data, "", self._keys)
        return Explanation(
            keys=self._keys,
            merge=self._merging.strategy(self._keys[0]),
            sources=self._sources,
            parts=parts,
            found=exists,
            value=None if value is MISSING else value,
        )

    def _add(self, source: Source) -> None:
        self._sources.append(source._replace(source=self._source, merge=self._merge))

    def _bind(self, layer: Layer, key: str, value: Any) -> Any:
        node: Node | None = layer.node
        if key and isinstance(node, Mapping):
            node = node.get(key)
        return _marked(render_value(value, self.scope), node, layer.entry)

    def _look(self, layer: Layer, note: str) -> None:
        node: Node | None = layer.node
        pairs = dict(layer.pairs())
        value: Any = MISSING
        if self._keys[0] in pairs:
            first = render_value(pairs[self._keys[0]], self.scope)
            value = find(first, "", self._keys[1:])
        if value is MISSING:
            where = layer.node.position if layer.node is not None else None
            self._add(Source(layer.entry, where, note=NO_KEY))
            return
        for key in self._keys:
            below = node.get(key) if isinstance(node, Mapping) else None
            node = below or node
        place = node.position if node is not None else None
        self._add(Source(layer.entry, place, value, found=True, note=note))


def _marked(value: Any, node: Node | None, entry: str) -> Any:
    """The value with an origin on each part."""
    origin = Part(value, entry, node.position if node is not None else None)
    if isinstance(value, dict):
        marked = {key: _marked(below, _below(node, key), entry) for key, below in value.items()}
        return with_origin(marked, origin._replace(value={}))
    if isinstance(value, list):
        nodes = node.nodes if isinstance(node, Sequence) and len(node.nodes) == len(value) else None
        items = [
            _marked(below, nodes[at] if nodes else node, entry) for at, below in enumerate(value)
        ]
        return with_origin(items, origin._replace(value=[]))
    return origin


def _below(node: Node | None, key: str) -> Node | None:
    below = node.get(key) if isinstance(node, Mapping) else None
    return below or node


def _parts(tree: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Part]]:
    """Every value that is not a list or map with entries, by its path."""
    if isinstance(tree, Part):
        return [(path, tree)]
    if not tree:
        return [(path, tree.origin)] if isinstance(tree, (PartMap, PartList)) else []
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [part for key, below in pairs for part in _parts(below, (*path, str(key)))]


def hidden(explanation: Explanation, secrets: Keys[str]) -> Explanation:
    """Return the explanation with these strings masked."""
    return explanation._replace(
        value=masked(explanation.value, secrets),
        sources=[one._replace(value=masked(one.value, secrets)) for one in explanation.sources],
        parts=[
            (path, part._replace(value=masked(part.value, secrets)))
            for path, part in explanation.parts
        ],
    )


def masked(data: Any, secrets: Keys[str]) -> Any:
    """Return the value with these strings masked."""
    mask, whole = Mask(secrets), frozenset(secrets)

    def walk(value: Any) -> Any:
        """The value with every secret masked, at any depth."""
        if isinstance(value, dict):
            return {key: walk(below) for key, below in value.items()}
        if isinstance(value, list):
            return [walk(below) for below in value]
        if isinstance(value, str):
            return mask.text(value)
        return MASKED if str(value) in whole and not isinstance(value, bool) else value

    return walk(data)
