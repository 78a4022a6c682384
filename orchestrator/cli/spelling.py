"""A resource of a manifest as the command line that does the same (controller).

The help and the pages of the types are made with it, so that their examples agree.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from inventory.document import parse_document, to_plain
from orchestrator.cli.property_flags import flags_of
from orchestrator.manifest.types import Type


def example_of(type_: Type) -> list[str]:
    """The example of a type's schema, one command line for each resource in it."""
    text = str(type_.schema.get("x-ccm-example", ""))
    if not text:
        return []
    found = []
    for item in to_plain(parse_document(text, "x-ccm-example")):
        for name, resources in item.items():
            if name == type_.name:
                found += [command_line(type_, *one) for one in named(resources)]
    return found


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
    """The command, quoted for a shell."""
    words = ["ccm", "ensure", type_.name, name]
    if "ensure" in properties:
        words.append(str(properties["ensure"]))
    return shlex.join([*words, *_options(type_, properties)])


def _options(type_: Type, properties: Mapping[str, Any]) -> Iterator[str]:
    flags = {flag.name: flag for flag in flags_of(type_)}
    for key, value in properties.items():
        key = type_.spellings.get(key, key)
        if key in flags:
            option = flags[key].options[0]
            if isinstance(value, bool) and flags[key].shape.kind == "boolean":
                yield option if value else option.replace("--", "--no-", 1)
            else:
                yield from _valued(option, value)
        elif key == "control":
            for word, text in value.items():
                yield from (f"--{word}", text)
        elif key == "health_checks":
            for check in value:
                plain = list(check) == ["command"]
                yield from ("--check", check["command"] if plain else _yaml(check))
        elif key in ("require", "subscribe"):
            yield from _valued(f"--{key}", value)
        elif key == "render" and value is False:
            yield "--no-render"


def _valued(option: str, value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from _valued(option, entry)
    elif isinstance(value, dict):
        yield from (option, _yaml(value))
    else:
        text = value if isinstance(value, str) else _yaml(value)
        yield from ([f"{option}={text}"] if text.startswith("-") else [option, text])


def _yaml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
