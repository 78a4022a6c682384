"""Waves: how far a rollout goes before the next hosts may start (controller)."""

from collections.abc import Sequence
from typing import TypeVar

from orchestrator.rollout.amounts import Amount, parse_amount

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
                f"{wave} comes after {before}: waves are cumulative, so each must be more than the "
                "one before"
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
