"""Functions on lists and maps (controller). ValueError for a wrong argument."""

from collections.abc import Callable, Iterator
from typing import Any

from orchestrator.language import cost_limits, value_types
from orchestrator.language.exprlang import values
from orchestrator.language.exprlang.values import Table
from schemas.fast_validation import is_number

Predicate = Callable[..., Any]
"""Called with the entry and its index and, for ``reduce``, with the result so far."""


def _length(value: Any) -> int:
    if isinstance(value, str | list | tuple | range):
        return len(value)
    return len(list(value_types.mapping("len", value).keys()))


def _join(entries: Any, separator: Any = "") -> str:
    found = value_types.entries("join", entries)
    value_types.texts("join", separator, *found)
    total = sum(map(len, found)) + len(separator) * len(found)
    cost_limits.check_size(total, cost_limits.MAX_TEXT, "the joined text")
    return str(separator.join(found))


def _keys(value: Any) -> list[str]:
    return list(value_types.mapping("keys", value).keys())


def _values(value: Any) -> list[Any]:
    return list(value_types.mapping("values", value).values())


def _get(value: Any, key: Any) -> Any:
    if isinstance(value, list | tuple | range):
        at = value_types.whole("get", key)
        return value[at] if -len(value) <= at < len(value) else None
    return value_types.mapping("get", value).get(key)


def _to_pairs(value: Any) -> list[list[Any]]:
    return [[key, entry] for key, entry in value_types.mapping("toPairs", value).items()]


