"""Lists, maps and values that may be missing (controller)."""

import itertools
import json
from collections.abc import Mapping
from functools import partial
from math import prod
from random import Random
from typing import Any

from jinja2 import Undefined, pass_environment
from jinja2.filters import FILTERS as JINJA

from orchestrator.language import cost_limits, value_types
from orchestrator.language.filters.registry import documented

_documented = partial(documented, "Data")
_MERGES = ("replace", "keep", "append", "prepend", "append_rp", "prepend_rp")
_TRUE, _FALSE = ("yes", "on", "true", "1"), ("no", "off", "false", "0", "")
_MAX_DEPTH = 100


def key_of(value: Any) -> str:
    """Return a string that is the same for equal values."""
    if value.__class__ is str:
        return f"s{value}"
    return json.dumps(value_types.plain(value), sort_keys=True)


@_documented(
    "d(default_value[, boolean])", example="Data.nope | d('x')", result="'x'", takes_missing=True
)
def d(value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    """A default for a missing value; short for `default`."""
    return JINJA["default"](value, default_value, boolean)


@_documented(
    "mandatory([msg])", example="Data.web.port | mandatory", result="80", takes_missing=True
)
def mandatory(value: Any, msg: Any = None) -> Any:
    """The value; an error with the message if it is missing."""
    if isinstance(value, Undefined):
        name = value._undefined_name
        raise ValueError(str(msg) if msg else f"{name!r} is mandatory but not set")
    return value


@_documented(
    "ternary(true_val, false_val[, none_val])",
    example="(Data.web.port > 1024) | ternary('high', 'low')",
    result="'low'",
)
def ternary(value: Any, true_val: Any, false_val: Any, none_val: Any = None) -> Any:
    """The first for a true value, else the second."""
    if value is None and none_val is not None:
        return none_val
    return true_val if value else false_val


@_documented("bool([other])", example="'yes' | bool", result="true")
def bool_(value: Any, other: bool | None = None) -> bool:
    """`true` for yes, on, true and 1; `false` for no, off, false, 0 and an empty value. `other`
    is the result for any other value.

    ValueError for any other value without `other`.
    """
    if value is None or isinstance(value, bool):
        return bool(value)
    word = str(value).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    if other is not None:
        return other
    raise ValueError(f"bool takes yes, no, on, off, true, false, 1 or 0, not {value!r}")


@_documented(
    "combine(map, …[, recursive, list_merge])",
    example="{'a': 1, 'b': {'x': 1}} | combine({'b': {'y': 2}}, recursive=true)",
    result="{'a': 1, 'b': {'x': 1, 'y': 2}}",
)
def combine(
    first: Any, *more: Any, recursive: Any = False, list_merge: Any = "replace"
) -> dict[str, Any]:
    """Merges maps; later ones win. `recursive=true` also merges nested maps. `list_merge`:
    `replace`, `keep`, `append`, `prepend`, `append_rp`, `prepend_rp`.
    """
    if list_merge not in _MERGES:
        raise ValueError(f"combine takes one of {', '.join(_MERGES)}, not {list_merge!r}")
    given = [*(first if isinstance(first, list) else [first]), *more]
    found: dict[str, Any] = {}
    for one in given:
        merged = value_types.mapping("combine", one)
        found = _merged(found, merged, recursive=recursive is True, lists=list_merge)
    return found


def _merged(
    low: Mapping[str, Any],
    high: Mapping[str, Any],
    *,
    recursive: bool,
    lists: str,
    depth: int = 0,
) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise ValueError(f"combine takes maps of at most {_MAX_DEPTH} levels")
    found = dict(low.items())
    for key, value in high.items():
        mine = found.get(key)
        if recursive and isinstance(mine, Mapping) and isinstance(value, Mapping):
            found[key] = _merged(mine, value, recursive=recursive, lists=lists, depth=depth + 1)
        elif isinstance(mine, list) and isinstance(value, list):
            found[key] = _joined(mine, value, lists)
        else:
            found[key] = value
    return found


def _joined(low: list[Any], high: list[Any], how: str) -> list[Any]:
    if how in ("replace", "keep"):
        return high if how == "replace" else low
    if how.endswith("_rp"):
        present = {key_of(entry) for entry in high}
        low = [entry for entry in low if key_of(entry) not in present]
    return low + high if how.startswith("append") else high + low


@_documented(
    "dict2items([key_name, value_name])",
    example="{'a': 1} | dict2items",
    result="[{'key': 'a', 'value': 1}]",
)
def dict2items(
    value: Any, key_name: Any = "key", value_name: Any = "value"
) -> list[dict[str, Any]]:
    """A list of maps with `key` and `value`."""
    value_types.texts("dict2items", key_name, value_name)
    return [
        {key_name: k, value_name: v} for k, v in value_types.mapping("dict2items", value).items()
    ]


@_documented(
    "items2dict([key_name, value_name])",
    example="[{'key': 'a', 'value': 1}] | items2dict",
    result="{'a': 1}",
)
def items2dict(value: Any, key_name: Any = "key", value_name: Any = "value") -> dict[str, Any]:
    """The map from a list such as `dict2items` returns."""
    found = {}
    for entry in value_types.entries("items2dict", value):
        if not isinstance(entry, Mapping) or key_name not in entry or value_name not in entry:
            raise ValueError(f"items2dict takes maps with {key_name!r} and {value_name!r}")
        found[str(entry[key_name])] = entry[value_name]
    return found


@_documented("zip(list, …)", example="['a', 'b'] | zip([1, 2])", result="[['a', 1], ['b', 2]]")
def zip_(first: Any, *more: Any) -> list[list[Any]]:
    """A list of the first entries, a list of the second entries, and so on.

    Up to the length of the shortest.
    """
    lists = [value_types.entries("zip", one) for one in (first, *more)]
    return [list(entry) for entry in zip(*lists, strict=False)]


@_documented(
    "product(list, …)",
    example="['a', 'b'] | product([1, 2])",
    result="[['a', 1], ['a', 2], ['b', 1], ['b', 2]]",
)
def product(first: Any, *more: Any) -> list[list[Any]]:
    """Every combination of the entries of these lists."""
    lists = [value_types.entries("product", one) for one in (first, *more)]
    count = prod(map(len, lists))
    cost_limits.check_size(count, cost_limits.MAX_ITEMS, "the product")
    per_list = (count // len(one) * cost_limits.text_length(one) for one in lists if one)
    cost_limits.check_size(
        sum(per_list), cost_limits.MAX_TEXT, "the product, including its contents,"
    )
    cost_limits.spend(count)
    return [list(entry) for entry in itertools.product(*lists)]


@_documented(
    "flatten([levels])", example="[1, [2, [3]], none] | flatten(levels=1)", result="[1, 2, [3]]"
)
def flatten(value: Any, levels: Any = None, skip_nulls: Any = True) -> list[Any]:
    """Replaces nested lists with their entries, and drops `none`."""
    left = _MAX_DEPTH if levels is None else value_types.whole("flatten", levels)
    return list(_flat(value_types.entries("flatten", value), left, skip_nulls is True))


def _flat(entries: list[Any], left: int, skip: bool) -> Any:
    for entry in entries:
        if isinstance(entry, list | tuple) and left > 0:
            yield from _flat(list(entry), left - 1, skip)
        elif entry is not None or not skip:
            yield entry


@_documented("union(list)", example="[1, 2] | union([2, 3])", result="[1, 2, 3]")
def union(one: Any, other: Any) -> list[Any]:
    """The entries of both lists, each once."""
    found = [*value_types.entries("union", one), *value_types.entries("union", other)]
    return list({key_of(entry): entry for entry in found}.values())


@_documented("intersect(list)", example="[1, 2, 3] | intersect([3, 2])", result="[2, 3]")
def intersect(one: Any, other: Any) -> list[Any]:
    """The entries that are in both lists, each once."""
    wanted = {key_of(entry) for entry in value_types.entries("intersect", other)}
    return _once(value_types.entries("intersect", one), wanted, True)


@_documented("difference(list)", example="[1, 2, 3] | difference([2])", result="[1, 3]")
def difference(one: Any, other: Any) -> list[Any]:
    """The entries that are not in the other list, each once."""
    unwanted = {key_of(entry) for entry in value_types.entries("difference", other)}
    return _once(value_types.entries("difference", one), unwanted, False)


def _once(entries: list[Any], keys: set[str], wanted: bool) -> list[Any]:
    found = {key_of(entry): entry for entry in entries}
    return [entry for key, entry in found.items() if (key in keys) == wanted]


@_documented(
    "symmetric_difference(list)", example="[1, 2] | symmetric_difference([2, 3])", result="[1, 3]"
)
def symmetric_difference(one: Any, other: Any) -> list[Any]:
    """The entries that only one of the lists has, each once."""
    return [*difference(one, other), *difference(other, one)]


@_documented(
    "extract(container[, key, …])",
    example="['a', 'b'] | map('extract', {'a': 1, 'b': 2}) | list",
    result="[1, 2]",
)
@pass_environment
def extract(environment: Any, key: Any, container: Any, *more: Any) -> Any:
    """The entry of the container that has this key.

    More keys lead to a nested entry.
    """
    found = environment.getitem(container, key)
    for step in more:
        for part in step if isinstance(step, list) else [step]:
            found = environment.getitem(found, part)
    return found


@_documented("random([start, step, ]seed=…)", example="59 | random(seed='web1')", result="52")
def random(value: Any, start: Any = 0, step: Any = 1, seed: Any = None) -> Any:
    """A number below the value, or an entry of the list. The same `seed` always gives the same
    result, so use text that differs between hosts, such as `Host.name`.

    Ansible's result for the same seed. Without a seed, each run would return a different value.
    """
    if seed.__class__ not in (str, int):
        raise ValueError(
            "random needs a seed, either text or a whole number, such as seed=Host.name"
        )
    made = Random(seed)
    if isinstance(value, list | tuple | range):
        if not value or (start, step) != (0, 1):
            raise ValueError("random takes a list with entries, without start and step")
        return made.choice(value)
    first, last, width = (value_types.whole("random", one) for one in (start, value, step))
    if width == 0 or not range(first, last, width):
        raise ValueError(f"there is no number from {first} to {last} in steps of {width}")
    return made.randrange(first, last, width)
