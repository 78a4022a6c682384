"""Amounts of hosts: a count or a percentage of the selection (controller)."""

import re
from typing import NamedTuple

_LIMIT = 10_000_000
_TEXT = re.compile(r"(\d{1,8}(?:\.\d{1,3})?)(%?)", re.ASCII)


class Amount(NamedTuple):
    """``number`` hosts, or this percentage of all hosts."""

    number: float
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.number:g}{'%' if self.percent else ''}"

    def up(self, total: int) -> int:
        """The number of hosts out of ``total``, rounded up, at most ``total``."""
        return min(total, self._of(total, round_up=True))

    def down(self, total: int) -> int:
        """The number of hosts out of ``total``, rounded down."""
        return self._of(total, round_up=False)

    def _of(self, total: int, round_up: bool) -> int:
        if not self.percent:
            return int(self.number)
        thousandths = round(self.number * 1000) * total  # integers, or 10 % of 30 would be 3.0…04
        return -(-thousandths // 100_000) if round_up else thousandths // 100_000


def parse_amount(text: str) -> Amount:
    """Parse ``5`` or ``10%``; ValueError with the problem."""
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is neither a number of hosts nor a percentage such as 10%")
    number, percent = float(found[1]), bool(found[2])
    if percent and number > 100:
        raise ValueError(f"{text!r} is more than 100%")
    if not percent and (number != int(number) or number > _LIMIT):
        raise ValueError(f"{text!r} is not a whole number of hosts")
    return Amount(number, percent)
