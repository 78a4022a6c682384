"""``ccm docs``: the documentation of a resource type, from its schema (controller)."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser

if TYPE_CHECKING:
    from orchestrator.manifest.resource_types import Type, Types

HELP = "Show the documentation of a resource type, or list all types, including those in ./types."
EXAMPLE = """
ccm docs
ccm docs file
ccm docs cron > docs/cron.md
"""


def configure(parser: Parser) -> None:
    """Add the type."""
    parser.add_argument("type", metavar="TYPE", nargs="?", help="a resource type, such as file")


def run(args: argparse.Namespace) -> int:
    """Write a page, or a line for each type."""
    from orchestrator.cli.command_lookup import entry
    from orchestrator.manifest.adhoc_site import known_type
    from orchestrator.manifest.resource_types import types_beside
    from schemas.tables import fragment

    types = types_beside(Path.cwd())
    if args.type:
        print("\n\n".join(page(known_type(args.type, types=types))))
        return 0
    titles = list(_titles(types))
    column = max(len(name) for name, _ in titles)
    for name, title in titles:
        print(entry(name, fragment(title), column))
    return 0


def _titles(types: "Types") -> Iterator[tuple[str, str]]:
    for name in types.names():
        type_ = types.get(name)
        if type_ is not None:
            yield name, type_.schema["x-ccm-title"]


def page(type_: "Type") -> Iterator[str]:
    """The parts of a type's page: its purpose, an example, its values and properties."""
    from orchestrator.manifest.resource_types import common_schema
    from schemas import tables

    schema = type_.schema
    yield f"# {type_.name}"
    yield schema["x-ccm-title"]
    if "x-ccm-example" in schema:
        yield f"```yaml\n{schema['x-ccm-example'].rstrip()}\n```"
    yield "## Ensure values"
    yield tables.meanings("Value", schema["x-ccm-ensure"])
    yield "## Properties"
    yield tables.properties(schema, schema["x-ccm-name"]["description"])
    yield "## Properties of every resource"
    yield tables.properties(common_schema())
    yield f"Providers, in order of preference: {', '.join(type_.providers)}."
