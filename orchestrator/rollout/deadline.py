"""The time until which hosts may start (controller)."""

import time


def parse_until(text: str, now: float | None = None) -> float:
    """The next ``05:00`` on this machine's clock, or a date and time, in seconds of
    ``time.time()``.

    ValueError, also for a date in the past.
    """
    # Every report has a clock; only --until reads one.
    import re
    from datetime import datetime

    now = time.time() if now is None else now
    clock = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)", re.ASCII).fullmatch(text)
    if clock:
        return _next(int(clock[1]), int(clock[2]), now)
    try:
        at = datetime.fromisoformat(text).timestamp()  # by the local clock where it names no zone
    except (ValueError, OverflowError, OSError):
        what = "neither a time such as 05:00 nor a date and time such as 2026-03-14T05:00"
        raise ValueError(f"{text!r} is {what}") from None
    if len(text) < len("2026-03-14T05"):
        raise ValueError(f"{text!r} has no time of day")
    if at <= now:
        raise ValueError(f"{text} is in the past")
    return at


def _next(hour: int, minute: int, now: float) -> float:
    """The next time at which the local clock shows this time, even across a change to daylight
    saving time.
    """
    today = time.localtime(now)
    for days in (0, 1):
        date = (today.tm_year, today.tm_mon, today.tm_mday + days)
        at = time.mktime((*date, hour, minute, 0, 0, 0, -1))
        if at > now:
            break
    return at


def clock_text(at: float) -> str:
    """A time in readable form on this machine's clock, with the day if it is not today."""
    then = time.localtime(at)
    today = time.strftime("%Y-%m-%d", then) == time.strftime("%Y-%m-%d")
    return time.strftime("%H:%M" if today else "%Y-%m-%d %H:%M", then)
