"""The filters, tests and functions in addition to Jinja2's, each with its documentation
(controller).

``docs/reference/filters.md`` is generated from this, and a test runs each example. Before a filter
runs, the size of its arguments is checked and missing values are refused. Results that are too
large are also refused.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from jinja2 import Undefined

from orchestrator.language import cost_limits

Function = TypeVar("Function", bound=Callable[..., Any])
FAMILIES = ("Regular expressions", "Data", "Text", "Encoding", "Network", "Paths", "Tests")
_PER_STEP = 64


class Entry(NamedTuple):
    """A filter or test: its syntax, its result, and an example with its result, both as
    expressions. It may take up to ``cost`` times as long as a copy of its input.
    """

    name: str
    family: str
    usage: str
    meaning: str
    example: str
    result: str
    function: Callable[..., Any]


FILTERS: dict[str, Entry] = {}
TESTS: dict[str, Entry] = {}


def documented(
    family: str,
    usage: str,
    *,
    example: str,
    result: str,
    meaning: str = "",
    cost: int = 1,
    takes_missing: bool = False,
) -> Callable[[Function], Function]:
    """Register a filter, or a test in that family. Its meaning is the first paragraph of its
    docstring, unless it is computed. ``takes_missing``: it accepts a missing value.
    """

    def register(function: Function) -> Function:
        """Add the function to the table of its family, with its checks."""
        name = usage.split("(", 1)[0]
        table = TESTS if family == "Tests" else FILTERS
        summary = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        table[name] = Entry(
            name=name,
            family=family,
            usage=usage,
            meaning=meaning or summary.removesuffix("."),
            example=example,
            result=result,
            function=_guarded(function, cost, takes_missing),
        )
        return function

    return register


def entries(family: str) -> Iterator[Entry]:
    """The entries of a family, sorted."""
    for entry in sorted([*FILTERS.values(), *TESTS.values()]):
        if entry.family == family:
            yield entry


def _guarded(function: Callable[..., Any], cost: int, takes_missing: bool) -> Callable[..., Any]:
    first = int(hasattr(function, "jinja_pass_arg"))

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        """The function with its arguments and its result checked against the limits. ValueError."""
        values = [_given(value, takes_missing) for value in args[first:]]
        named = {name: _given(value, takes_missing) for name, value in kwargs.items()}
        weight = sum(map(cost_limits.text_length, (*values, *named.values())))
        cost_limits.check_size(weight, cost_limits.MAX_TEXT, "the input")
        cost_limits.spend(weight * cost // _PER_STEP)
        found = function(*args[:first], *values, **named)
        if isinstance(found, str):
            cost_limits.check_size(len(found), cost_limits.MAX_TEXT, "the text")
        elif isinstance(found, list | dict):
            cost_limits.check_size(
                cost_limits.text_length(found), cost_limits.MAX_TEXT, "the result"
            )
        return found

    return guarded


def _given(value: Any, takes_missing: bool) -> Any:
    if isinstance(value, Undefined):
        return value if takes_missing else str(value)  # which raises, but for the lenient one
    return cost_limits.bounded_list(value) if isinstance(value, Iterator) else value
