"""Merges trees of data (controller)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from orchestrator.manifest.deferred_values import Deferred, DeferredMap, plain, raw_copy, raw_items
from remote_runtime.errors import Position

_NOTHING: Any = object()

STRATEGIES = ("first", "deep", "unique")


class Part(NamedTuple):
    """A data value with the hierarchy ``entry`` that it comes from, and its position there."""

    value: Any
    entry: str
    where: Position | None


class PartMap(dict[str, Any]):
    """A map of parts with its own ``origin``, which is used if it has no entries."""

    origin: Part


class PartList(list[Any]):
    """The same for a list."""

    origin: Part


def bare(value: Any) -> Any:
    """The value, without its origin if it has one."""
    if isinstance(value, Part):
        return value.value
    if isinstance(value, list) and any(isinstance(one, (Part, list, dict)) for one in value):
        return [bare(one) for one in value]
    if isinstance(value, dict) and not isinstance(value, DeferredMap):
        return {key: bare(one) for key, one in value.items()}
    return value


class Merging(NamedTuple):
    """How the entries of a hierarchy are merged.

    ``default`` is ``first`` or ``deep``, and ``keys`` maps top-level keys to their own strategies.
    A value that begins with ``knockout`` removes the value below it; "" disables this.
    """

    default: str = "first"
    keys: Mapping[str, str] = {}
    knockout: str = ""

    def strategy(self, key: str) -> str:
        """The merge strategy of a top-level key."""
        return self.keys.get(key, self.default)

    def wants(self, key: str, is_first: bool, taken: Iterable[str]) -> bool:
        """Whether an entry's value of a key is used after earlier entries have ``taken`` keys.

        ``is_first``: there is no earlier entry.
        """
        if self.strategy(key) != "first":
            return True
        return key not in taken if key in self.keys else is_first


def merge_deep(below: Any, above: Any) -> Any:
    """Merge ``above`` over ``below``: maps are merged, lists concatenated, and other values
    replaced.

    The arguments are not changed; the result may share parts with both.
    """
    return _merge(below, above, True)


def merge_facts(below: Any, above: Any) -> Any:
    """Merge like ``merge_deep``, but replace lists: a fact has exactly the list that was set."""
    return _merge(below, above, False)


def _merge(below: Any, above: Any, lists: bool) -> Any:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        merged = _widened(below, above)
        for key, value in raw_items(above):
            known = dict.get(merged, key, _NOTHING)
            merged[key] = value if known is _NOTHING else _merge(known, value, lists)
        return merged or _empty(merged, below, above)
    if _waits(below, above):
        return _later(lambda one, other: _merge(one, other, lists), below, above)
    if lists and isinstance(below, list) and isinstance(above, list):
        return below + above or _empty([], below, above)
    return above


def merge_key(merging: Merging, key: str, data: dict[str, Any], value: Any) -> None:
    """Merge an entry's value of a top-level key into the data, which is changed."""
    strategy = merging.strategy(key)
    known = dict.get(data, key, _NOTHING)
    below = DeferredMap() if known is _NOTHING else DeferredMap({key: known})
    merged = _Layer(strategy, merging.knockout).merge(below, DeferredMap({key: value}))
    if key in merged:
        data[key] = dict.__getitem__(merged, key)
    else:
        data.pop(key, None)


def merge_source(
    merging: Merging, data: dict[str, Any], above: Mapping[str, Any]
) -> dict[str, Any]:
    """The data of a later source merged over that of a manifest, which is not changed.

    The merge is deep, except for keys with their own strategy in the manifest's hierarchy. Values
    that begin with its knockout mark remove values below.
    """
    if not (merging.keys or merging.knockout):
        merged: dict[str, Any] = merge_deep(data, above)
        return merged
    found = _widened(data, above)
    for key, value in raw_items(above):
        merge_key(merging._replace(default="deep"), key, found, value)
    return found


