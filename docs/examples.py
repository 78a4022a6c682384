"""The first example of a type's page, in the other forms that the same resources have (controller).

A page shows its example as a manifest; the command line and the request below it are made of that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from inventory.yaml_document import parse_document, to_plain
from orchestrator.cli.example_commands import command_line, named
from orchestrator.manifest.api_request import PROTOCOL
from orchestrator.manifest.declared_resource import ABSENT
from orchestrator.manifest.resource_types import Type, load_type

_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SESSION = 'eval "$(ccm session new)"'


def resources_of(page: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Type, name and properties of each resource in the first example of a page."""
    for type_, name, properties in _read(page):
        yield type_.name, name, properties


def _read(page: str) -> Iterator[tuple[Type, str, dict[str, Any]]]:
    found = _YAML.search(page)
    document: Any = to_plain(parse_document(found[1], "example")) if found else []
    if isinstance(document, dict):
        document = document["ccm"]["resources"]
    for item in document:
        for type_name, resources in item.items():
            type_ = load_type(type_name)
            if type_ is None:
                raise ValueError(f"there is no type {type_name}")
            for name, properties in named(resources):
                yield type_, name, _meant(type_, properties)


def _meant(type_: Type, properties: dict[str, Any]) -> dict[str, Any]:
    """Without what `defaults` gave and means nothing where the resource is to be absent."""
    if properties.get("ensure") != ABSENT:
        return properties
    known = type_.properties
    return {
        k: v for k, v in properties.items() if k not in known or ABSENT not in known[k].not_with
    }


def command_lines(page: str) -> str:
    """The block of commands that do what the first example does."""
    lines: list[str] = []
    for type_, name, properties in _read(page):
        if {"require", "subscribe"} & properties.keys() and _SESSION not in lines:
            lines.insert(0, _SESSION)
        lines.append(command_line(type_, name, properties))
    return "```sh\n" + "\n".join(lines) + "\n```"


def api_request(type_name: str, page: str) -> str:
    """The block of a request for the resource of the type that has most to say.

    What it requires or subscribes to is left out: a request by itself has no other resources.
    """
    own = [entry for entry in resources_of(page) if entry[0] == type_name]
    _, name, properties = max(own, key=lambda entry: len(entry[2]))
    left = {k: v for k, v in properties.items() if k not in ("require", "subscribe")}
    request = {"protocol": PROTOCOL, "type": type_name, "properties": {"name": name, **left}}
    return f"```json\n{json.dumps(request, indent=2, ensure_ascii=False)}\n```"
