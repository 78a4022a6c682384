"""Writes the origin of a data value (controller)."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from orchestrator.support.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planning.explanation import Explanation, Source

_MAX_LENGTH = 60  # characters of a value


def lines(host: str, explanation: Explanation) -> Iterator[str]:
    """The explanation as text: the value, the sources that were searched, and the origin of each
    part.
    """
    key = ".".join(explanation.keys)
    value = _shown(explanation.value) if explanation.found else _missing(explanation)
    yield f"{key} on {host}: {value}"
    yield f"  merge: {explanation.merge}; sources, in order:"
    for name, group in groupby(explanation.sources, lambda one: one.source):
        of = list(group)
        if name and of[0].merge:  # --data has no entries
            yield f"  overridden by {name}, merge: {of[0].merge}:"
        elif name:
            yield "  overridden by:"
        yield from _table([(one.entry, str(one.where or "-"), _value_text(one)) for one in of])
    if explanation.parts:
        yield "  parts:"
        yield from _table(
            [
                (
                    ".".join((*explanation.keys, *path)),
                    _shown(part.value),
                    f"{part.entry}, {part.where}" if part.where else part.entry,
                )
                for path, part in explanation.parts
            ]
        )


def document(explanation: Explanation) -> dict[str, Any]:
    """The same for programs."""
    return {
        "key": ".".join(explanation.keys),
        "found": explanation.found,
        "value": explanation.value,
        "merge": explanation.merge,
        "sources": [
            {
                "entry": one.entry,
                "where": str(one.where) if one.where else None,
                "found": one.found,
                "value": one.value,
                "note": one.note,
                "source": one.source or None,
                "merge": one.merge or None,
            }
            for one in explanation.sources
        ],
        "parts": [
            {
                "path": ".".join((*explanation.keys, *path)),
                "value": part.value,
                "entry": part.entry,
                "where": str(part.where) if part.where else None,
            }
            for path, part in explanation.parts
        ],
    }


def _missing(explanation: Explanation) -> str:
    counts = any(one.found and not one.note for one in explanation.sources)
    return "removed by a later source" if counts else "not set"


def _value_text(source: Source) -> str:
    if not source.found:
        return source.note
    return f"{_shown(source.value)} ({source.note})" if source.note else _shown(source.value)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return one_line(text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…")


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    widths = [max(len(one_line(row[at])) for row in rows) for at in range(2)] if rows else []
    for row in rows:
        first, second, third = map(one_line, row)
        yield f"    {first:<{widths[0]}}  {second:<{widths[1]}}  {third}".rstrip()
