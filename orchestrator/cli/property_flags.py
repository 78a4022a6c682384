"""The flags of a resource's properties, from the schema of its type (controller)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, NamedTuple

from inventory import yaml_document
from inventory.yaml_document import Node, Scalar, Sequence
from orchestrator.cli.parser import OptionGroup
from orchestrator.manifest.adhoc_site import Argument, text_node
from orchestrator.manifest.resource_types import Type
from remote_runtime.errors import InputError, Problem

# Properties with flags of their own, see ``common_flags``; ensure follows the name.
_APART = (
    "ensure", "tags", "control", "foreach", "require", "subscribe", "health_checks", "render",
)  # fmt: skip
# These have the same meaning in every command; a property with such a name is --TYPE-PROPERTY.
RESERVED = {
    "if", "unless", "require", "subscribe", "check", "no-render", "help", "inventory", "limit",
    "noop", "data", "fact", "facts", "hiera", "json",
}  # fmt: skip
_DEST = "property."


class Shape(NamedTuple):
    """The values that a schema accepts: text, boolean, value (any YAML scalar), list, map or either
    (a string or a map); ``below`` is the schema of the elements.
    """

    kind: str
    below: Mapping[str, Any]
    words: tuple[str, ...] = ()


class Flag(NamedTuple):
    """One property on the command line; the first of ``options`` is the documented one.

    ``more`` has additional flags for it, from ``x-ccm-flags``.
    """

    name: str
    options: tuple[str, ...]
    shape: Shape
    description: str
    definitions: Mapping[str, Any]
    more: Mapping[str, str]

    def options_for(self, way: str) -> list[str]:
        """The additional flags that work in this way."""
        return [option for option, kind in self.more.items() if kind == way]

    @property
    def dest(self) -> str:
        """The attribute for its value in the parser, a name that no option of a command uses."""
        return _DEST + self.name


def flags_of(type_: Type) -> list[Flag]:
    """The flags for all properties of a type, with the common ones last."""
    own = type_.schema.get("properties", {})
    names = [*own, *(name for name in type_.properties if name not in own)]
    flags = []
    for name in names:
        kind = type_.properties[name]
        if kind.alias_of or name in _APART:
            continue
        spellings = [name, *(other for other, of in type_.spellings.items() if of == name)]
        options = tuple(_option(type_, spelling) for spelling in spellings)
        text = str(kind.schema.get("description", ""))
        shape = shape_of(kind.schema, kind.definitions)
        more = kind.schema.get("x-ccm-flags", {})
        flags.append(
            Flag(
                name,
                options,
                shape=shape,
                description=text,
                definitions=kind.definitions,
                more=more,
            )
        )
    return flags


def _option(type_: Type, name: str) -> str:
    word = name.replace("_", "-")
    return f"--{type_.name}-{word}" if word in RESERVED else f"--{word}"


def shape_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Shape:
    """The values that a schema accepts, for the command line."""
    if "$ref" in schema:
        return shape_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    shapes = [s for s in (shape_of(b, definitions) for b in branches) if s.kind != "value"]
    if shapes:
        alike = len({shape.kind for shape in shapes}) == 1
        return shapes[0] if alike else Shape("either", schema)
    types = schema.get("type", ())
    kinds = {types} if isinstance(types, str) else set(types)
    words = tuple(str(word) for word in schema.get("enum", ()))
    if "array" in kinds:
        return Shape("list", schema.get("items", {}))
    if "object" in kinds:
        return Shape("either" if "string" in kinds else "map", schema)
    if "string" in kinds or words or "const" in schema:
        return Shape("text", schema, words)
    return Shape("boolean" if kinds == {"boolean"} else "value", schema)


def add_flag(group: OptionGroup, flag: Flag) -> None:
    """Add the property to a parser."""
    text = flag.description.replace("`", "").replace("%", "%%")
    settings: dict[str, Any] = {"dest": flag.dest, "default": None, "help": text}
    options = [*flag.options, *flag.options_for("same")]
    one_of = group.add_exclusive_group() if flag.more else group
    for option in flag.options_for("off"):
        turned = {"action": "store_const", "const": False, "help": f"as --no-{flag.name}"}
        one_of.add_argument(option, **{**settings, **turned})
    for option in flag.options_for("file"):
        named = {
            "type": text_of,
            "metavar": "FILE",
            "help": f"{flag.name} from a text file on the controller",
        }
        one_of.add_argument(option, **{**settings, **named})
    if flag.shape.kind == "boolean":
        one_of.add_argument(*options, action=argparse.BooleanOptionalAction, **settings)
        return
    settings["metavar"] = metavar(flag.shape)
    repeated = flag.shape.kind in ("list", "map")
    if repeated:
        settings["help"] = f"{text.rstrip('.')}; repeatable."
    one_of.add_argument(*options, action="append" if repeated else "store", **settings)


def text_of(path: str) -> str:
    """The text of a file on the controller."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{path!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        message = f"{path!r} is not UTF-8 text; --source copies any file"
        raise argparse.ArgumentTypeError(message) from error


