"""Quickly accepts values that fit their schema (controller).

jsonschema describes the problems of all other values. For a valid manifest, loading jsonschema
would take longer than the rest of the check, so the keywords of our schemas are first evaluated
here, with the same results; the tests compare both. A schema with any other keyword is left to
jsonschema altogether.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

Fits = Callable[[Any], bool]

_SAYS_NOTHING = {
    "$schema", "$defs", "additionalProperties", "default", "description", "else", "examples",
    "then", "title",
}  # fmt: skip
"""Keywords that allow everything by themselves, or that another keyword's reader looks at."""


class _UnknownKeywordError(Exception):
    """The schema contains a keyword that is not supported here."""


def fits(schema: Mapping[str, Any]) -> Fits | None:
    """A check whether a value (plain data, as YAML gives it) is valid; None: jsonschema decides."""
    try:
        return _all(schema, schema.get("$defs", {}), ())
    except _UnknownKeywordError:
        return None


def _all(schema: Any, definitions: Mapping[str, Any], within: tuple[str, ...]) -> Fits:
    if not isinstance(schema, dict):
        raise _UnknownKeywordError

    def reader(below: Any, name: str = "") -> Fits:
        if name in within:
            raise _UnknownKeywordError  # it contains itself
        return _all(below, definitions, (*within, name) if name else within)

    checks: list[Fits] = []
    for keyword, wanted in schema.items():
        if keyword == "$ref":
            name = str(wanted).removeprefix("#/$defs/")
            checks.append(reader(definitions.get(name), name))
        elif keyword in _OF_PARTS:
            checks.append(_OF_PARTS[keyword](wanted, schema, reader))
        elif keyword in _OF_VALUES:
            checks.append(_OF_VALUES[keyword](wanted))
        elif keyword not in _SAYS_NOTHING and not keyword.startswith("x-ccm-"):
            raise _UnknownKeywordError
    if "additionalProperties" in schema and "properties" not in schema:
        checks.append(_properties({}, schema, reader))
    return _every(checks)


def _every(checks: list[Fits]) -> Fits:
    if len(checks) == 1:
        return checks[0]

    return lambda value: all(check(value) for check in checks)


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether it is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Fits] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: type(value) is int or (is_number(value) and value == value // 1),
    "number": is_number,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _type(wanted: Any) -> Fits:
    if isinstance(wanted, str):
        return _TYPES[wanted]
    kinds = [_TYPES[kind] for kind in wanted]
    return lambda value: any(kind(value) for kind in kinds)


def _among(wanted: list[Any]) -> Fits:
    # Of other values jsonschema says that 1 is 1.0 but not true: its own business.
    if not all(isinstance(entry, str) for entry in wanted):
        raise _UnknownKeywordError
    return lambda value: isinstance(value, str) and value in wanted


def _pattern(wanted: str) -> Fits:
    search = re.compile(wanted).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _at_least(kind: type[str] | type[list[Any]] | type[dict[str, Any]], size: int) -> Fits:
    return lambda value: not isinstance(value, kind) or len(value) >= size


def _required(names: list[str]) -> Fits:
    wanted = frozenset(names)
    return lambda value: not isinstance(value, dict) or wanted <= value.keys()


_OF_VALUES: dict[str, Callable[[Any], Fits]] = {
    "type": _type,
    "enum": _among,
    "const": lambda wanted: _among([wanted]),
    "pattern": _pattern,
    "required": _required,
    "minLength": lambda size: _at_least(str, size),
    "maxLength": lambda size: lambda value: not isinstance(value, str) or len(value) <= size,
    "minItems": lambda size: _at_least(list, size),
    "minProperties": lambda size: _at_least(dict, size),
    "minimum": lambda least: lambda value: not is_number(value) or value >= least,
    "maximum": lambda maximum: lambda value: not is_number(value) or value <= maximum,
}
Reader = Callable[..., Fits]


def _items(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    check = reader(wanted)
    return lambda value: not isinstance(value, list) or all(map(check, value))


def _unique(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    # Of other items jsonschema says that 1 is 1.0 but not true: its own business.
    if wanted is not True or schema.get("items", {}).get("type") != "string":
        raise _UnknownKeywordError

    def unique(value: Any) -> bool:
        if not isinstance(value, list):
            return True
        texts = [entry for entry in value if isinstance(entry, str)]
        return len(set(texts)) == len(texts)

    return unique


def _names(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    check = reader(wanted)
    return lambda value: not isinstance(value, dict) or all(map(check, value))


def _properties(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    known = {name: reader(below) for name, below in wanted.items()}
    plain = {name: _class_of(below) for name, below in wanted.items()}
    others = schema.get("additionalProperties", True)
    if isinstance(others, bool):
        other: Fits = lambda value: others  # noqa: E731 - a constant as a function
    else:
        other = reader(others)

    def properties(value: Any) -> bool:
        if isinstance(value, dict):
            for name, entry in value.items():
                if type(entry) is not plain.get(name) and not known.get(name, other)(entry):
                    return False
        return True

    return properties


def _class_of(schema: Any) -> type | None:
    """The class all of whose values fit a schema, where it asks for nothing but a type.

    Most properties do, and a look at a class takes less than a call.
    """
    if isinstance(schema, dict) and set(schema) <= {"type", "description", "default", "title"}:
        return {"string": str, "boolean": bool}.get(str(schema.get("type")))
    return None


def _any_of(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    branches = [reader(branch) for branch in wanted]
    return lambda value: any(branch(value) for branch in branches)


def _one_of(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    branches = [reader(branch) for branch in wanted]
    return lambda value: sum(branch(value) for branch in branches) == 1


def _if(wanted: Any, schema: Mapping[str, Any], reader: Reader) -> Fits:
    condition = reader(wanted)
    then, otherwise = reader(schema.get("then", {})), reader(schema.get("else", {}))
    return lambda value: then(value) if condition(value) else otherwise(value)


_OF_PARTS: dict[str, Callable[[Any, Mapping[str, Any], Reader], Fits]] = {
    "items": _items,
    "uniqueItems": _unique,
    "propertyNames": _names,
    "properties": _properties,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "if": _if,
}
