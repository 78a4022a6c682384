"""A manifest resource as an equivalent command line (controller).

The help and the pages of the types use it, so that their examples agree.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from inventory.yaml_document import parse_document, to_plain
from orchestrator.cli.property_flags import Flag, flags_of
from orchestrator.manifest.resource_types import Type

WIDTH = 76  # fits 80 columns with the indentation of the help
_INDENT = "    "


def example_of(type_: Type) -> list[str]:
    """The example in a type's schema, with one command line for each resource in it."""
    text = str(type_.schema.get("x-ccm-example", ""))
    if not text:
        return []
    examples = []
    for item in to_plain(parse_document(text, "x-ccm-example")):
        for name, resources in item.items():
            if name == type_.name:
                examples += [command_line(type_, *one) for one in named(resources)]
    return examples


def named(resources: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and properties of each resource below a type, in both forms of a manifest."""
    if isinstance(resources, dict):
        yield resources["name"], {k: v for k, v in resources.items() if k != "name"}
        return
    defaults: dict[str, Any] = {}
    for entry in resources:
        defaults = entry.get("defaults", defaults)
    for entry in resources:
        for name, properties in entry.items():
            if name != "defaults":
                yield name, {**defaults, **(properties or {})}


def command_line(type_: Type, name: str, properties: Mapping[str, Any]) -> str:
    """The command quoted for a shell, on several lines if it is too long for one line."""
    words = ["ccm", "ensure", type_.name, name]
    if "ensure" in properties:
        words.append(str(properties["ensure"]))
    lines = [shlex.join(words)]
    for option in _options(type_, properties):
        text = shlex.join(option)
        if len(lines[-1]) + len(text) < WIDTH and "\n" not in lines[-1] + text:
            lines[-1] += " " + text
        elif len(_INDENT + text) <= WIDTH or "\n" in text:
            lines.append(_INDENT + text)
        else:
            lines += [_INDENT + option[0], *(2 * _INDENT + shlex.quote(w) for w in option[1:])]
    return " \\\n".join(lines)


def _options(type_: Type, properties: Mapping[str, Any]) -> Iterator[list[str]]:
    flags = {flag.name: flag for flag in flags_of(type_)}
    for key, value in properties.items():
        key = type_.spellings.get(key, key)
        if key in flags:
            yield from _flag(flags[key], value)
        elif key == "control":
            yield from ([f"--{word}", text] for word, text in value.items())
        elif key == "health_checks":
            for check in value:
                plain = list(check) == ["command"]
                yield ["--check", check["command"] if plain else _yaml(check)]
        elif key in ("require", "subscribe"):
            yield from (_valued(f"--{key}", entry) for entry in value)
        elif key == "render" and value is False:
            yield ["--no-render"]


def _flag(flag: Flag, value: Any) -> Iterator[list[str]]:
    option = flag.options[0]
    if isinstance(value, bool) and flag.shape.kind == "boolean":
        yield [option if value else option.replace("--", "--no-", 1)]
    elif isinstance(value, list):
        yield from (_valued(option, entry) for entry in value)
    elif isinstance(value, dict) and flag.shape.kind == "map" and _flat(value):
        for key, entry in value.items():
            yield _valued(option, f"{key}={entry if isinstance(entry, str) else _yaml(entry)}")
    else:
        yield _valued(option, value)


def _flat(value: dict[str, Any]) -> bool:
    """Whether every entry can be written as KEY=VALUE and read again as the same value."""
    return all(
        not isinstance(entry, str)
        or (
            re.fullmatch(r"[A-Za-z/][^:#{}\[\]]*", entry) is not None
            and entry.lower() not in ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
        )
        for entry in value.values()
    )


def _valued(option: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else _yaml(value)
    return [f"{option}={text}"] if text.startswith("-") else [option, text]


def _yaml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
