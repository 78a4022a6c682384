"""The times of a timer: calendar expressions and time spans, as systemd reads them (both sides).

Only expressions that no version of systemd accepts are refused. The host's own systemd-analyze
makes the exact check.
"""

import re
from typing import Any, List, Mapping, Optional, Sequence, Tuple

WORDS = (
    "minutely", "hourly", "daily", "monthly", "weekly", "yearly", "annually", "quarterly",
    "semiannually", "semi-annually", "biannually", "bi-annually",
)  # fmt: skip
_DAY = "mon(day)?|tue(sday)?|wed(nesday)?|thu(rsday)?|fri(day)?|sat(urday)?|sun(day)?"
_DAYS = re.compile(r"({0})((,|\.\.|-)({0}))*,?\Z".format(_DAY), re.IGNORECASE)
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*\Z")
_EPOCH = re.compile(r"@[0-9]+(\.[0-9]+)?\Z")
_PART = re.compile(r"(?:\*|([0-9.]+?)(?:\.\.([0-9.]+))?)(?:/([0-9.]+))?\Z")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?\Z")
_DATE = (("year", 0, 2199), ("month", 1, 12), ("day", 1, 31))
_TIME = (("hour", 0, 23), ("minute", 0, 59), ("second", 0, 59))
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of the months
_UNIT = (
    "usec|us|µs|μs|msec|ms|seconds|second|sec|s|minutes|minute|min|months|month|m|M|hours|hour|hr"
    "|h|days|day|d|weeks|week|w|years|year|y"
)
_SPAN = re.compile(r"(\s*[0-9]+(\.[0-9]+)?\s*(%s)?(?![A-Za-z]))+\s*\Z" % _UNIT)
_EXAMPLE = "such as daily, Mon..Fri 03:30 or *-*-01 04:00"

SPANS = ("on_boot", "on_active", "on_unit_active", "on_unit_inactive", "randomized_delay")
"""The properties that are time spans."""

BEGINNINGS = ("schedule", "on_boot", "on_active")
"""The properties that make the job run for the first time."""


def expressions(properties: Mapping[str, Any]) -> List[str]:
    """The calendar expressions of a timer."""
    schedule = properties.get("schedule")
    every = schedule if isinstance(schedule, list) else [] if schedule is None else [schedule]
    return [" ".join(str(each).split()) for each in every]


def problems(properties: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """(property, message) for each mistake."""
    problems = [("schedule", calendar_problem(each)) for each in expressions(properties)]
    for key in SPANS:
        if properties.get(key) is not None and not is_span(properties[key]):
            text = "%r is not a time span such as 15min, 1h 30min or 2d"
            problems.append((key, text % (properties[key],)))
    if properties.get("schedule") == []:
        problems.append(("schedule", "the list is empty"))
    return [(key, message) for key, message in problems if message]


def is_span(value: Any) -> bool:
    """Return whether systemd accepts a value as a time span; a number is seconds."""
    return bool(_SPAN.match(str(value)))


def calendar_problem(expression: str) -> str:
    """Return the problem of a calendar expression; "" if none is certain."""
    words = re.sub(r"(?<=[0-9*])T(?=[0-9*])", " ", expression).split()
    if not words:
        return "it is empty; write an expression %s" % _EXAMPLE
    if _EPOCH.match(words[0]):
        return ""
    if words[0].lower() in WORDS:
        return _rest(expression, words[1:])
    left, days, date, time = list(words), "", "", ""
    if left and _DAYS.match(left[0]):
        days = left.pop(0)
    if left and ":" not in left[0] and re.match(r"[0-9*]", left[0]) and re.search("[-~]", left[0]):
        date = left.pop(0)
    if left and ":" in left[0]:
        time = left.pop(0)
    if not (days or date or time):
        return "%r is not a calendar expression %s" % (expression, _EXAMPLE)
    problem = _of_date(date) or _of_time(time)
    if problem:
        return "%r: %s" % (expression, problem)
    if date and _never(date):
        return "%r: no such day exists in the given months, so the job never runs" % expression
    return _rest(expression, left)


def _rest(expression: str, words: Sequence[str]) -> str:
    """Return the problem of the words after the times; "" if there are none or they are a time
    zone.
    """
    if not words or (len(words) == 1 and _ZONE.match(words[0])):
        return ""
    return "%r: expected a time zone or nothing, found %s" % (expression, " ".join(words))


def _of_date(date: str) -> str:
    if not date:
        return ""
    parts = re.split("[-~]", date)
    if len(parts) not in (2, 3):
        return "expected year-month-day or month-day, found %s" % date
    return _of_parts(parts, _DATE[-len(parts) :])


def _of_time(time: str) -> str:
    parts = time.split(":")
    if len(parts) > len(_TIME):
        return "expected hour:minute:second, found %s" % time
    return _of_parts(parts, _TIME) if time else ""


def _of_parts(parts: Sequence[str], bounds: Sequence[Tuple[str, int, int]]) -> str:
    for part, (name, low, high) in zip(parts, bounds):
        for one in part.split(","):
            problem = _of_part(one, low, high)
            if problem:
                return "%s %s" % (name, problem)
    return ""


def _of_part(part: str, low: int, high: int) -> str:
    match = _PART.match(part)
    if match is None or any(text and not _NUMBER.match(text) for text in match.groups()):
        return "%r is not a number, range or step" % part
    first, last, step = match.groups()
    for text in (first, "" if step else last):
        if text and not low <= float(text) < high + 1:
            return "%s is not between %d and %d" % (text, low, high)
    if first and last and float(first) > float(last):
        return "%r ends before it begins" % part
    return "%r has no step" % part if step and float(step) == 0 else ""


def _never(date: str) -> bool:
    """Return whether no month has the days, as for February 30."""
    if "~" in date:
        return False
    months, days = date.split("-")[-2:]
    return not any(
        day <= _LENGTHS[month - 1] for month in _values(months, 12) for day in _values(days, 31)
    )


def _values(text: str, high: int) -> List[int]:
    result: List[int] = []
    for part in text.split(","):
        match = _PART.match(part)
        first, last, step = match.groups() if match else (None, None, None)
        low = int(float(first)) if first else 1
        end: Optional[int] = int(float(last)) if last else None if step or not first else low
        result += range(low, (high if end is None else end) + 1, max(1, int(float(step or 1))))
    return result