def _from_pairs(entries: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in value_types.entries("fromPairs", entries):
        if len(value_types.entries("fromPairs", pair)) != 2:
            raise ValueError("fromPairs takes a list of [key, value] lists")
        found[values.text(pair[0])] = pair[1]
    return found


def _first(entries: Any) -> Any:
    return next(iter(value_types.entries("first", entries)), None)


def _last(entries: Any) -> Any:
    return next(reversed(value_types.entries("last", entries)), None)


def _take(entries: Any, count: Any) -> list[Any]:
    if value_types.whole("take", count) < 0:
        raise ValueError("take takes a count of 0 or more")
    return value_types.entries("take", entries)[:count]


def _reverse(entries: Any) -> list[Any]:
    return value_types.entries("reverse", entries)[::-1]


def _concat(*lists: Any) -> list[Any]:
    found = [entry for entries in lists for entry in value_types.entries("concat", entries)]
    return found


def _flatten(entries: Any) -> list[Any]:
    values.size(entries)
    found: list[Any] = []
    open_: list[Iterator[Any]] = [iter(value_types.entries("flatten", entries))]
    while open_:
        for entry in open_[-1]:
            if isinstance(entry, list | tuple | range):
                open_.append(iter(entry))
                break
            found.append(entry)
        else:
            open_.pop()
    return found


def _unique(entries: Any) -> list[Any]:
    found: dict[str, Any] = {}
    for entry in value_types.entries("uniq", entries):
        found.setdefault(values.json_text(entry), entry)
    return list(found.values())


def _descending(name: str, order: Any) -> bool:
    if order not in ("asc", "desc"):
        raise ValueError(f"{name} takes 'asc' or 'desc', not {order!r}")
    return bool(order == "desc")


def _sorted(name: str, pairs: list[tuple[Any, Any]], order: Any) -> list[Any]:
    """Entries by their keys, which are all numbers or all strings."""
    keys = [key for key, _ in pairs]
    if not (all(map(is_number, keys)) or all(isinstance(key, str) for key in keys)):
        raise ValueError(f"{name} sorts numbers or text, not a mixture")
    made = sorted(pairs, key=lambda pair: pair[0], reverse=_descending(name, order))
    return [entry for _, entry in made]


def _sort(entries: Any, order: Any = "asc") -> list[Any]:
    return _sorted(
        "sort", [(entry, entry) for entry in value_types.entries("sort", entries)], order
    )


def _sort_by(entries: Any, key: Any, order: Any = "asc") -> list[Any]:
    found = value_types.entries("sortBy", entries)
    if isinstance(key, str):
        pairs = [(value_types.mapping("sortBy", entry).get(key), entry) for entry in found]
    else:
        pairs = [(key(entry, at), entry) for at, entry in enumerate(found)]
    return _sorted("sortBy", pairs, order)


def _numbers(name: str, arguments: tuple[Any, ...]) -> list[int | float]:
    return [value_types.number(name, entry) for entry in _flatten(list(arguments))]


def _max(*arguments: Any) -> Any:
    return max(_numbers("max", arguments), default=None)


def _min(*arguments: Any) -> Any:
    return min(_numbers("min", arguments), default=None)


def _mean(*arguments: Any) -> float:
    found = _numbers("mean", arguments)
    return sum(found) / len(found) if found else 0.0


def _median(*arguments: Any) -> float:
    found = sorted(_numbers("median", arguments))
    half = len(found) // 2
    if not found:
        return 0.0
    return float(found[half]) if len(found) % 2 else (found[half - 1] + found[half]) / 2


def _sum(entries: Any, predicate: Predicate | None = None) -> int | float:
    found = value_types.entries("sum", entries)
    if predicate is not None:
        found = [predicate(entry, at) for at, entry in enumerate(found)]
    return sum(value_types.number("sum", entry) for entry in found)


def _matching(name: str, entries: Any, predicate: Predicate) -> Iterator[tuple[int, Any]]:
    for at, entry in enumerate(value_types.entries(name, entries)):
        if _holds(name, predicate(entry, at)):
            yield at, entry


def _holds(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(
            f"the predicate of {name} returns {value_types.kind(value)}, not true or false"
        )
    return value


def _map(entries: Any, predicate: Predicate) -> list[Any]:
    return [predicate(entry, at) for at, entry in enumerate(value_types.entries("map", entries))]


def _filter(entries: Any, predicate: Predicate) -> list[Any]:
    return [entry for _, entry in _matching("filter", entries, predicate)]


def _all(entries: Any, predicate: Predicate) -> bool:
    found = enumerate(value_types.entries("all", entries))
    return all(_holds("all", predicate(entry, at)) for at, entry in found)


def _any(entries: Any, predicate: Predicate) -> bool:
    return next(_matching("any", entries, predicate), None) is not None


def _none(entries: Any, predicate: Predicate) -> bool:
    return next(_matching("none", entries, predicate), None) is None


def _one(entries: Any, predicate: Predicate) -> bool:
    return len(list(_matching("one", entries, predicate))) == 1


def _count(entries: Any, predicate: Predicate | None = None) -> int:
    def itself(entry: Any, _: int) -> Any:
        """The default predicate: the entry itself."""
        return entry

    return len(list(_matching("count", entries, predicate or itself)))


def _find(entries: Any, predicate: Predicate) -> Any:
    return next(_matching("find", entries, predicate), (-1, None))[1]


def _find_index(entries: Any, predicate: Predicate) -> int:
    return next(_matching("findIndex", entries, predicate), (-1, None))[0]


def _last_match(name: str, entries: Any, predicate: Predicate) -> tuple[int, Any]:
    found = value_types.entries(name, entries)
    for at in range(len(found) - 1, -1, -1):
        if _holds(name, predicate(found[at], at)):
            return at, found[at]
    return -1, None


def _find_last(entries: Any, predicate: Predicate) -> Any:
    return _last_match("findLast", entries, predicate)[1]


def _find_last_index(entries: Any, predicate: Predicate) -> int:
    return _last_match("findLastIndex", entries, predicate)[0]


def _group_by(entries: Any, predicate: Predicate) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for at, entry in enumerate(value_types.entries("groupBy", entries)):
        found.setdefault(values.text(predicate(entry, at)), []).append(entry)
    return found


def _reduce(entries: Any, predicate: Predicate, *start: Any) -> Any:
    found = value_types.entries("reduce", entries)
    if not found and not start:
        raise ValueError("reduce of an empty list needs an initial value")
    value = start[0] if start else found[0]
    for at in range(0 if start else 1, len(found)):
        value = predicate(found[at], at, value)
    return value


FUNCTIONS: Table = {
    "len": (_length, "x", "Number of characters or entries"),
    "join": (_join, "list[, separator]", "Joins the text values in a list"),
    "keys": (_keys, "map", "The keys"),
    "values": (_values, "map", "The values"),
    "get": (_get, "x, key", "The entry of a list or a map, or `nil`"),
    "toPairs": (_to_pairs, "map", "A list of `[key, value]` lists"),
    "fromPairs": (_from_pairs, "list", "The map from a list of `[key, value]` lists"),
    "first": (_first, "list", "The first entry, or `nil`"),
    "last": (_last, "list", "The last entry, or `nil`"),
    "take": (_take, "list, n", "The first `n` entries"),
    "reverse": (_reverse, "list", "The list in reverse order"),
    "concat": (_concat, "list, …", "Joins lists"),
    "flatten": (_flatten, "list", "Flattens nested lists"),
    "uniq": (_unique, "list", "Removes duplicates"),
    "sort": (_sort, "list[, order]", "Sorts numbers or text, `'asc'` or `'desc'`"),
    "max": (_max, "n, …", "The largest number; accepts lists"),
    "min": (_min, "n, …", "The smallest number; accepts lists"),
    "mean": (_mean, "n, …", "The average"),
    "median": (_median, "n, …", "The median"),
}
"""Function, parameters and meaning by name."""

PREDICATES: Table = {
    "map": (_map, "list, predicate", "The result of the predicate for each entry"),
    "filter": (_filter, "list, predicate", "The entries for which the predicate is true"),
    "all": (_all, "list, predicate", "Whether the predicate is true for every entry"),
    "any": (_any, "list, predicate", "Whether the predicate is true for at least one entry"),
    "none": (_none, "list, predicate", "Whether the predicate is true for no entry"),
    "one": (_one, "list, predicate", "Whether the predicate is true for exactly one entry"),
    "count": (_count, "list[, predicate]", "Number of entries for which the predicate is true"),
    "sum": (_sum, "list[, predicate]", "The sum of the numbers, or of the results"),
    "find": (_find, "list, predicate", "The first entry for which the predicate is true, or `nil`"),
    "findIndex": (
        _find_index,
        "list, predicate",
        "The index of the first such entry, from 0, or -1",
    ),
    "findLast": (
        _find_last,
        "list, predicate",
        "The last entry for which the predicate is true, or `nil`",
    ),
    "findLastIndex": (
        _find_last_index,
        "list, predicate",
        "The index of the last such entry, or -1",
    ),
    "groupBy": (_group_by, "list, predicate", "A map of lists, grouped by the result"),
    "sortBy": (_sort_by, "list, predicate[, order]", "Sorts by the result, or by a key"),
    "reduce": (_reduce, "list, predicate[, start]", "One value; `#acc` is the accumulator"),
}
"""The same for functions whose second argument is evaluated for each entry."""
