"""What YAML 1.1 makes of a scalar's text, with PyYAML's own tables so that both agree.

Two things differ on purpose, because everything that is read ends up as JSON: a date stays the text
that was written, and ``=`` is text. Runs on the controller.
"""

from __future__ import annotations

from typing import Any, cast

import yaml

from inventory.nodes import ScalarKind

Value = str | int | float | bool | None
Resolved = tuple[ScalarKind, Value]

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


MAX_NUMBER = 1000  # characters; what is longer takes far longer to read than to write


class BadScalarError(ValueError):
    """The text is not what its tag says; the message is for people."""


def resolve_plain(text: str) -> Resolved:
    """Kind and value of a scalar without quotes and without a tag."""
    resolvers = _RESOLVERS.get(text[:1])
    if (resolvers is None and not _WILDCARDS) or text.count(".") > 1:
        return "str", text  # no number and no date has two dots, an address does
    for tag, pattern in (resolvers or []) + _WILDCARDS:
        if pattern.match(text):
            return _convert(tag[len(_PREFIX) :], text)
    return "str", text


def resolve_tagged(tag: str, text: str) -> Resolved:
    """Kind and value of a scalar with a tag such as ``!!str``; BadScalarError if unsupported."""
    name = tag[len(_PREFIX) :] if tag.startswith(_PREFIX) else ""
    if tag == "!":
        return "str", text
    if name not in _EXPLICIT:
        raise BadScalarError(f"the tag {show_tag(tag)} is not supported here")
    return _convert(name, text)


def show_tag(tag: str) -> str:
    """A tag as it is written in a document, such as ``!!binary``."""
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
