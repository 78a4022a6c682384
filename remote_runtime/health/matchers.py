"""Goss's matchers, which compare the expectation of a rule with an actual value (both sides).

An expectation is a text, a number, or true or false (equality), a list (all of these must be found;
for lines, see ``line_patterns``), or a map of one matcher. The actual value is converted to the
type of the matcher, as in goss: ``"42"`` is more than 40.
"""

from typing import Any, Callable, Dict, List, Sequence

from remote_runtime.health import line_patterns, semver
from remote_runtime.health.go_regex import compiled

SHOWN = 200


class Lines(str):
    """A text whose lines are compared with a list of patterns: an output, a file, a body."""


def matches(expected: Any, actual: Any) -> bool:
    """Return whether the actual value meets the expectation, which was already validated."""
    if isinstance(expected, dict):
        ((name, value),) = expected.items()
        return bool(MATCHERS[name](value, actual))
    if isinstance(expected, list):
        if isinstance(actual, Lines):
            return not line_patterns.unmet(expected, actual)
        return _contains(expected, actual)
    if isinstance(expected, bool):
        return actual is expected
    if isinstance(expected, (int, float)):
        number = _number(actual)
        return number is not None and number == expected
    return bool(_text(actual) == expected)


def explain(expected: Any, actual: Any) -> str:
    """Return the reason for a mismatch, in words: ``expected 200, found 503``."""
    if isinstance(actual, Lines) and isinstance(expected, list):
        bad = line_patterns.unmet(expected, actual)
        missing = [p for p in bad if not p.startswith("!")]
        parts = ["no line contains " + ", ".join(map(show, missing))] if missing else []
        parts += ["a line contains %s" % show(p[1:]) for p in bad if p.startswith("!")]
        return "; ".join(parts)
    return "expected %s, found %s" % (describe(expected), show(actual))


def describe(expected: Any) -> str:
    """Return an expectation in the form in which it would be written, with comparison signs."""
    if not isinstance(expected, dict):
        return show(expected)
    ((name, value),) = expected.items()
    if name in _SIGNS:
        return "%s %s" % (_SIGNS[name], show(value))
    if name in ("and", "or"):
        return (" %s " % name).join(describe(entry) for entry in value)
    if name == "equal":
        return show(value)
    return "%s %s" % (name, show(value) if name == "have-key-with-value" else describe(value))


def show(value: Any) -> str:
    """Return a value as JSON, shortened."""
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _text(actual: Any) -> Any:
    if isinstance(actual, bool):
        return "true" if actual else "false"
    if isinstance(actual, (int, float)):
        return str(actual)
    if isinstance(actual, list) and len(actual) == 1:
        return _text(actual[0])
    return actual


def _number(actual: Any) -> Any:
    if isinstance(actual, bool):
        return None
    if isinstance(actual, (int, float)):
        return actual
    if isinstance(actual, str):
        try:
            return int(actual)
        except ValueError:
            pass
        try:
            return float(actual)
        except ValueError:
            pass
    return None


def _array(actual: Any) -> List[Any]:
    if isinstance(actual, list):
        return actual
    if isinstance(actual, dict):
        return list(actual.values())
    return line_patterns.lines(actual) if isinstance(actual, str) else [actual]


def _of_text(test: Callable[[str, str], bool]) -> Callable[[str, Any], bool]:
    def matcher(wanted: str, actual: Any) -> bool:
        text = _text(actual)
        return isinstance(text, str) and test(wanted, text)

    return matcher


def _of_number(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def matcher(wanted: Any, actual: Any) -> bool:
        number = _number(actual)
        return number is not None and test(number, wanted)

    return matcher


def _equal(wanted: Any, actual: Any) -> bool:
    if isinstance(wanted, list):
        actual = _array(actual)
    return isinstance(wanted, bool) == isinstance(actual, bool) and bool(wanted == actual)


def _length(wanted: int, actual: Any) -> bool:
    return isinstance(actual, (str, list, dict)) and len(actual) == wanted


def _pairs(wanted: Sequence[Any], actual: Sequence[Any]) -> bool:
    """Return whether each expectation can be matched with a separate entry, found by augmenting
    paths.
    """
    owner: Dict[int, int] = {}

    def place(index: int, tried: List[int]) -> bool:
        for at, entry in enumerate(actual):
            if at not in tried and matches(wanted[index], entry):
                tried.append(at)
                if at not in owner or place(owner[at], tried):
                    owner[at] = index
                    return True
        return False

    return all(place(index, []) for index in range(len(wanted)))


def _contains(wanted: Sequence[Any], actual: Any) -> bool:
    return _pairs(wanted, _array(actual))


def _consists(wanted: Sequence[Any], actual: Any) -> bool:
    entries = _array(actual)
    return len(entries) == len(wanted) and _pairs(wanted, entries)


def _semver(wanted: str, actual: Any) -> bool:
    choices = semver.parse_constraint(wanted)
    try:
        versions = [semver.parse_version(str(entry)) for entry in _array(actual)]
    except ValueError:
        return False
    return bool(versions) and all(semver.satisfies(version, choices) for version in versions)


def _key_with_value(wanted: Dict[str, Any], actual: Any) -> bool:
    return isinstance(actual, dict) and all(
        key in actual and matches(value, actual[key]) for key, value in wanted.items()
    )


def _key(wanted: Any, actual: Any) -> bool:
    return isinstance(actual, dict) and any(matches(wanted, key) for key in actual)


_SIGNS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}

MATCHERS: Dict[str, Callable[[Any, Any], bool]] = {
    "equal": _equal,
    "have-prefix": _of_text(lambda wanted, text: text.startswith(wanted)),
    "have-suffix": _of_text(lambda wanted, text: text.endswith(wanted)),
    "match-regexp": _of_text(lambda wanted, text: compiled(wanted).search(text) is not None),
    "contain-substring": _of_text(lambda wanted, text: wanted in text),
    "gt": _of_number(lambda number, wanted: number > wanted),
    "ge": _of_number(lambda number, wanted: number >= wanted),
    "lt": _of_number(lambda number, wanted: number < wanted),
    "le": _of_number(lambda number, wanted: number <= wanted),
    "contain-element": lambda wanted, found: any(matches(wanted, entry) for entry in _array(found)),
    "contain-elements": _contains,
    "consist-of": _consists,
    "have-len": _length,
    "have-key": _key,
    "have-key-with-value": _key_with_value,
    "have-patterns": lambda wanted, found: not line_patterns.unmet(wanted, str(_text(found))),
    "semver-constraint": _semver,
    "and": lambda wanted, found: all(matches(entry, found) for entry in wanted),
    "or": lambda wanted, found: any(matches(entry, found) for entry in wanted),
    "not": lambda wanted, found: not matches(wanted, found),
}
