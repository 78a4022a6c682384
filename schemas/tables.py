"""Markdown tables from JSON Schemas (controller)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import TextWrapper
from typing import Any

WIDTH = 120  # columns that a page has as text

_WRAPPER = TextWrapper(
    WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)
_WHOLE = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)")  # code and links stay on a line

Schema = Mapping[str, Any]

_RENDERING = (
    ("deferred", "Rendered when the resource runs, after `control` and `require` have passed: {}."),
    ("never", "Not rendered: {}."),
)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with aligned pipes, or a list where the table would be too wide to read as text."""
    rows = list(rows)
    text = _aligned(header, rows)
    return text if len(text.partition("\n")[0]) <= WIDTH else _listed(header, rows)


def _listed(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An entry for each row: its first cell, a colon, the second one, then the others by name."""
    entries = []
    for first, second, *others in rows:
        named = (f". {title}: {cell}" for title, cell in zip(header[2:], others) if cell)
        text = f"- {first}: {second}{''.join(named)}".rstrip()
        text = _WHOLE.sub(lambda found: found[0].replace(" ", "\0"), text)
        entries.append(_WRAPPER.fill(text).replace("\0", " "))
    return "\n".join(entries)


def _aligned(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with aligned pipes; a pipe inside a cell is escaped."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [header, *cells]) for at in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([line(header), rule, *map(line, cells)])


def properties(schema: Schema, name: str = "") -> str:
    """The table of a schema's properties, with a row for the name first if it is described."""
    rows = [["`name`", fragment(name)]] if name else []
    rows += [[f"`{key}`", _described(key, schema)] for key in _documented(schema)]
    text = table(["Property", "Description"], rows)
    lines = [pattern.format(_keys(schema, when)) for when, pattern in _RENDERING]
    notes = [line for line, (when, _) in zip(lines, _RENDERING) if _keys(schema, when)]
    return "\n\n".join([text, *([" ".join(notes)] if notes else [])])


def meanings(header: str, entries: Mapping[str, str]) -> str:
    """The table of values and what each means."""
    return table([header, "Description"], [[f"`{k}`", fragment(v)] for k, v in entries.items()])


def fragment(text: str) -> str:
    """A description as a fragment: one line, a capital letter first, no full stop at the end."""
    text = " ".join(text.split()).rstrip(".")
    return text[:1].upper() + text[1:]


def _documented(schema: Schema) -> list[str]:
    return [key for key, value in schema["properties"].items() if "x-ccm-alias-of" not in value]


def _described(key: str, schema: Schema) -> str:
    value = schema["properties"][key]
    text = fragment(str(value.get("description", "")))
    default = value.get("default")
    if default is not None and "default" not in text.lower():
        text += f" (default: `{str(default).lower() if isinstance(default, bool) else default}`)"
    others = [k for k, v in schema["properties"].items() if v.get("x-ccm-alias-of") == key]
    if others:
        text += "; also spelled " + ", ".join(f"`{other}`" for other in others)
    return text


def _keys(schema: Schema, when: str) -> str:
    keys = [k for k in _documented(schema) if schema["properties"][k].get("x-ccm-render") == when]
    return ", ".join(f"`{key}`" for key in keys)
