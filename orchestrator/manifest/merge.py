"""Laying trees of data over one another (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

STRATEGIES = ("first", "deep", "unique")


class Merging(NamedTuple):
    """How the entries of a hierarchy are merged.

    ``default`` is ``first`` or ``deep``, ``keys`` has the strategy of single top-level keys, and
    what begins with ``knockout`` removes what lies below it; "" removes nothing.
    """

    default: str = "first"
    keys: Mapping[str, str] = {}
    knockout: str = ""

    def strategy(self, key: str) -> str:
        """How the values of a top-level key are merged."""
        return self.keys.get(key, self.default)

    def wants(self, key: str, is_first: bool, taken: Iterable[str]) -> bool:
        """Whether an entry's value of a key counts, where entries before it have ``taken`` keys.

        ``is_first``: no entry before it was there.
        """
        if self.strategy(key) != "first":
            return True
        return key not in taken if key in self.keys else is_first


def merge_deep(below: Any, above: Any) -> Any:
    """``above`` over ``below``: maps merge, lists concatenate, anything else replaces.

    Neither is changed; the result may share parts with both.
    """
    return _merge(below, above, True)


def merge_facts(below: Any, above: Any) -> Any:
    """As ``merge_deep``, but a list replaces: a fact that is set is what it is set to."""
    return _merge(below, above, False)


def _merge(below: Any, above: Any, lists: bool) -> Any:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        merged = dict(below)
        for key, value in above.items():
            merged[key] = _merge(merged[key], value, lists) if key in merged else value
        return merged
    if lists and isinstance(below, list) and isinstance(above, list):
        return below + above
    return above


def lay(merging: Merging, key: str, data: dict[str, Any], value: Any) -> None:
    """Lay an entry's value of a top-level key over the data, which is changed."""
    strategy = merging.strategy(key)
    below = {key: data[key]} if key in data else {}
    merged = _Layer(strategy, merging.knockout).merge(below, {key: value})
    if key in merged:
        data[key] = merged[key]
    else:
        data.pop(key, None)


def begin(merging: Merging, data: Mapping[str, Any]) -> dict[str, Any]:
    """The data that the entries of a hierarchy are laid over."""
    return {
        key: _joined([], value) if merging.strategy(key) == "unique" and _is_list(value) else value
        for key, value in data.items()
    }


class _Layer(NamedTuple):
    """Merges by one strategy. Marks of ``knockout`` never are in what comes out."""

    strategy: str
    knockout: str

    def merge(self, below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        merged = dict(below)
        for key, value in above.items():
            if self.knockout and value == self.knockout:
                merged.pop(key, None)
            elif key in merged and self.strategy != "first":
                merged[key] = self._value(merged[key], value)
            else:
                merged[key] = self._without_marks(value)
        return merged

    def _value(self, below: Any, above: Any) -> Any:
        if isinstance(below, Mapping) and isinstance(above, Mapping):
            return self.merge(below, above)
        if not (_is_list(below) and _is_list(above)):
            return self._without_marks(above)
        removed = {item[len(self.knockout) :] for item in above if self._is_mark(item)}
        left = [item for item in below if not (removed and _text(item) in removed)]
        added = self._without_marks(above)
        return _joined(left, added) if self.strategy == "unique" else left + added

    def _without_marks(self, value: Any) -> Any:
        if not self.knockout:
            return _joined([], value) if self.strategy == "unique" and _is_list(value) else value
        if isinstance(value, Mapping):
            return self.merge({}, value)
        if _is_list(value):
            kept = [self._without_marks(item) for item in value if not self._is_mark(item)]
            return _joined([], kept) if self.strategy == "unique" else kept
        return value

    def _is_mark(self, item: Any) -> bool:
        return bool(self.knockout) and isinstance(item, str) and item.startswith(self.knockout)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _text(item: Any) -> str | None:
    """What a mark calls an element; None for one that it cannot name."""
    if isinstance(item, bool) or item is None:
        return {True: "true", False: "false", None: "null"}[item]
    return str(item) if isinstance(item, (str, int, float)) else None


def _joined(below: list[Any], above: list[Any]) -> list[Any]:
    """The elements of both lists, each once."""
    found: list[Any] = []
    known: set[tuple[type[Any], Any]] = set()
    for item in (*below, *above):
        if isinstance(item, (Mapping, list)):
            is_new = item not in found
        else:
            is_new = (item.__class__, item) not in known
            known.add((item.__class__, item))
        if is_new:
            found.append(item)
    return found


def nest(path: str, value: Any) -> dict[str, Any]:
    """``a.b`` and a value as ``{"a": {"b": value}}``."""
    for part in reversed(path.split(".")):
        value = {part: value}
    tree: dict[str, Any] = value
    return tree
