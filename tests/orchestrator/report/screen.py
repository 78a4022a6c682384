"""A terminal that keeps what is seen on it, and wraps lines anew when its window gets narrower."""

import io
import re

_PART = re.compile(r"\x1b\[(\??\d*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen(io.StringIO):
    """``rows`` is what is seen; the cursor stands in row ``at``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.rows = [""]
        self.at = 0
        self._column = 0

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for number, letter, control, plain in _PART.findall(text):
            if plain:
                self._put(plain)
            elif control == "\n":
                self._down()
            elif control:
                self._column = 0
            elif letter == "A":
                self.at = max(0, self.at - int(number or 1))
            elif letter == "K":
                self.rows[self.at] = ""
        return len(text)

    def _put(self, text: str) -> None:
        for sign in text:
            if self._column == self.width:
                self._down()
            row = self.rows[self.at].ljust(self._column)
            self.rows[self.at] = row[: self._column] + sign + row[self._column + 1 :]
            self._column += 1

    def _down(self) -> None:
        self.at, self._column = self.at + 1, 0
        if self.at == len(self.rows):
            self.rows.append("")

    def narrow(self, width: int) -> None:
        """Make the window narrower: each row becomes as many as it needs."""
        above = 0
        rows: list[str] = []
        for number, row in enumerate(self.rows):
            rows += [row[i : i + width] for i in range(0, len(row), width)] or [""]
            if number <= self.at:
                above = len(rows) - 1
        self.rows, self.at, self.width = rows, above, width
        self._column = min(self._column, len(rows[above]))

    def seen(self) -> list[str]:
        """The rows that are not empty."""
        return [row.rstrip() for row in self.rows if row.strip()]
