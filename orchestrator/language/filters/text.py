"""Filters on strings: comments, quotes, JSON and YAML (controller)."""

import json
import shlex
from functools import partial
from typing import Any

from orchestrator.language import cost_limits, value_types
from orchestrator.language.filters.registry import documented

_documented = partial(documented, "Text")
_STYLES: dict[str, dict[str, str]] = {
    "plain": {"decoration": "# "},
    "erlang": {"decoration": "% "},
    "c": {"decoration": "// "},
    "cblock": {"beginning": "/*", "decoration": " * ", "end": " */"},
    "xml": {"beginning": "<!--", "decoration": " - ", "end": "-->"},
}
_WIDEST = 16  # blanks that JSON and YAML indent by
_MAX_YAML = 50_000
_YAML_COST = 128


@_documented(
    "comment([style, decoration, prefix, postfix, …])",
    example="'one\\ntwo' | comment('c', prefix='', postfix_count=0)",
    result="'// one\\n// two'",
)
def comment(text: Any, style: Any = "plain", **changes: Any) -> str:
    """The text as a comment: `plain`, `c`, `cblock`, `erlang` or `xml`; each line starts with
    `decoration`.

    In Ansible's format.
    """
    value_types.texts("comment", text)
    if style not in _STYLES:
        raise ValueError(f"comment takes {', '.join(_STYLES)}, not {style!r}")
    decoration = changes.get("decoration", _STYLES[style]["decoration"])
    value_types.texts("comment", decoration)
    plain = {
        "newline": "\n", "beginning": "", "end": "",
        "prefix": decoration.rstrip(), "prefix_count": 1,
        "postfix": decoration.rstrip(), "postfix_count": 1,
    }  # fmt: skip
    unknown = sorted(changes.keys() - plain.keys() - {"decoration"})
    if unknown:
        raise ValueError(f"comment has no {unknown[0]!r}, only decoration, {', '.join(plain)}")
    how: dict[str, Any] = {**plain, **_STYLES[style], **changes, "decoration": decoration}
    counts = (how.pop("prefix_count"), how.pop("postfix_count"))
    cost_limits.check_numbers(tuple(value_types.whole("comment", count) for count in counts))
    value_types.texts("comment", *how.values())
    return _commented(text, how, counts)


def _commented(text: str, how: dict[str, str], counts: tuple[int, int]) -> str:
    newline = how["newline"]
    longest = max(map(len, how.values()))
    count = (text.count(newline) if newline else 0) + 1 + sum(counts)
    cost_limits.check_size(len(text) + longest * count, cost_limits.MAX_TEXT, "the text")
    decoration, prefix = how["decoration"], how["prefix"]
    body = decoration + text
    if newline:
        body = body.replace(newline, newline + decoration)
        body = body.replace(decoration + newline, decoration.rstrip() + newline)
    above = prefix + ("" if prefix == newline else newline) if prefix else ""
    below = newline + how["postfix"]  # a line of its own, even if it is empty
    begin = how["beginning"] + newline if how["beginning"] else ""
    end = newline + how["end"] if how["end"] else ""
    return begin + above * counts[0] + body + below * counts[1] + end


@_documented("quote()", example='"it\'s" | quote', result="\"'it'\\\"'\\\"'s'\"")
def quote(value: Any) -> str:
    """Quoted as one word for a shell."""
    return shlex.quote(value_types.as_text(value_types.plain(value)))


@_documented("split([separator[, n]])", example="'a, b' | split(', ')", result="['a', 'b']")
def split(text: Any, separator: Any = None, maximum: Any = 0) -> list[str]:
    """The parts of the text, at most `n`; without a separator, its words."""
    value_types.texts("split", text, *([] if separator is None else [separator]))
    if separator == "":
        return list(text)
    return list(text.split(separator, value_types.whole("split", maximum) - 1))


@_documented(
    "to_json([indent, sort_keys])",
    example="{'b': [1, true], 'a': none} | to_json",
    result='\'{"b": [1, true], "a": null}\'',
)
def to_json(value: Any, indent: Any = None, sort_keys: Any = False) -> str:
    """JSON on one line."""
    blanks = None if indent is None else _indent("to_json", indent)
    encoder = json.JSONEncoder(ensure_ascii=False, indent=blanks, sort_keys=sort_keys is True)
    pieces, size = [], 0
    for piece in encoder.iterencode(_valued("to_json", value)):
        size += len(piece)
        if size > cost_limits.MAX_TEXT:
            cost_limits.check_size(size, cost_limits.MAX_TEXT, "the JSON text")
        pieces.append(piece)
    return "".join(pieces)


