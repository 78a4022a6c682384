"""Tests, for use after ``is`` and in ``select`` and similar filters (controller)."""

import operator
import re
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Any

from orchestrator.language import value_types
from orchestrator.language.filters.data import key_of
from orchestrator.language.filters.regex import Search
from orchestrator.language.filters.registry import documented

_documented = partial(documented, "Tests")
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "=": operator.eq, "eq": operator.eq,
    "!=": operator.ne, "<>": operator.ne, "ne": operator.ne,
    "<": operator.lt, "lt": operator.lt, "<=": operator.le, "le": operator.le,
    ">": operator.gt, "gt": operator.gt, ">=": operator.ge, "ge": operator.ge,
}  # fmt: skip
_PARTS = re.compile(r"\d+|[a-z]+")


@_documented(
    "match(pattern[, ignorecase, multiline])",
    example="['web1', 'db1'] | select('match', 'web') | list",
    result="['web1']",
)
def match(text: Any, pattern: Any, ignorecase: Any = False, multiline: Any = False) -> bool:
    """Whether the start of the text matches."""
    search = Search(text, pattern, ignorecase=ignorecase, multiline=multiline)
    return search.at_start() is not None


@_documented(
    "search(pattern[, ignorecase, multiline])",
    example="[{'n': 'a1'}, {'n': 'b'}] | rejectattr('n', 'search', '[0-9]') | list",
    result="[{'n': 'b'}]",
)
def search(text: Any, pattern: Any, ignorecase: Any = False, multiline: Any = False) -> bool:
    """Whether any part of the text matches."""
    return Search(text, pattern, ignorecase=ignorecase, multiline=multiline).first() is not None


@_documented(
    "version(other[, operator])", example="'1.10.1' is version('1.9', '>=')", result="true"
)
def version(one: Any, other: Any, operator: Any = "==") -> bool:
    """Compares versions part by part, numbers as numbers; the operator is `'=='`, `'!='`, `'<'`,
    `'<='`, `'>'` or `'>='`.
    """
    value_types.texts("version", one, other)
    compare = _OPERATORS.get(operator) if isinstance(operator, str) else None
    if compare is None:
        raise ValueError(f"version takes an operator such as '>=', not {operator!r}")
    pairs = zip_longest(_parts(one), _parts(other), fillvalue=(1, 0, ""))
    left, right = [], []
    for mine, its in pairs:
        left.append(mine)
        right.append(its)
    return compare(left, right)


def _parts(text: str) -> list[tuple[int, int, str]]:
    """The parts of a version. Words sort before numbers and before the end, so 1.0rc1
    is before 1.0.
    """
    found = _PARTS.findall(text.lower().removeprefix("v")[:1000])
    return [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in found]


@_documented("subset(list)", example="[1, 2] is subset([1, 2, 3])", result="true")
def subset(some: Any, all_: Any) -> bool:
    """Whether the second list contains all entries of the first."""
    mine = {key_of(entry) for entry in value_types.entries("subset", some)}
    return mine <= {key_of(entry) for entry in value_types.entries("subset", all_)}


@_documented("superset(list)", example="[1, 2, 3] is superset([4])", result="false")
def superset(all_: Any, some: Any) -> bool:
    """Whether the first list contains all entries of the second."""
    return subset(some, all_)
