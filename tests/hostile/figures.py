"""What a campaign has to tell, and the table that keeps it."""

import re
from pathlib import Path
from typing import NamedTuple

BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"
_HEAD = (
    "| Campaign | Seconds | Seed | Tried | Broken |",
    "|----------|--------:|-----:|-------|-------:|",
)


class Figures(NamedTuple):
    """How much of what was tried, in words and numbers, and each thing that did not hold."""

    tried: dict[str, int]
    broken: list[str]

    def row(self, title: str, seconds: float, seed: int) -> str:
        tried = ", ".join(f"{number:,} {what}" for what, number in self.tried.items())
        return f"| {title} | {seconds:.0f} | {seed} | {tried} | {len(self.broken)} |"


def write(page: Path, rows: dict[str, str]) -> None:
    """Put each row into the table of a page, in the place of the one with its title."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    old = {
        found[1]: line
        for line in table.splitlines()
        if (found := re.match(r"\| ([^|]+) \|", line)) and line not in _HEAD
    }
    lines = [line for _, line in sorted({**old, **rows}.items())]
    page.write_text("\n".join([before + BEGIN, *_HEAD, *lines, END + after]), encoding="utf-8")
