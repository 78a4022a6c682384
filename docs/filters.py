"""The generated parts of docs/reference/filters.md: one table for each family of filters."""

from __future__ import annotations

from orchestrator.language.filters import FAMILIES, entries
from schemas import tables


def parts() -> dict[str, str]:
    """The table of each family, by its first word in small letters."""
    return {family.split()[0].lower(): _table(family) for family in FAMILIES}


def _table(family: str) -> str:
    rows = [
        [_code(entry.usage), entry.meaning, _code(entry.example), _code(entry.result)]
        for entry in entries(family)
    ]
    return tables.table(
        ["Test" if family == "Tests" else "Filter", "Result", "Example", "Gives"], rows
    )


def _code(text: str) -> str:
    return "`" + text.removesuffix("()") + "`"
