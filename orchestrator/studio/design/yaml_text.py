"""A YAML text that is edited value by value (controller).

Each edit replaces only the affected characters. The result is read again: it must have exactly the
intended values, or the edit is refused. Comments, order and quotes of everything else are kept, and
no edit changes another value.
"""

from __future__ import annotations

import copy
import math
from difflib import SequenceMatcher
from typing import Any, NoReturn

from inventory.yaml_document import parse_data, to_plain
from orchestrator.studio.design.edit_positions import Places, Splice, apply
from orchestrator.studio.design.value_spans import Path, Span, read_spans
from orchestrator.studio.design.yaml_writer import (
    STEP,
    YamlLines,
    entry,
    in_brackets,
    item,
    scalar,
    written,
)
from remote_runtime.errors import InputError, Position, Problem

REFUSED = "input.edit"


class YamlText:
    """One immutable document; an edit returns a new one. InputError if it is not YAML.

    A path has keys of maps and indices of lists. Every edit raises InputError if it would affect
    other text; the user can then edit the text itself.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.data: Any = _data(text, name)
        self._root = read_spans(text)
        self._places = Places(text)

    @property
    def root(self) -> Span | None:
        """The span of the whole document; None for an empty one."""
        return self._root

    def span(self, path: Path) -> Span | None:
        """The source text of the value at a path; None if it does not exist."""
        span = self._root
        for key in path:
            at = span.place(key) if span is not None else -1
            if span is None or at < 0:
                return None
            span = span.values[at]
        return span

    def value(self, path: Path) -> Any:
        """The value at a path. KeyError, IndexError."""
        found = self.data
        for key in path:
            found = found[key]
        return found

    def has(self, path: Path) -> bool:
        """Whether there is a value at a path."""
        try:
            self.value(path)
        except (KeyError, IndexError, TypeError):
            return False
        return True

    def set(self, path: Path, value: Any, at: int | None = None) -> YamlText:
        """Set a key or an item to this value. A new key is inserted ``at`` a position, by default
        at the end.

        In lists and maps, only differing parts are written.
        """
        if self.has(path):
            return self._changed(path, self.value(path), value)
        data = copy.deepcopy(self.data)
        parent, key = path[:-1], path[-1]
        if not isinstance(key, str):
            self._refuse(parent, "there is no item with this number")
        if data is None and not parent:
            return self._checked([self._append(entry(key, value, 0))], {key: value})
        if self.has(parent) and self.value(parent) is None:
            return self.set(parent, {key: value})
        self._map_at(data, parent)[key] = value
        return self._checked(self._added_key(parent, key, value, at), data)

    def remove(self, path: Path) -> YamlText:
        """Remove a key or an item, with the comments directly above it."""
        if not self.has(path):
            return self
        data = copy.deepcopy(self.data)
        parent, key = path[:-1], path[-1]
        holder = _at(data, parent)
        del holder[key]
        span = self._span_of(parent)
        at = self._place(span, parent, key)
        if len(span.values) == 1 and not span.flow:
            return self._checked(self._replaced(parent, holder), data)
        return self._checked(self._places.removed(span, at), data)

    def insert(self, path: Path, index: int, value: Any) -> YamlText:
        """Insert an item into a list at this index."""
        data = copy.deepcopy(self.data)
        items = _at(data, path)
        items.insert(index, value)
        span = self._span_of(path)
        if not span.values and isinstance(value, (dict, list)) and value:
            return self._checked(self._replaced(path, items), data)
        if span.flow:
            return self._checked([self._places.inserted(span, index, in_brackets(value))], data)
        column = self._places.column(span.dashes[0])
        return self._checked(self._places.added(span, index, item(value, column)), data)

    def move(self, path: Path, index: int, to: int) -> YamlText:
        """Move an item of a list, with the comments directly above it, to another index."""
        data = copy.deepcopy(self.data)
        items = _at(data, path)
        if not 0 <= to < len(items) or not 0 <= index < len(items):
            self._refuse(path, "there is no item with this number")
        items.insert(to, items.pop(index))
        return self._checked(self._places.moved(self._span_of(path), index, to), data)

    def rename(self, path: Path, name: str) -> YamlText:
        """Rename a key; its position and its value are kept."""
        parent, key = path[:-1], path[-1]
        if name == key:
            return self
        data = copy.deepcopy(self.data)
        holder = self._map_at(data, parent)
        if name in holder:
            self._refuse(path, f"the key {name!r} already exists")
        pairs = [(name if one == key else one, value) for one, value in holder.items()]
        holder.clear()
        holder.update(pairs)
        span = self._span_of(parent)
        node = span.keys[self._place(span, parent, key)]
        new = scalar(name, node.style, in_brackets=span.flow)
        return self._checked([Splice(node.start, node.end, new)], data)

    def _changed(self, path: Path, old: Any, new: Any) -> YamlText:
        """The smallest set of edits from one value to another."""
        if same(old, new):
            return self
        if isinstance(old, dict) and isinstance(new, dict) and old and new:
            return self._changed_map(path, old, new)
        if isinstance(old, list) and isinstance(new, list) and old and new:
            return self._changed_list(path, old, new)
        data = copy.deepcopy(self.data)
        if path:
            _at(data, path[:-1])[path[-1]] = new
        else:
            data = new
        return self._checked(self._replaced(path, new), data)

    def _changed_map(self, path: Path, old: dict[str, Any], new: dict[str, Any]) -> YamlText:
        text = self
        for key, value in new.items():
            text = text.set((*path, key), value)
        for key in old:
            if key not in new:
                text = text.remove((*path, key))
        return text

    def _changed_list(self, path: Path, old: list[Any], new: list[Any]) -> YamlText:
        was, wanted = ([repr(one) for one in items] for items in (old, new))
        steps = SequenceMatcher(None, was, wanted, autojunk=False).get_opcodes()
        text = self
        for _, first, last, at, to in reversed([step for step in steps if step[0] != "equal"]):
            pairs = zip(old[first:last], new[at:to])
            for number, (one, other) in enumerate(pairs, first):
                text = text._changed((*path, number), one, other)
            for number in range(to - at - 1, last - first - 1, -1):
                text = text.insert(path, last, new[at + number])
            for number in range(last - 1, first + to - at - 1, -1):
                text = text.remove((*path, number))
        return text

    def _added_key(self, parent: Path, key: str, value: Any, at: int | None) -> list[Splice]:
        span = self._span_of(parent)
        at = len(span.values) if at is None else at
        if not span.values:
            return self._replaced(parent, {key: value})
        if span.flow:
            new = f"{scalar(key, in_brackets=True)}: {in_brackets(value)}"
            return [self._places.inserted(span, at, new)]
        return self._places.added(span, at, entry(key, value, self._places.column(span.head(0))))

    def _replaced(self, path: Path, value: Any) -> list[Splice]:
        """Write a new value at a path."""
        if not path:
            found = written(value, 0)
            start = self._root.start if self._root else 0
            lines = [found.first] if found.first else list(found.body)
            return [Splice(start, self._root.end if self._root else 0, "\n".join(lines))]
        parent = self._span_of(path[:-1])
        at = self._place(parent, path[:-1], path[-1])
        span = parent.values[at]
        if parent.flow:
            style = span.style if isinstance(value, str) else ""
            new = scalar(value, style, in_brackets=True) if style else in_brackets(value)
            return [Splice(span.start, span.end, new if span.end > span.start else f" {new}")]
        new_value = self._written(parent, at, value)
        return [self._places.replaced(parent, at, new_value)]

    def _written(self, parent: Span, at: int, value: Any) -> YamlLines:
        span = parent.values[at]
        column = self._places.column(parent.head(at)) + STEP
        if span.is_block and span.values:
            column = self._places.column(span.head(0))
        return written(value, column, span.style if span.kind == "scalar" else "")

    def _append(self, lines: list[str]) -> Splice:
        end = len(self.text)
        head = "" if not self.text or self.text.endswith("\n") else "\n"
        return Splice(end, end, head + "".join(f"{line}\n" for line in lines))

    def _checked(self, splices: list[Splice], expected: Any) -> YamlText:
        """The text after the edits, which must have the expected values."""
        text = apply(self.text, splices)
        try:
            found = YamlText(text, self.name)
        except InputError:
            found = None
        if found is None or not same(found.data, expected):
            where = Position(self.name, self.text.count("\n", 0, splices[0].start) + 1, 1)
            self._refuse_at(where, "a form cannot edit this part without changing another")
        return found

    def _span_of(self, path: Path) -> Span:
        span = self.span(path)
        if span is None or span.kind not in ("map", "list"):
            self._refuse(path, "there is an alias or a merged key here")
        return span

    def _place(self, span: Span, path: Path, key: str | int) -> int:
        at = span.place(key)
        if at < 0:
            self._refuse(path, "this comes from an alias or a merged key")
        return at

    def _map_at(self, data: Any, path: Path) -> dict[str, Any]:
        try:
            found = _at(data, path)
        except (KeyError, IndexError, TypeError):
            found = None
        if not isinstance(found, dict):
            self._refuse(path, "there is no map at this place")
        return found

    def _refuse(self, path: Path, reason: str) -> NoReturn:
        while path and self.span(path) is None:
            path = path[:-1]
        span = self.span(path)
        start = span.start if span else 0
        self._refuse_at(Position(self.name, self.text.count("\n", 0, start) + 1, 1), reason)

    def _refuse_at(self, where: Position, reason: str) -> NoReturn:
        raise InputError([Problem(reason, where, "edit the text", REFUSED)])


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, with 1, 1.0 and true counted as different."""
    if one.__class__ is not other.__class__:
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def _data(text: str, name: str) -> Any:
    """Return the values of a document. InputError, including for duplicate keys."""
    problems: list[Problem] = []
    root = parse_data(text, name, problems)
    if problems:
        raise InputError(problems)
    return to_plain(root)


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data
