"""The times of a cron job: five fields, or a word (both sides)."""

from typing import Any, Dict, List, Mapping, Optional, Tuple

FIELDS = ("minute", "hour", "day", "month", "weekday")
WORDS = (
    "@reboot",
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
)
_RANGES = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 7)}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of the months


def schedule_of(properties: Mapping[str, Any]) -> str:
    """The times in the form used in a crontab, with single spaces between fields."""
    if properties.get("schedule") is not None:
        words = str(properties["schedule"]).split()
        return (
            " ".join(words).lower() if words[:1] and words[0].startswith("@") else " ".join(words)
        )
    return " ".join([str(properties.get(field, "*")).replace(" ", "") for field in FIELDS])


def problems(properties: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """(property, message) for each mistake."""
    separate = [field for field in FIELDS if field in properties]
    if "schedule" not in properties:
        if not separate:
            return []
        values = {field: str(properties.get(field, "*")).replace(" ", "") for field in FIELDS}
        found = [(field, _problem(field, values[field])) for field in separate]
        found = [(field, problem) for field, problem in found if problem]
        never = "" if found else _never(values)
        return found + ([(separate[0], never)] if never else [])
    if separate:
        return [(separate[0], "schedule and %s are mutually exclusive" % separate[0])]
    schedule = schedule_of(properties)
    if schedule.startswith("@"):
        if schedule in WORDS:
            return []
        known = "%s or %s" % (", ".join(WORDS[:-1]), WORDS[-1])
        return [("schedule", "%r is not %s" % (schedule, known))]
    words = schedule.split()
    if len(words) != len(FIELDS):
        text = "expected 5 fields (minute, hour, day, month, weekday) or a word such as @daily"
        return [("schedule", "%s, found %d" % (text, len(words)))]
    values = dict(zip(FIELDS, words))
    found = [(field, _problem(field, values[field])) for field in FIELDS]
    problems = [("schedule", "%s: %s" % (field, problem)) for field, problem in found if problem]
    never = "" if problems else _never(values)
    return problems + ([("schedule", never)] if never else [])


def _problem(field: str, text: str) -> str:
    if not text:
        return "it is empty"
    for part in text.split(","):
        problem = _problem_of_part(field, part)
        if problem:
            return problem
    return ""


def _problem_of_part(field: str, part: str) -> str:
    span, slash, step = part.partition("/")
    if slash and (not _is_number(step) or int(step) == 0):
        return "%r: the step after / must be a number of at least 1" % part
    low, high = _RANGES[field]
    if span == "*":
        return ""
    first, dash, last = span.partition("-")
    if slash and not dash:
        return "%r: a step needs * or a range before it" % part
    numbers = []
    for text in (first, last) if dash else (first,):
        number = _number(field, text)
        if number is None:
            return "%r is not a number from %d to %d" % (text, low, high)
        if not low <= number <= high:
            return "%s is not between %d and %d" % (text, low, high)
        numbers.append(number)
    if numbers[0] > numbers[-1]:
        return "%r: the range ends before it begins" % part
    return ""


def _number(field: str, text: str) -> Optional[int]:
    if _is_number(text):
        return int(text)
    names = _MONTHS if field == "month" else _DAYS if field == "weekday" else ()
    base = 1 if field == "month" else 0
    return names.index(text.lower()) + base if text.lower() in names else None


def _is_number(text: str) -> bool:
    return text != "" and not text.strip("0123456789")


def _never(fields: Dict[str, str]) -> str:
    """Return the reason why no day matches, as for February 30; "" if one does."""
    if not fields["weekday"].startswith("*"):
        return ""
    months, days = _values("month", fields["month"]), _values("day", fields["day"])
    if any(day <= _LENGTHS[month - 1] for month in months for day in days):
        return ""
    return "no such day exists in the given months, so the job never runs"


def _values(field: str, text: str) -> List[int]:
    result: List[int] = []
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low, high = _RANGES[field]
        if span != "*":
            low = _number(field, first) or 0
            high = _number(field, last) or 0 if last else low
        result += range(low, high + 1, int(step or 1))
    return result


def warnings(properties: Mapping[str, Any]) -> List[Tuple[str, str, str]]:
    """(property, message, hint) for a step that is longer than its field, because cron starts
    counting again each hour, day or year.
    """
    whole = properties.get("schedule")
    words = [str(properties.get(field, "*")) for field in FIELDS]
    if whole is not None:
        words = str(whole).split()
    warnings = []
    for field, text in zip(FIELDS, words):
        for part in text.split(","):
            span, _, step = part.partition("/")
            if span == "*" and _is_number(step) and int(step) > _RANGES[field][1]:
                key = field if whole is None else "schedule"
                low = _RANGES[field][0]
                hint = "write %d, or use a timer with on_unit_active" % low
                warnings.append((key, "%r is the same as %d" % (part, low), hint))
    return warnings
