"""Durations on the command line and in stages (controller)."""

import math

from remote_runtime.text import duration

MAX_SECONDS = 7 * 86_400


def parse_seconds(text: str) -> float:
    """A number of seconds, or a duration such as ``90s``, ``2m`` or ``1h30m``; ValueError."""
    try:
        value = float(text)
    except ValueError:
        value = _duration(text)
    if not 0 <= value <= MAX_SECONDS:
        raise ValueError(f"{text!r} is not a duration such as 30, 90s or 5m")
    return value


def _duration(text: str) -> float:
    try:
        return duration.parse(text)
    except ValueError:
        return math.nan
