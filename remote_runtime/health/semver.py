"""Semantic versions and goss's constraints for them (both sides)."""

from typing import Any, List, NamedTuple, Tuple

_OPERATORS = (">=", "<=", "!=", "==", ">", "<", "=", "!")


class Version(NamedTuple):
    """A version. ``pre`` is the pre-release part, empty for a release; build metadata
    is ignored.
    """

    numbers: Tuple[int, ...]
    pre: Tuple[Any, ...]

    @property
    def key(self) -> Tuple[Any, ...]:
        """The sort key by the specification: a pre-release comes before its release, and numbers
        come first.
        """
        parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in self.pre)
        return (self.numbers, not self.pre, parts)


class _Rule(NamedTuple):
    operator: str
    version: Version
    given: int  # of how many numbers the written version consists; less than 3: a wildcard


def parse_version(text: str) -> Version:
    """Parse ``1.2.3-rc.1+build``, also ``v1.2``; ``ValueError``."""
    core, _, _ = text.strip().partition("+")
    core, _, pre = core.partition("-")
    numbers = (core[1:] if core[:1] in ("v", "V") else core).split(".")
    if not all(n.isdigit() for n in numbers) or not 1 <= len(numbers) <= 3:
        raise ValueError("%r is not a semantic version such as 1.2.3" % text)
    whole = tuple(int(n) for n in numbers) + (0,) * (3 - len(numbers))
    return Version(whole, tuple(pre.split(".")) if pre else ())


def parse_constraint(text: str) -> List[List[_Rule]]:
    """Parse ``>1.0.0 <2.0.0 !=1.5.0 || 3.x``: one of the lists must be met completely;
    ``ValueError``.
    """
    choices = []
    for part in text.split("||"):
        for operator in ("!", ">", "<", "="):
            part = part.replace(operator + " ", operator)
        rules = [_rule(word, text) for word in part.split()]
        if not rules:
            raise ValueError("%r is not a constraint such as >1.0.0 <2.0.0" % text)
        choices.append(rules)
    return choices


def satisfies(version: Version, choices: List[List[_Rule]]) -> bool:
    """Return whether a version meets a constraint."""
    return any(all(_meets(version, rule) for rule in rules) for rules in choices)


def _rule(word: str, whole: str) -> _Rule:
    operator = next((sign for sign in _OPERATORS if word.startswith(sign)), "")
    rest = word[len(operator) :]
    numbers = rest.split(".")
    count = len(numbers)
    for at, number in enumerate(numbers[:3]):
        if number in ("x", "X", "*"):
            count, rest = at, ".".join(numbers[:at]) or "0"
            break
    else:
        count = 3 if count >= 3 or operator else count
    try:
        version = parse_version(rest)
    except ValueError as error:
        raise ValueError("%r: %s" % (whole, error)) from None
    operator = {"": "=", "==": "=", "!": "!="}.get(operator, operator)
    return _Rule(operator, version, count)


def _meets(version: Version, rule: _Rule) -> bool:
    mine, other = version.key, rule.version.key
    if rule.given < 3:  # a wildcard: only the numbers that are given count
        mine = (version.numbers[: rule.given],)
        other = (rule.version.numbers[: rule.given],)
    answers = {
        "=": mine == other,
        "!=": mine != other,
        ">": mine > other,
        ">=": mine >= other,
        "<": mine < other,
        "<=": mine <= other,
    }
    return answers[rule.operator]
