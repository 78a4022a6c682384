"""Goss's matchers: compare the expectation of a rule with an actual value (both sides).

An expectation is a text, a number or true and false (equality), a list (all of these must be found;
for lines, see ``patterns``), or a map of one matcher. The actual value is converted to the type of
the matcher, as in goss: ``"42"`` is more than 40.
"""

from typing import Any, Callable, Dict, List, Sequence

from remote_runtime.health import patterns, semver
from remote_runtime.health.regex import compiled

SHOWN = 200


class Lines(str):
    """A text whose lines are compared with a list of patterns: an output, a file, a body."""


def matches(expected: Any, found: Any) -> bool:
    """Whether what was found is what is expected; the expectation was checked before."""
    if isinstance(expected, dict):
        ((name, value),) = expected.items()
        return bool(MATCHERS[name](value, found))
    if isinstance(expected, list):
        if isinstance(found, Lines):
            return not patterns.unmet(expected, found)
        return _contains(expected, found)
    if isinstance(expected, bool):
        return found is expected
    if isinstance(expected, (int, float)):
        number = _number(found)
        return number is not None and number == expected
    return bool(_text(found) == expected)


def explain(expected: Any, found: Any) -> str:
    """Why they do not fit, in words: ``expected 200, found 503``."""
    if isinstance(found, Lines) and isinstance(expected, list):
        bad = patterns.unmet(expected, found)
        missing = [p for p in bad if not p.startswith("!")]
        parts = ["no line has " + ", ".join(map(show, missing))] if missing else []
        parts += ["a line has %s" % show(p[1:]) for p in bad if p.startswith("!")]
        return "; ".join(parts)
    return "expected %s, found %s" % (describe(expected), show(found))


def describe(expected: Any) -> str:
    """An expectation as it would be written, with the signs of comparisons."""
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
    """A value in JSON, shortened."""
    import json

    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def _text(found: Any) -> Any:
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, (int, float)):
        return str(found)
    if isinstance(found, list) and len(found) == 1:
        return _text(found[0])
    return found


def _number(found: Any) -> Any:
    if isinstance(found, bool):
        return None
    if isinstance(found, (int, float)):
        return found
    if isinstance(found, str):
        try:
            return int(found)
        except ValueError:
            pass
        try:
            return float(found)
        except ValueError:
            pass
    return None


def _array(found: Any) -> List[Any]:
    if isinstance(found, list):
        return found
    if isinstance(found, dict):
        return list(found.values())
    return patterns.lines(found) if isinstance(found, str) else [found]


def _of_text(test: Callable[[str, str], bool]) -> Callable[[str, Any], bool]:
    def matcher(wanted: str, found: Any) -> bool:
        text = _text(found)
        return isinstance(text, str) and test(wanted, text)

    return matcher


def _of_number(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def matcher(wanted: Any, found: Any) -> bool:
        number = _number(found)
        return number is not None and test(number, wanted)

    return matcher


def _equal(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, list):
        found = _array(found)
    return isinstance(wanted, bool) == isinstance(found, bool) and bool(wanted == found)


def _length(wanted: int, found: Any) -> bool:
    return isinstance(found, (str, list, dict)) and len(found) == wanted


def _pairs(wanted: Sequence[Any], found: Sequence[Any]) -> bool:
    """Whether each expectation can have its own entry, found by augmenting paths."""
    owner: Dict[int, int] = {}

    def place(index: int, tried: List[int]) -> bool:
        for at, entry in enumerate(found):
            if at not in tried and matches(wanted[index], entry):
                tried.append(at)
                if at not in owner or place(owner[at], tried):
                    owner[at] = index
                    return True
        return False

    return all(place(index, []) for index in range(len(wanted)))


def _contains(wanted: Sequence[Any], found: Any) -> bool:
    return _pairs(wanted, _array(found))


def _consists(wanted: Sequence[Any], found: Any) -> bool:
    entries = _array(found)
    return len(entries) == len(wanted) and _pairs(wanted, entries)


def _semver(wanted: str, found: Any) -> bool:
    choices = semver.parse_constraint(wanted)
    try:
        versions = [semver.parse_version(str(entry)) for entry in _array(found)]
    except ValueError:
        return False
    return bool(versions) and all(semver.satisfies(version, choices) for version in versions)


def _key_with_value(wanted: Dict[str, Any], found: Any) -> bool:
    return isinstance(found, dict) and all(
        key in found and matches(value, found[key]) for key, value in wanted.items()
    )


def _key(wanted: Any, found: Any) -> bool:
    return isinstance(found, dict) and any(matches(wanted, key) for key in found)


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
    "have-patterns": lambda wanted, found: not patterns.unmet(wanted, str(_text(found))),
    "semver-constraint": _semver,
    "and": lambda wanted, found: all(matches(entry, found) for entry in wanted),
    "or": lambda wanted, found: any(matches(entry, found) for entry in wanted),
    "not": lambda wanted, found: not matches(wanted, found),
}
