"""Writes values as YAML (controller)."""

import json
import re
from typing import Any, NamedTuple

from inventory.scalars import BadScalarError, other_reading, resolve_plain

STEP = 2
"""Columns per level of indentation."""

_MAX_INLINE = 72  # characters of a list in brackets
_SAFE = re.compile(r"[A-Za-z0-9_./$(][A-Za-z0-9_./@%+=~:()$^!;?<>*&' -]*")
_SAFE_IN_BRACKETS = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./@%+=~: -]*")
_UNPRINTABLE = re.compile(
    r"[^\n\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\uf900-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class YamlLines(NamedTuple):
    """A value as text: the part after the key or the dash, and the lines below it."""

    first: str
    body: tuple[str, ...] = ()


def is_plain(text: str, *, in_brackets: bool = False) -> bool:
    """Whether YAML 1.2 and 1.1 read the unquoted string unchanged as a string."""
    pattern = _SAFE_IN_BRACKETS if in_brackets else _SAFE
    if not pattern.fullmatch(text) or text.endswith((" ", ":")) or ": " in text:
        return False
    if text.startswith(("---", "...")):
        return False
    try:
        return resolve_plain(text)[0] == "str" and not other_reading(text)
    except BadScalarError:
        return False


def scalar(value: Any, style: str = "", *, in_brackets: bool = False) -> str:
    """Return a scalar on one line; ``style`` is the preferred style of quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if not isinstance(value, str):
        return str(value)
    if style == "'" and "\n" not in value and not _UNPRINTABLE.search(value):
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and is_plain(value, in_brackets=in_brackets):
        return value
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _number(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    return text


def _escape(match: re.Match[str]) -> str:
    number = ord(match.group())
    return f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"


def in_brackets(value: Any) -> str:
    """Any value on one line."""
    if isinstance(value, dict):
        entries = (
            f"{scalar(key, in_brackets=True)}: {in_brackets(one)}" for key, one in value.items()
        )
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(in_brackets, value)) + "]"
    return scalar(value, in_brackets=True)


def written(value: Any, column: int, style: str = "") -> YamlLines:
    """A value whose continuation lines start in a given column; ``style`` is the style of the
    previous text.
    """
    if isinstance(value, str) and _is_block_text(value, style):
        return _block_text(value, column)
    if isinstance(value, dict) and value:
        return YamlLines(
            "", tuple(line for key in value for line in entry(key, value[key], column))
        )
    if isinstance(value, list) and value:
        inline = in_brackets(value)
        if len(inline) <= _MAX_INLINE and not any(isinstance(one, (dict, list)) for one in value):
            return YamlLines(inline)
        return YamlLines("", tuple(line for one in value for line in item(one, column)))
    if isinstance(value, (dict, list)):
        return YamlLines("{}" if isinstance(value, dict) else "[]")
    return YamlLines(scalar(value, style))


def entry(key: str, value: Any, column: int) -> list[str]:
    """The lines of an entry of a map."""
    found = written(value, column + STEP)
    head = " " * column + scalar(key) + ":"
    return [f"{head} {found.first}" if found.first else head, *found.body]


def item(value: Any, column: int) -> list[str]:
    """The lines of an item of a list."""
    found = written(value, column + STEP)
    head = " " * column + "-"
    if found.first:
        return [f"{head} {found.first}", *found.body]
    return [f"{head} {found.body[0].lstrip(' ')}", *found.body[1:]]


def _is_block_text(text: str, style: str) -> bool:
    lines = text.split("\n")
    if "\n" not in text or text.endswith("\n\n") or style in ("'", '"'):
        return False
    if _UNPRINTABLE.search(text):
        return False
    # A first line that begins with a blank would need an indicator, and so would blank ones.
    is_blank = any(line and not line.strip() for line in lines)
    return bool(lines[0]) and not lines[0][0].isspace() and not is_blank


def _block_text(text: str, column: int) -> YamlLines:
    lines = text.removesuffix("\n").split("\n")
    header = "|" if text.endswith("\n") else "|-"
    return YamlLines(header, tuple(" " * column + line if line else "" for line in lines))
