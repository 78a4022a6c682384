"""Validates goss rules and refuses unsupported ones, with their path (both sides).

The controller validates them before any host is contacted; the target validates them again, because
a plan is data.
"""

from typing import Any, Dict, Iterator, List, Sequence, Tuple

from remote_runtime.health import go_regex, line_patterns, matchers, semver
from remote_runtime.health.kind import ANYTHING, BOOLEAN, LINES, LIST, NUMBER, SCALAR, TEXT, Kind
from remote_runtime.health.kinds import NAMES, load
from remote_runtime.text.suggestions import nearest

Path = Tuple[Any, ...]
Problem = Tuple[Path, str, str]


class Unknown(str):
    """A value, or a key, that is a template: it is validated after rendering."""


COMMON = {"title": TEXT, "meta": ANYTHING, "skip": BOOLEAN}
_ELSEWHERE = {
    "gossfile": "put the rules of that file here",
    "registry": "it is only supported on Windows",
}
_DEEPEST = 20


def walk(rules: Dict[str, Any]) -> Iterator[Tuple[str, str, Dict[str, Any]]]:
    """Yield every rule as (kind, key, properties), in the order written."""
    for name, subjects in rules.items():
        for key, rule in subjects.items():
            yield name, key, rule


def problems(rules: Any) -> List[Problem]:
    """Return the problems of ``goss_rules``: for each, its path, a sentence and a hint."""
    if isinstance(rules, Unknown):
        return []
    if not isinstance(rules, dict):
        return [((), "goss_rules must be a map of kinds such as service or port", "")]
    problems: List[Problem] = []
    for name, subjects in rules.items():
        if isinstance(name, Unknown):
            continue
        if name not in NAMES:
            hint = _ELSEWHERE.get(name) or _nearest(name, NAMES)
            problems.append(((name,), "goss_rules has no kind %r" % name, hint))
        elif not isinstance(subjects, dict):
            if not isinstance(subjects, Unknown):
                message = "%s must be a map of names and their expectations" % name
                problems.append(((name,), message, ""))
        else:
            for key, rule in subjects.items():
                problems += [((name, key) + path, m, h) for path, m, h in _rule(name, key, rule)]
    return problems


def _rule(name: str, key: str, rule: Any) -> List[Problem]:
    if isinstance(rule, Unknown):
        return []
    label = "%s %s" % (name, key)
    if not isinstance(rule, dict):
        return [((), "%s must be a map of expectations" % label, "")]
    kind = load(name)
    problems = [
        problem for word, value in rule.items() for problem in _word(word, value, kind, label)
    ]
    templated = any(isinstance(word, Unknown) for word in rule)
    needed = next(iter(kind.attributes))
    if kind.gate and needed not in rule and not templated:
        problems.append(((), "%s requires %s" % (label, needed), ""))
    elif not problems and not templated and not any(word in kind.attributes for word in rule):
        problems.append(((), "%s has no expectation" % label, _all(kind.attributes)))
    subject = rule.get(kind.identity) or key
    if not problems and not isinstance(subject, Unknown):
        plain = {k: v for k, v in rule.items() if not isinstance(v, Unknown)}
        for word, message, hint in kind.problems(str(subject), plain):
            problems.append(((word,) if word in rule else (), "%s: %s" % (label, message), hint))
    return problems


def _word(word: str, value: Any, kind: Kind, label: str) -> List[Problem]:
    """Return the problems of one property of a rule."""
    if isinstance(word, Unknown):
        return []
    if word in kind.attributes:
        return _expectation(value, kind.attributes[word], "%s: %s" % (label, word), (word,))
    known = dict(COMMON)
    known.update(kind.settings)
    if kind.identity:
        known[kind.identity] = TEXT
    if word not in known:
        hint = _nearest(word, list(kind.attributes) + list(known))
        return [((word,), "%s has no property %r" % (label, word), hint)]
    if not _is(value, known[word]):
        message = "%s: %s must be %s, not %s"
        return [((word,), message % (label, word, known[word], matchers.show(value)), "")]
    return []


def _is(value: Any, wanted: str) -> bool:
    if isinstance(value, Unknown) or wanted == ANYTHING:
        return True
    if wanted == BOOLEAN:
        return isinstance(value, bool)
    if wanted in (LIST, LINES):
        return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    if wanted == NUMBER:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted == SCALAR:
        return isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return isinstance(value, str)


def _expectation(value: Any, wanted: str, label: str, path: Path) -> List[Problem]:
    """Return the problems of the expectation for an attribute of that kind."""
    if isinstance(value, (dict, Unknown)):
        return _matcher(value, label, path=path, text=wanted == TEXT)
    if isinstance(value, list):
        if wanted == LINES:
            return _patterns(value, label, path)
        if wanted in (LIST, ANYTHING):
            return _each(value, label, path=path, text=False)
    elif wanted == ANYTHING or _is(value, wanted) or (wanted in (LIST, LINES) and _is(value, TEXT)):
        return []
    hint = "quote it" if wanted in (TEXT, LIST, LINES) and not isinstance(value, list) else ""
    words = "%s must be %s or a matcher, not %s" % (label, wanted, matchers.show(value))
    return [(path, words, hint)]


