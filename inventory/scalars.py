"""Resolves the text of a scalar in YAML (controller).

``resolve_plain`` is YAML 1.2's core schema: ``true``/``false``, ``null``/``~``, decimal, ``0o`` and
``0x`` numbers, floats. A decimal number with a leading zero is text, because YAML 1.1 reads it as
octal. ``resolve_yaml11`` is for Ansible's files, with PyYAML's own tables. Dates and ``=`` are text
in both, because all data is eventually written as JSON.
"""

import math
import re
from collections.abc import Callable
from typing import Any, cast

import yaml

from inventory.document_nodes import ScalarKind

Value = str | int | float | bool | None
Resolved = tuple[ScalarKind, Value]
Resolver = Callable[[str], Resolved]

_PREFIX = "tag:yaml.org,2002:"
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_WILDCARDS = _RESOLVERS.get(None, [])
_constructor = yaml.constructor.SafeConstructor()
_CONVERT = {
    "int": _constructor.construct_yaml_int,
    "float": _constructor.construct_yaml_float,
    "bool": _constructor.construct_yaml_bool,
}
_EXPLICIT = {"str", "int", "float", "bool", "null", "timestamp"}

_WORDS: dict[str, Resolved] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
}
_NUMBER = re.compile(
    r"(?P<int>[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+)"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?(?P<inf>\.(?:inf|Inf|INF))|(?P<nan>\.(?:nan|NaN|NAN))"
)
NUMBER_STARTS = "-+.0123456789"
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")

MAX_NUMBER = 1000  # characters; longer numbers take much longer to parse


class BadScalarError(ValueError):
    """The text does not match its tag; the message is for the user."""


def resolve_plain(text: str) -> Resolved:
    """Kind and value of a scalar without quotes and tag, according to YAML 1.2's core schema."""
    if text[:1] not in NUMBER_STARTS or not text:
        return _WORDS.get(text, ("str", text))
    match = _NUMBER.fullmatch(text)
    if match is None or _LEADING_ZERO.fullmatch(text):
        return "str", text
    if len(text) > MAX_NUMBER:
        kind = "int" if match["int"] else "float"
        raise BadScalarError(f"{text[:40]!r} cannot be read as {kind}: it is too long")
    if match["int"]:
        return "int", int(text, 0)
    if match["nan"]:
        return "float", float("nan")
    if match["inf"]:
        return "float", float(text.replace(".", "").lower())
    value = float(text)
    if math.isinf(value):
        raise BadScalarError(f"{text[:40]!r} cannot be read as float: it is too large")
    return "float", value


def resolve_yaml11(text: str) -> Resolved:
    """Kind and value of the same scalar according to YAML 1.1, as in PyYAML's safe loader."""
    resolvers = _RESOLVERS.get(text[:1])
    if (resolvers is None and not _WILDCARDS) or text.count(".") > 1:
        return "str", text  # no number and no date has two dots, an address does
    for tag, pattern in (resolvers or []) + _WILDCARDS:
        if pattern.match(text):
            return _convert(tag[len(_PREFIX) :], text)
    return "str", text


def other_reading(text: str) -> str:
    """Return the YAML 1.1 reading of text in the core schema, as text; "" if that is also text."""
    try:
        kind, value = resolve_yaml11(text)
    except BadScalarError:
        return "a number"
    if kind == "str":
        return ""
    return "a date" if kind == "timestamp" else str(value).lower()


def resolve_tagged(tag: str, text: str, resolve: Resolver = resolve_plain) -> Resolved:
    """Kind and value of a scalar with a tag such as ``!!str``; BadScalarError if unsupported.

    ``resolve`` reads the text if the tag is not that of text.
    """
    name = tag[len(_PREFIX) :] if tag.startswith(_PREFIX) else ""
    if tag == "!":
        return "str", text
    if name not in _EXPLICIT:
        raise BadScalarError(f"the tag {show_tag(tag)} is not supported")
    if resolve is resolve_yaml11 or name in ("null", "str", "timestamp"):
        return _convert(name, text)
    kind, value = resolve(text)
    if name == "float" and kind == "int" and isinstance(value, int):
        try:
            return "float", float(value)
        except OverflowError as error:
            raise BadScalarError(f"{text[:40]!r} cannot be read as float") from error
    if kind != name:
        raise BadScalarError(f"{text[:40]!r} cannot be read as {name}")
    return kind, value


def show_tag(tag: str) -> str:
    """Return a tag in the form of a document, such as ``!!binary``."""
    return "!!" + tag[len(_PREFIX) :] if tag.startswith(_PREFIX) else tag


def _convert(name: str, text: str) -> Resolved:
    if name == "null":
        return "null", None
    convert = _CONVERT.get(name)
    if convert is None:
        return ("timestamp" if name == "timestamp" else "str"), text
    if len(text) > MAX_NUMBER:
        raise BadScalarError(f"{text[:40]!r} cannot be read as {name}: it is too long")
    node = yaml.ScalarNode(_PREFIX + name, text)
    try:
        value: Any = convert(node)
    except (ValueError, KeyError, IndexError) as error:
        raise BadScalarError(f"{text[:40]!r} cannot be read as {name}") from error
    return cast(ScalarKind, name), value
