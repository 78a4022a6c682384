"""The spaces in lists and maps in brackets on one line, and the quotes of a string (controller)."""

from collections.abc import Callable
from typing import Any

from yaml.tokens import (
    AliasToken,
    AnchorToken,
    FlowEntryToken,
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    KeyToken,
    ScalarToken,
    TagToken,
    ValueToken,
)

Rank = Callable[[str], int]
"""The rank of a property among those of its resource."""

_REFERS = (AnchorToken, AliasToken)


class UnusualError(Exception):
    """Syntax that the formatter does not change."""


def scalar_text(written: str, token: Any) -> str:
    """A scalar on one line; single quotes become double quotes if that needs no escapes."""
    if token.style != "'" or '"' in written or "\\" in written:
        return written
    return '"' + written[1:-1].replace("''", "'") + '"'


def flow_text(line: str, tokens: list[Any], ranks: dict[int, Rank]) -> str:
    """A list or map in brackets with the spaces of the canonical form.

    ``line`` contains all of it; ``ranks`` has the orders of maps of properties by their column.
    """
    try:
        text, _ = _Flow(line, tokens, ranks).node(0)
    except UnusualError:
        return line[tokens[0].start_mark.column : tokens[-1].end_mark.column]
    return text


class _Flow:
    def __init__(self, line: str, tokens: list[Any], ranks: dict[int, Rank]) -> None:
        self._line = line
        self._tokens = tokens
        self._ranks = ranks
        self._refers = any(isinstance(token, _REFERS) for token in tokens)

    def node(self, at: int) -> tuple[str, int]:
        """A value that begins at a token and may be empty, and the token after it."""
        parts = []
        while isinstance(self._tokens[at], (AnchorToken, TagToken)):
            parts.append(self._slice(at))
            at += 1
        token = self._tokens[at]
        if isinstance(token, ScalarToken):
            parts.append(scalar_text(self._slice(at), token))
            at += 1
        elif isinstance(token, AliasToken):
            parts.append(self._slice(at))
            at += 1
        elif isinstance(token, FlowMappingStartToken):
            text, at = self._entries(at, FlowMappingEndToken)
            parts.append("{" + text + "}")
        elif isinstance(token, FlowSequenceStartToken):
            text, at = self._entries(at, FlowSequenceEndToken)
            parts.append("[" + text + "]")
        return " ".join(parts), at

    def _entries(self, start: int, end: type) -> tuple[str, int]:
        found: list[tuple[str, str]] = []
        at = start + 1
        while not isinstance(self._tokens[at], end):
            if isinstance(self._tokens[at], FlowEntryToken):
                at += 1
                continue
            before = at
            key, text, at = self._entry(at)
            found.append((key, text))
            if at == before:
                raise UnusualError
        rank = self._ranks.get(self._tokens[start].start_mark.column)
        if rank is not None and not self._refers:
            found.sort(key=lambda entry: rank(entry[0]))
        return ", ".join(text for _, text in found), at + 1

    def _entry(self, at: int) -> tuple[str, str, int]:
        """The value of the key, the text of an entry, and the token after it."""
        token = self._tokens[at]
        if not isinstance(token, KeyToken):
            text, at = self.node(at)
            return "", text, at
        if token.end_mark.index > token.start_mark.index:
            raise UnusualError
        first = self._tokens[at + 1]
        key, at = self.node(at + 1)
        if isinstance(first, AliasToken):
            key += " "
        name = str(first.value) if isinstance(first, ScalarToken) else ""
        if not isinstance(self._tokens[at], ValueToken):
            return name, key, at
        value, at = self.node(at + 1)
        return name, f"{key}: {value}", at

    def _slice(self, at: int) -> str:
        token = self._tokens[at]
        return self._line[token.start_mark.column : token.end_mark.column]
