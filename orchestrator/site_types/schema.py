"""Checks the ``schema.json`` of a type (controller)."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import schemas
from inventory.yaml_document import Mapping, Node, Sequence, parse_document
from remote_runtime.errors import InputError, Position, Problem
from remote_runtime.text.suggestions import nearest


class _Mistake(NamedTuple):
    """A problem of a schema: its position, its text and a hint."""

    path: list[str | int]
    message: str
    hint: str = ""


def read_schema(text: bytes, file: str, problems: list[Problem]) -> dict[str, Any] | None:
    """The schema of a type; None if it is not a JSON object."""
    try:
        schema = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        where = Position(file, error.lineno, error.colno)
        problems.append(Problem(f"invalid JSON: {error.msg}", where, "", "input.schema"))
        return None
    except (UnicodeDecodeError, RecursionError) as error:
        problems.append(Problem(f"invalid JSON: {error}", Position(file, 1, 1)))
        return None
    except _TwiceError as error:
        found: list[Problem] = []
        _nodes(text.decode(), file, found)
        where = Position(file, 1, 1)
        problems += found or [Problem(f"duplicate key {error}", where)]
        return None
    before = len(problems)
    mistakes = _mistakes(schema)
    if mistakes:
        root = _nodes(text.decode(), file, problems)
        for path, message, hint in mistakes:
            problems.append(Problem(message, _where(root, path, file), hint, "input.schema"))
    return schema if isinstance(schema, dict) and len(problems) == before else None


class _TwiceError(Exception):
    """A map contains a key twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise _TwiceError(repr(key))
        entries[key] = value
    return entries


def _mistakes(schema: Any) -> list[_Mistake]:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = Draft202012Validator(schemas.load("type"), format_checker=FormatChecker(["regex"]))
    found = [mistake for error in checker.iter_errors(schema) for mistake in _of_error(error)]
    return found or [*_of_properties(schema), *_of_references(schema)]


def _of_error(error: Any) -> Iterator[_Mistake]:
    if error.context:  # of anyOf: the problem of the best matching branch
        from jsonschema.exceptions import best_match

        error = best_match([error])
    path = list(error.absolute_path)
    if error.validator != "additionalProperties":
        yield _Mistake(path, f"{'.'.join(map(str, path)) or 'the schema'}: {_words(error)}")
        return
    known = list(error.schema.get("properties", {}))
    for key in error.instance:
        if key not in known:
            guess = nearest(key, known)
            hint = f"did you mean {guess}?" if guess else "see 'ccm schema type'"
            yield _Mistake([*path, key], f"unknown keyword {key!r}", hint)


def _words(error: Any) -> str:
    """The message without words of Python and of jsonschema."""
    if error.validator == "required":
        return (
            f"required keyword {error.message.removesuffix(' is a required property')} is missing"
        )
    if error.validator == "const":
        return f"must be {json.dumps(error.validator_value)}"
    if error.validator == "format":
        return f"{error.instance!r} is not a regular expression"
    if error.validator in ("anyOf", "oneOf"):
        return f"{error.instance!r} is not allowed"
    return str(error.message)


def _of_properties(schema: dict[str, Any]) -> Iterator[_Mistake]:
    """Report names that every resource already has, and aliases of unknown properties."""
    taken = {"name", *schemas.load("common")["properties"]}
    for name, entry in schema["properties"].items():
        if name in taken:
            message = f"every resource already has {name!r}"
            yield _Mistake(["properties", name], message, "rename the property")
        other = entry.get("x-ccm-alias-of", name)
        if other not in schema["properties"]:
            message = f"unknown property {other!r}"
            yield _Mistake(["properties", name, "x-ccm-alias-of"], message)


def _of_references(schema: dict[str, Any]) -> Iterator[_Mistake]:
    for path, target in _references(schema, []):
        if target.removeprefix("#/$defs/") not in schema.get("$defs", {}):
            yield _Mistake(path, f"{target} is not defined", "define it under $defs")


def _references(node: Any, path: list[str | int]) -> Iterator[tuple[list[str | int], str]]:
    entries = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in entries:
        if key == "$ref" and isinstance(value, str):
            yield [*path, key], value
        elif isinstance(value, (dict, list)):
            yield from _references(value, [*path, key])


def _nodes(text: str, file: str, problems: list[Problem]) -> Node | None:
    """The document with its positions: JSON is YAML."""
    try:
        return parse_document(text, file, problems)
    except InputError:
        return None


def _where(node: Node | None, path: list[str | int], file: str) -> Position:
    """The position of the value at a path: that of its key if it has one."""
    where = node.position if node else Position(file, 1, 1)
    for step in path:
        if isinstance(node, Mapping) and str(step) in node:
            where = node.key(str(step)).position
            node = node.get(str(step))
        elif isinstance(node, Sequence) and isinstance(step, int):
            node = node.nodes[step]
            where = node.position
        else:
            break
    return where
