"""Durations as people write them (controller)."""

import math

MAX_SECONDS = 7 * 86_400
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def parse_seconds(text: str) -> float:
    """A number of seconds, or a duration such as ``90s``, ``2m`` or ``1h``; ValueError."""
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1.0)
    try:
        value = float(number) * unit
    except ValueError:
        value = math.nan
    if not 0 <= value <= MAX_SECONDS:
        raise ValueError(f"{text!r} is not a duration such as 30, 90s or 5m")
    return value