def merge_base(merging: Merging, data: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``data`` to merge entries into; ``unique`` lists have no duplicates."""
    found = raw_copy(data)
    for key, value in raw_items(data):
        if merging.strategy(key) == "unique":
            found[key] = _once(value)
    return found


class _Layer(NamedTuple):
    """Merges with one strategy. The result never contains ``knockout`` marks."""

    strategy: str
    knockout: str

    def merge(self, below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        """A new map, merged from both with the strategy; marks in ``above`` remove the values that
        they name.
        """
        merged = _widened(below, above)
        for key, value in raw_items(above):
            known = dict.get(merged, key, _NOTHING)
            if self._is_mark(value) and bare(value) == self.knockout:
                merged.pop(key, None)
            elif known is not _NOTHING and self.strategy != "first":
                merged[key] = self._value(known, value)
            else:
                merged[key] = self._without_marks(value)
        return merged or _empty(merged, below, above)

    def _value(self, below: Any, above: Any) -> Any:
        if isinstance(below, Mapping) and isinstance(above, Mapping):
            return self.merge(below, above)
        if _waits(below, above):
            return _later(self._value, below, above)
        if not (_is_list(below) and _is_list(above)):
            return self._without_marks(above)
        removed = {bare(item)[len(self.knockout) :] for item in above if self._is_mark(item)}
        left = [item for item in below if not (removed and _text(item) in removed)]
        added = self._without_marks(above)
        found = _joined(left, added) if self.strategy == "unique" else left + added
        return found or _empty(found, below, above)

    def _without_marks(self, value: Any) -> Any:
        if not self.knockout:
            return _once(value) if self.strategy == "unique" else value
        if isinstance(value, Deferred):
            return Deferred(value.active, value.path, lambda: self._without_marks(value.force()))
        if isinstance(value, Mapping):
            return self.merge({}, value)
        if _is_list(value):
            kept = [self._without_marks(item) for item in value if not self._is_mark(item)]
            found = _joined([], kept) if self.strategy == "unique" else kept
            return found or _empty(found, value)
        return value

    def _is_mark(self, item: Any) -> bool:
        text = bare(item)
        return bool(self.knockout) and isinstance(text, str) and text.startswith(self.knockout)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _text(item: Any) -> str | None:
    """Return the string that a mark compares with an element; None if a mark cannot name it."""
    item = bare(item)
    if isinstance(item, bool) or item is None:
        return {True: "true", False: "false", None: "null"}[item]
    return str(item) if isinstance(item, (str, int, float)) else None


def _joined(below: list[Any], above: list[Any]) -> list[Any]:
    """The elements of both lists, without duplicates."""
    result: list[Any] = []
    known: set[tuple[type[Any], Any]] = set()
    for item in (*below, *above):
        value = bare(item)
        if isinstance(value, (Mapping, list)):
            is_new = value not in map(bare, result)
        else:
            is_new = (value.__class__, value) not in known
            known.add((value.__class__, value))
        if is_new:
            result.append(item)
    return result


def _once(value: Any) -> Any:
    """A list without duplicates; any other value unchanged."""
    if isinstance(value, Deferred):
        return Deferred(value.active, value.path, lambda: _once(value.force()))
    return _joined([], value) or _empty([], value) if _is_list(value) else value


def _empty(found: Any, *merged: Any) -> Any:
    """An empty map or list, with the last origin among the ``merged`` ones."""
    for value in reversed(merged):
        if isinstance(value, (PartMap, PartList)):
            return with_origin(type(found)(), value.origin)
    return found


def with_origin(value: Any, origin: Part) -> Any:
    """A map or a list with its own origin."""
    held: PartMap | PartList = PartMap(value) if isinstance(value, dict) else PartList(value)
    held.origin = origin
    return held


def _waits(below: Any, above: Any) -> bool:
    """Whether the merge has no result yet, because one of the values is deferred."""
    if isinstance(above, Deferred):
        return isinstance(below, (Deferred, Mapping, list))
    return isinstance(below, Deferred) and isinstance(above, (Mapping, list))


def _later(merge: Callable[[Any, Any], Any], below: Any, above: Any) -> Deferred:
    one = below if isinstance(below, Deferred) else above
    return Deferred(one.active, one.path, lambda: merge(plain(below), plain(above)))


def _widened(below: Any, above: Any) -> dict[str, Any]:
    """A copy of ``below`` that may contain deferred values of both."""
    is_plain = not isinstance(above, DeferredMap)
    return raw_copy(below) if is_plain else DeferredMap(raw_items(below))


def nest(path: str, value: Any) -> dict[str, Any]:
    """``a.b`` and a value as ``{"a": {"b": value}}``."""
    for part in reversed(path.split(".")):
        value = {part: value}
    tree: dict[str, Any] = value
    return tree