def read_flag(args: argparse.Namespace, flag: Flag) -> Node | None:
    """The property as in a manifest, None if it is not set; InputError."""
    value = getattr(args, flag.dest)
    return value if value is None else node_of(value, flag.options[0], flag.shape, flag.definitions)


def metavar(shape: Shape) -> str:
    """The placeholder of the value in the help."""
    if shape.words and len(shape.words) < 5:
        return "{" + ",".join(shape.words) + "}"
    if shape.kind == "list" and "type" not in shape.below and "anyOf" not in shape.below:
        return "YAML"
    if shape.kind == "list" and shape.below.get("type") == "object":
        return "KEY=VALUE"
    names = {"map": "KEY=VALUE", "value": "VALUE", "either": "TEXT|YAML"}
    return names.get(shape.kind, "TEXT")


def node_of(value: Any, option: str, shape: Shape, definitions: Mapping[str, Any]) -> Node:
    """The value of a flag as a manifest node; InputError."""
    label = f"argument {option}"
    if isinstance(value, bool):
        return Scalar(
            Argument(label, ""),
            1,
            column=1,
            text=str(value).lower(),
            kind="bool",
            value=value,
            plain=True,
        )
    if shape.kind == "list":
        return _list(value, label, shape_of(shape.below, definitions), definitions)
    if shape.kind == "map":
        return _map(value, label, shape.below, definitions)
    return _single(value, label, shape)


def _single(value: str, label: str, shape: Shape) -> Node:
    source = Argument(label, value)
    template = value.startswith("{{") or "${ " in value
    is_yaml = not template and (value[:1] in ("{", "[") if shape.kind == "either" else value != "")
    if shape.kind in ("text", "boolean") or not is_yaml:
        return text_node(value, source)
    node = yaml_document.parse_document(value, label)
    if isinstance(node, Scalar):
        return Scalar(
            source, 1, column=1, text=node.text, kind=node.kind, value=node.value, plain=node.plain
        )
    return node


def _list(values: list[str], label: str, item: Shape, definitions: Mapping[str, Any]) -> Node:
    sequence = Sequence(Argument(label, ""), 1, 1)
    for value in values:
        if value.startswith("[") and value.endswith("]"):
            below = yaml_document.parse_document(value, label)
            sequence.nodes += below.nodes if isinstance(below, Sequence) else [below]
        elif item.kind == "map" and not value.startswith("{"):  # a map of one pair
            sequence.nodes.append(_map([value], label, item.below, definitions))
        else:
            sequence.nodes.append(_single(value, label, item))
    return sequence


def _map(
    values: list[str], label: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> Node:
    mapping = yaml_document.Mapping(Argument(label, ""), 1, 1)
    additional = schema.get("additionalProperties")
    for value in values:
        if value.startswith("{") and not value.startswith("{{"):
            node = yaml_document.parse_document(value, label)
            if isinstance(node, yaml_document.Mapping):
                mapping.entries.update(node.entries)
            continue
        also = schema.get("x-ccm-pair", "=")
        found_at = {value.find(sign): sign for sign in ("=", also) if sign in value}
        key, equals, text = value.partition(found_at[min(found_at)] if found_at else "=")
        text = text if equals == "=" else text.strip()
        if not key or not equals:
            raise InputError([_not_a_pair(label, value)])
        below = schema.get("properties", {}).get(key, additional)
        shape = shape_of(below, definitions) if isinstance(below, Mapping) else Shape("value", {})
        mapping.entries[key] = (text_node(key, Argument(label, value)), _single(text, label, shape))
    return mapping


def _not_a_pair(label: str, value: str) -> Problem:
    hint = "repeat the option with KEY=VALUE, or use a YAML map in braces"
    where = Argument(label, value).position(1, 1)
    # The value is not shown: it may be a header with a password in it.
    return Problem("expected KEY=VALUE, found no =", where, hint, "input.type")
