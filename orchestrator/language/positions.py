"""Converts offsets to lines and columns (controller)."""

from bisect import bisect_right

from remote_runtime.errors import Position


class Positions:
    """The positions in one text, which messages call ``name``."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = [0, *(i + 1 for i, sign in enumerate(text) if sign == "\n")]

    def of(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self._lines, offset)
        return Position(self._name, line, offset - self._lines[line - 1] + 1)