@_documented(
    "to_nice_json([indent, sort_keys])",
    example="{'a': [1]} | to_nice_json(indent=1)",
    result="'{\\n \"a\": [\\n  1\\n ]\\n}'",
)
def to_nice_json(value: Any, indent: Any = 4, sort_keys: Any = True) -> str:
    """JSON on several lines, indented by 4, sorted."""
    return to_json(value, indent, sort_keys)


@_documented(
    "from_json()", example="'{\"a\": [1, null]}' | from_json", result="{'a': [1, none]}", cost=4
)
def from_json(text: Any) -> Any:
    """The value of JSON text.

    ValueError.
    """
    value_types.texts("from_json", text)
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"from_json: this is not JSON: {error}") from error


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


@_documented(
    "to_yaml([indent, sort_keys, width])",
    example="{'b': [1, 'no'], 'a': none} | to_yaml",
    result="\"a: null\\nb: [1, 'no']\\n\"",
    cost=_YAML_COST,
)
def to_yaml(value: Any, indent: Any = 2, sort_keys: Any = True, width: Any = 80) -> str:
    """YAML, the innermost lists and maps on one line, sorted."""
    return _yaml(
        "to_yaml", value, indent=indent, sort_keys=sort_keys, width=width, default_flow_style=None
    )


@_documented(
    "to_nice_yaml([indent, sort_keys, width])",
    example="{'a': {'b': [1]}} | to_nice_yaml(indent=2)",
    result="'a:\\n  b:\\n  - 1\\n'",
    cost=_YAML_COST,
)
def to_nice_yaml(value: Any, indent: Any = 4, sort_keys: Any = True, width: Any = 80) -> str:
    """YAML on several lines, indented by 4, sorted."""
    return _yaml("to_nice_yaml", value, indent=indent, sort_keys=sort_keys, width=width)


class _Stream:
    """Receives a string of limited size, so that indentation cannot grow without bound."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._size = 0

    def write(self, text: str) -> None:
        """Receive a piece."""
        self._size += len(text)
        if self._size > cost_limits.MAX_TEXT:
            cost_limits.check_size(self._size, cost_limits.MAX_TEXT, "the YAML text")
        self.pieces.append(text)


def _yaml(
    name: str,
    value: Any,
    *,
    indent: Any,
    sort_keys: Any,
    width: Any,
    default_flow_style: Any = False,
) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            """Write repeated values each time."""
            return True

    plain = _valued(name, value)
    cost_limits.check_size(_count(plain), _MAX_YAML, "the value")
    stream = _Stream()
    yaml.dump(
        plain,
        stream,
        Dumper=Dumper,
        allow_unicode=True,
        default_flow_style=default_flow_style,
        indent=_indent(name, indent),
        sort_keys=sort_keys is True,
        width=value_types.whole(name, width),
    )
    return "".join(stream.pieces)


@_documented(
    "from_yaml()", example="'a: [1, no]' | from_yaml", result="{'a': [1, 'no']}", cost=_YAML_COST
)
def from_yaml(text: Any) -> Any:
    """The value of YAML text, parsed like a manifest.

    ValueError.
    """
    from inventory.yaml_document import parse_document, to_plain
    from remote_runtime.errors import InputError

    value_types.texts("from_yaml", text)
    try:
        return to_plain(parse_document(text, "from_yaml"))
    except InputError as error:
        raise ValueError(f"this is not YAML: {error}") from error


def _valued(name: str, value: Any) -> Any:
    """The value, restricted to JSON's types; ValueError."""
    found = value_types.plain(value)
    left = [found]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif one is not None and not isinstance(one, str | int | float):
            raise ValueError(
                f"{name} takes text, numbers, lists and maps, not {value_types.kind(one)}"
            )
    return found


def _indent(name: str, blanks: Any) -> int:
    if not 0 <= value_types.whole(name, blanks) <= _WIDEST:
        raise ValueError(f"{name} indents by 0 to {_WIDEST}, not {blanks}")
    return int(blanks)


def _count(value: Any) -> int:
    left, found = [value], 0
    while left:
        one = left.pop()
        found += 1
        if isinstance(one, dict | list):
            left += one.values() if isinstance(one, dict) else one
    return found
