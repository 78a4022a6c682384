"""Regular expressions, searched by RE2 in linear time (controller)."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from orchestrator.language import cost_limits, value_types
from orchestrator.language.filters.registry import documented

if TYPE_CHECKING:
    from collections.abc import Iterator

_documented = partial(documented, "Regular expressions")
_REFERENCE = re.compile(r"\\(?:(\d{1,2})|g<(\w+)>|(.))", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_MAX_MATCHES = 200_000
_STEPS_PER_MATCH = 5
_PER_STEP = 256  # states of the pattern by characters


@lru_cache(maxsize=256)
def _compiled(pattern: str, ignorecase: bool, multiline: bool) -> Any:
    import re2

    from orchestrator.language.exprlang.regex import RegexError

    options = re2.Options()
    options.log_errors = False
    flags = "".join(sign for sign, on in (("i", ignorecase), ("m", multiline)) if on)
    source = f"(?{flags}){pattern}" if flags else pattern
    try:
        return re2.compile(_encoded(source), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        hint = RegexError(reason).hint
        message = f"{pattern!r} is not a regular expression: {reason}"
        raise ValueError(f"{message}; {hint}" if hint else message) from error


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(part: bytes | None) -> str:
    return "" if part is None else part.decode("utf-8", "surrogatepass")


class Search:
    """A pattern and a string; ValueError for other values."""

    def __init__(
        self, text: Any, pattern: Any, *, ignorecase: Any = False, multiline: Any = False
    ) -> None:
        value_types.texts("a regular expression", text, pattern)
        self._regex = _compiled(pattern, ignorecase is True, multiline is True)
        self.text = _encoded(text)
        cost_limits.spend(len(self.text) * int(self._regex.programsize) // _PER_STEP)

    @property
    def groups(self) -> int:
        """The number of groups in the pattern."""
        return int(self._regex.groups)

    def first(self) -> Any:
        """The first match anywhere, or None."""
        return self._regex.search(self.text)

    def at_start(self) -> Any:
        """The match at the start of the text, or None."""
        return self._regex.match(self.text)

    def each(self) -> Iterator[Any]:
        """Every match."""
        empty = -1  # position of the last empty match, which RE2 may return twice
        for count, match in enumerate(self._regex.finditer(self.text)):
            cost_limits.check_size(count, _MAX_MATCHES, "the text", "matches")
            cost_limits.spend(_STEPS_PER_MATCH)
            if match.start() == match.end():
                if match.start() == empty:
                    continue
                empty = match.start()
            yield match


@_documented(
    "regex_replace(pattern, replacement[, ignorecase, multiline, count])",
    example="'web12.example.net' | regex_replace('^(\\\\w+?)(\\\\d+)', '\\\\2-\\\\1')",
    result="'12-web.example.net'",
)
def regex_replace(text: Any, pattern: Any, replacement: Any = "", **flags: Any) -> str:
    r"""Replaces the matches, or the first `count`; `\1` or `\g<name>` is a group."""
    value_types.texts("regex_replace", replacement)
    maximum = value_types.whole("regex_replace", flags.pop("count", 0))
    search = Search(text, pattern, **flags)
    parts = _replacement(replacement)
    pieces: list[bytes] = []
    at = size = done = 0
    for match in search.each():
        new = b"".join(part if isinstance(part, bytes) else _group(match, part) for part in parts)
        pieces += [search.text[at : match.start()], new]
        size += match.start() - at + len(new)
        cost_limits.check_size(size, cost_limits.MAX_TEXT, "the replaced text")
        at, done = match.end(), done + 1
        if done == maximum:
            break
    return _decoded(b"".join([*pieces, search.text[at:]]))


def _replacement(text: str) -> list[bytes | int | str]:
    """The literal parts of the replacement, and its groups by number or name."""
    parts: list[bytes | int | str] = []
    at = 0
    for found in _REFERENCE.finditer(text):
        parts.append(_encoded(text[at : found.start()]))
        number, name, sign = found.groups()
        if sign is not None:
            parts.append(_encoded(_SIGNS.get(sign, "\\" + sign)))
        else:
            key = number or name
            parts.append(int(key) if key.isdigit() else key)
        at = found.end()
    return [*parts, _encoded(text[at:])]


def _group(match: Any, key: int | str) -> bytes:
    try:
        if isinstance(key, str):
            names = {_name(name): number for name, number in match.re.groupindex.items()}
            key = names[key]
        return bytes(match.group(key) or b"")
    except (IndexError, KeyError) as error:
        raise ValueError(f"the pattern has no group {key}") from error


def _name(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name


@_documented(
    "regex_search(pattern[, group, …][, ignorecase, multiline])",
    example="'nginx/1.24.0' | regex_search('/([0-9.]+)', '\\\\1')",
    result="['1.24.0']",
)
def regex_search(
    text: Any, pattern: Any, *groups: Any, ignorecase: Any = False, multiline: Any = False
) -> str | list[str] | None:
    r"""The first match, or `none`; with groups such as `'\1'` the list of these."""
    value_types.texts("regex_search", *groups)
    match = Search(text, pattern, ignorecase=ignorecase, multiline=multiline).first()
    if match is None:
        return None
    if not groups:
        return _decoded(match.group())
    found = []
    for group in groups:
        keys = [part for part in _replacement(group) if not isinstance(part, bytes)]
        if len(keys) != 1:
            raise ValueError(f"regex_search takes groups such as '\\\\1', not {group!r}")
        found.append(_decoded(_group(match, keys[0])))
    return found


@_documented(
    "regex_findall(pattern[, ignorecase, multiline])",
    example="'a1 b22' | regex_findall('[a-z]([0-9]+)')",
    result="['1', '22']",
)
def regex_findall(
    text: Any, pattern: Any, multiline: Any = False, ignorecase: Any = False
) -> list[Any]:
    """All matches, or the group of each; lists if the pattern has several groups."""
    search = Search(text, pattern, ignorecase=ignorecase, multiline=multiline)
    if search.groups > 1:
        return [[_decoded(part) for part in match.groups()] for match in search.each()]
    return [_decoded(match.group(search.groups)) for match in search.each()]


@_documented("regex_escape()", example="'a.b*' | regex_escape", result="'a\\\\.b\\\\*'")
def regex_escape(text: Any) -> str:
    """The text, escaped as a pattern that matches only this text."""
    value_types.texts("regex_escape", text)
    return re.escape(str(text))
