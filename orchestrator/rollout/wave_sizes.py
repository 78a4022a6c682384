"""Amounts of hosts, and waves: how far a rollout goes before the next hosts start (controller)."""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

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
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is neither a number of hosts nor a percentage such as 10%")
    number, percent = float(match[1]), bool(match[2])
    if percent and number > 100:
        raise ValueError(f"{text!r} is more than 100%")
    if not percent and (number != int(number) or number > _LIMIT):
        raise ValueError(f"{text!r} is not a whole number of hosts")
    return Amount(number, percent)


T = TypeVar("T")


def parse_waves(text: str) -> tuple[Amount, ...]:
    """Parse ``1,10%,100%``, the total number of hosts after each wave; ValueError.

    Counts must increase, and so must percentages; a count and a percentage can be compared only for
    a given selection.
    """
    waves = tuple(map(parse_amount, text.split(",")))
    last: dict[bool, Amount] = {}
    for wave in waves:
        if not wave.number:
            raise ValueError(f"a wave of {wave} has no hosts")
        before = last.get(wave.percent)
        if before is not None and wave.number <= before.number:
            raise ValueError(
                f"{wave} comes after {before}: waves are cumulative, so each must be larger than "
                "the one before"
            )
        last[wave.percent] = wave
    return waves


def divide(hosts: Sequence[T], waves: Sequence[Amount]) -> list[list[T]]:
    """The hosts by wave, in order; the last wave has all remaining hosts, and no wave is empty."""
    bounds = [*(wave.up(len(hosts)) for wave in waves), len(hosts)]
    divided, done = [], 0
    for bound in bounds:
        if bound > done:
            divided.append(list(hosts[done:bound]))
            done = bound
    return divided
