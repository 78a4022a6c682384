"""Writes where a value of data comes from (controller)."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from orchestrator.support.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.planning.explanation import Explanation, Source

_MAX_LENGTH = 60  # characters of a value


def lines(host: str, told: Explanation) -> Iterator[str]:
    """The explanation for people: the value, the searched sources, and the origin of each part."""
    key = ".".join(told.keys)
    yield f"{key} on {host}: {_shown(told.value) if told.found else _missing(told)}"
    yield f"  merge {told.merge}, sources in this order:"
    for name, group in groupby(told.sources, lambda one: one.source):
        of = list(group)
        if name and of[0].merge:  # --data has no entries
            yield f"  over that, {name}, merge {of[0].merge}:"
        elif name:
            yield "  over that:"
        yield from _table([(one.entry, str(one.where or "-"), _found(one)) for one in of])
    if told.parts:
        yield "  parts:"
        yield from _table(
            [
                (".".join((*told.keys, *path)), _shown(part.value), _origin(part.entry, part.where))
                for path, part in told.parts
            ]
        )


def document(told: Explanation) -> dict[str, Any]:
    """The same for programs."""
    return {
        "key": ".".join(told.keys),
        "found": told.found,
        "value": told.value,
        "merge": told.merge,
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
            for one in told.sources
        ],
        "parts": [
            {
                "path": ".".join((*told.keys, *path)),
                "value": part.value,
                "entry": part.entry,
                "where": str(part.where) if part.where else None,
            }
            for path, part in told.parts
        ],
    }


def _missing(told: Explanation) -> str:
    counts = any(one.found and not one.note for one in told.sources)
    return "removed by a later source" if counts else "not set in any data"


def _found(one: Source) -> str:
    if not one.found:
        return one.note
    return f"{_shown(one.value)} ({one.note})" if one.note else _shown(one.value)


def _origin(entry: str, where: object) -> str:
    return f"{entry}, {where}" if where else entry


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return one_line(text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…")


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    widths = [max(len(one_line(row[at])) for row in rows) for at in range(2)] if rows else []
    for row in rows:
        first, second, third = map(one_line, row)
        yield f"    {first:<{widths[0]}}  {second:<{widths[1]}}  {third}".rstrip()