def _matcher(value: Any, label: str, *, path: Path, text: bool, depth: int = 0) -> List[Problem]:
    """Return the problems of an expectation at a place where a matcher is allowed."""
    if isinstance(value, Unknown) or any(isinstance(key, Unknown) for key in _keys(value)):
        return []
    if value is None:
        return [(path, "%s has no expectation" % label, "set a value or a matcher")]
    if depth > _DEEPEST:
        return [(path, "%s: matchers are nested deeper than %d" % (label, _DEEPEST), "")]
    if isinstance(value, list):
        return _each(value, label, path=path, text=text, depth=depth)
    if not isinstance(value, dict):
        return _number_for_text(value, label, path) if text else []
    if len(value) != 1:
        message = "%s: a matcher has exactly one key, not %d" % (label, len(value))
        return [(path, message, "combine several with and: [...]")]
    ((name, wanted),) = value.items()
    if name not in matchers.MATCHERS:
        hint = _nearest(name, list(matchers.MATCHERS))
        return [(path + (name,), "%s: there is no matcher %r" % (label, name), hint)]
    return _argument(
        name,
        wanted,
        label="%s: %s" % (label, name),
        path=path + (name,),
        text=text,
        depth=depth + 1,
    )


def _argument(
    name: str, wanted: Any, *, label: str, path: Path, text: bool, depth: int
) -> List[Problem]:
    if isinstance(wanted, Unknown):
        return []
    if name in ("and", "or", "contain-elements", "consist-of"):
        if not isinstance(wanted, list) or not wanted:
            return [(path, "%s must be a list of matchers" % label, "")]
        return _each(wanted, label, path=path, text=text, depth=depth)
    if name in ("not", "contain-element", "have-key"):
        return _matcher(wanted, label, path=path, text=text, depth=depth)
    if name == "have-patterns":
        if not isinstance(wanted, list):
            return [(path, "%s must be a list of patterns" % label, "")]
        return _patterns(wanted, label, path)
    if name == "have-key-with-value":
        if not isinstance(wanted, dict) or not wanted:
            return [(path, "%s must be a map of keys and values" % label, "")]
        return [
            problem
            for key, entry in wanted.items()
            for problem in _matcher(entry, label, path=path + (key,), text=text, depth=depth)
        ]
    return _plain_argument(name, wanted, label, path)


def _plain_argument(name: str, wanted: Any, label: str, path: Path) -> List[Problem]:
    if name == "equal":
        return [] if wanted is not None else [(path, "%s has no expectation" % label, "")]
    kind = NUMBER if name in ("gt", "ge", "lt", "le", "have-len") else TEXT
    if not _is(wanted, kind):
        hint = "quote it" if kind == TEXT and _is(wanted, NUMBER) else ""
        message = "%s must be %s, not %s" % (label, kind, matchers.show(wanted))
        return [(path, message, hint)]
    try:
        if name == "match-regexp":
            go_regex.compiled(wanted)
        elif name == "semver-constraint":
            semver.parse_constraint(wanted)
    except ValueError as error:
        return [(path, "%s: %s" % (label, error), "")]
    return []


def _each(
    values: Sequence[Any], label: str, *, path: Path, text: bool, depth: int = 0
) -> List[Problem]:
    return [
        problem
        for at, entry in enumerate(values)
        for problem in _matcher(entry, label, path=path + (at,), text=text, depth=depth + 1)
    ]


def _patterns(values: Sequence[Any], label: str, path: Path) -> List[Problem]:
    problems: List[Problem] = []
    for at, entry in enumerate(values):
        if isinstance(entry, Unknown):
            continue
        if isinstance(entry, (dict, list)) or entry is None:
            hint = "a matcher replaces the whole list"
            problems.append((path + (at,), "%s: a pattern must be text" % label, hint))
            continue
        try:
            line_patterns.parse(line_patterns.pattern_text(entry))
        except ValueError as error:
            problems.append((path + (at,), "%s: %s" % (label, error), ""))
    return problems


def _number_for_text(value: Any, label: str, path: Path) -> List[Problem]:
    if isinstance(value, str):
        return []
    return [(path, "%s must be text, not %s" % (label, matchers.show(value)), "quote it")]


def _keys(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, dict) else ()


def _nearest(word: Any, known: Sequence[str]) -> str:
    likely = nearest(str(word), known)
    return "did you mean %s?" % likely if likely else _all(known)


def _all(known: Any) -> str:
    return "known: " + ", ".join(sorted(known))
