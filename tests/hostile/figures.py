"""What a campaign has to tell, and the list that keeps it."""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

WIDTH = 120
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"


class Figures(NamedTuple):
    """How much of what was tried, in words and numbers, and each thing that did not hold."""

    tried: dict[str, int]
    broken: list[str]

    def row(self, title: str, seconds: float, seed: int) -> str:
        tried = "; ".join(f"{number:,} {what}" for what, number in self.tried.items())
        text = f"- **{title}**: {len(self.broken)} broken ({seconds:.0f} s, seed {seed}). {tried}."
        return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def write(page: Path, rows: dict[str, str]) -> None:
    """Put each row into the list of a page, in the place of the one with its title."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    known, _, after = rest.partition(END)
    old = {row[1]: row[0].strip() for row in re.finditer(r"- \*\*(.+?)\*\*(?:.|\n(?!- ))*", known)}
    lines = [row for _, row in sorted({**old, **rows}.items())]
    page.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")
