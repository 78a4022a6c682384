"""The start and end of each value in a YAML text (controller).

The nodes of ``inventory.yaml_document`` only have start positions, which is enough for messages. To
replace a value, its end is needed, too. Aliases are leaves here: nothing is expanded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.tokens import BlockEntryToken

from inventory.gc_pause import collection_paused

Path = tuple[str | int, ...]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEEP = re.compile(r"[|>]\d*\+")


@dataclass
class Span:
    """A value: ``text[start:end]``. Without brackets, a collection ends with its last value.

    ``kind`` is scalar, alias, map or list; ``style`` is the style of a scalar: "" for plain, or one
    of ``' " | >``. ``flow``: in brackets. ``keys`` and ``values`` are those of a map. For a list,
    ``values`` are its items, and ``dashes`` are the positions of the dashes in a block list.
    """

    kind: str
    start: int
    end: int
    style: str = ""
    flow: bool = False
    anchor: str = ""
    text: str = ""
    keys: list[Span] = field(default_factory=list)
    values: list[Span] = field(default_factory=list)
    dashes: list[int] = field(default_factory=list)

    @property
    def is_block(self) -> bool:
        """Whether it is a map or a list without brackets."""
        return self.kind in ("map", "list") and not self.flow

    def place(self, key: str | int) -> int:
        """The index of an entry by its key or number; -1 if there is none."""
        if self.kind == "list" and isinstance(key, int):
            return key if 0 <= key < len(self.values) else -1
        if self.kind == "map" and isinstance(key, str):
            names = [one.text if one.kind == "scalar" else None for one in self.keys]
            return names.index(key) if key in names else -1
        return -1

    def head(self, at: int) -> int:
        """The start of an entry in a block collection: its dash or its key."""
        return self.dashes[at] if self.kind == "list" else self.keys[at].start

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, Span]]:
        """This value and all values in it, with their paths."""
        yield path, self
        for at, value in enumerate(self.values):
            key = self.keys[at].text if self.kind == "map" else at
            yield from value.walk((*path, key))


def read_spans(text: str) -> Span | None:
    """Return the root of a document that the YAML reader accepted; None for an empty document."""
    with collection_paused():
        return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        tokens: Any = yaml.scan(text, Loader=_Loader)
        self._dashes = [t.start_mark.index for t in tokens if isinstance(t, BlockEntryToken)]

    def read(self) -> Span | None:
        """The root, with all nodes below it; None for an empty text."""
        root: Span | None = None
        stack: list[tuple[Span, list[Span]]] = []
        events: Any = yaml.parse(self._text, Loader=_Loader)
        for event in events:
            if isinstance(event, (MappingEndEvent, SequenceEndEvent)):
                span, children = stack.pop()
                self._close(span, children, event)
                continue
            child = self._begin(event)
            if child is None:
                continue
            if stack:
                stack[-1][1].append(child)
            else:
                root = child
            if isinstance(event, (MappingStartEvent, SequenceStartEvent)):
                stack.append((child, []))
        return root

    def _begin(self, event: Any) -> Span | None:
        if not isinstance(event, (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent)):
            return None
        marks: Any = (event.start_mark, event.end_mark)
        start, end = (mark.index for mark in marks)
        anchor = event.anchor or ""
        if isinstance(event, AliasEvent):
            return Span("alias", start, end, anchor=anchor)
        if isinstance(event, ScalarEvent):
            style = event.style or ""
            if style in ("|", ">"):
                end = self._end_of_block_text(start, end)
            return Span("scalar", start, end, style, anchor=anchor, text=event.value)
        kind = "map" if isinstance(event, MappingStartEvent) else "list"
        return Span(kind, start, end, flow=bool(event.flow_style), anchor=anchor)

    def _end_of_block_text(self, start: int, end: int) -> int:
        """The end without line breaks that do not belong to the text."""
        written = self._text[start:end]
        header = written.partition("\n")[0]
        if _KEEP.search(header):
            return end - written.endswith("\n") - written.endswith("\r\n")
        return start + len(written.rstrip())

    def _close(self, span: Span, children: list[Span], event: Any) -> None:
        if span.kind == "map":
            span.keys, span.values = children[::2], children[1::2]
        else:
            span.values = children
        if span.flow:
            span.end = event.end_mark.index
            return
        span.end = max((one.end for one in children), default=span.start)
        if span.kind == "list":
            # An item begins behind its dash; the dash of an inner list is the start of that list.
            places = (bisect_left(self._dashes, one.start) - 1 for one in children)
            span.dashes = [self._dashes[place] for place in places]
        first = children[0].start if span.kind == "map" and children else None
        if span.kind == "list" and span.dashes:
            first = span.dashes[0]
        if first is not None and not span.anchor:
            span.start = first
