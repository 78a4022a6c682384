"""``ccm schema``: JSON Schemas for editors and scripts (controller)."""

import argparse
import json
from pathlib import Path

from orchestrator.cli.parser import Parser

HELP = "Print the JSON Schema of manifests or other ccm documents."
EXAMPLE = """
ccm schema > manifest.schema.json
ccm schema inventory
ccm schema type > type.schema.json  # for editing types/NAME/schema.json
"""

NAMES = (
    "manifest", "stages", "inventory", "project", "request", "event", "plan", "kept_plan", "run",
    "type",
)  # fmt: skip
_COMPOSED = ("manifest", "request")


def configure(parser: Parser) -> None:
    """Add the name."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        choices=NAMES,
        default=NAMES[0],
        help=f"the document: {', '.join(NAMES[:-1])} or {NAMES[-1]} (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Write one schema to standard output; those of all types include ``./types``."""
    print(schema_text(args.name), end="")
    return 0


def schema_text(name: str) -> str:
    """The text of a schema, as printed by ``ccm schema``."""
    import schemas
    from orchestrator.manifest.editor_schema import manifest_schema, request_schema
    from orchestrator.manifest.resource_types import types_beside

    if name in _COMPOSED:
        compose = manifest_schema if name == "manifest" else request_schema
        schema = compose(types_beside(Path.cwd()))
    else:
        schema = schemas.load(name)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
