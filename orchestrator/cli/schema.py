"""``ccm schema``: JSON Schemas for editors and scripts (controller)."""

import argparse
import json

HELP = "Write the JSON Schema of a manifest, an inventory, an event or a plan."
EXAMPLE = """
ccm schema > manifest.schema.json
ccm schema inventory
"""

NAMES = ("manifest", "inventory", "event", "plan")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the name."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        choices=NAMES,
        default=NAMES[0],
        help=f"{', '.join(NAMES[:-1])} or {NAMES[-1]} (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Write one schema to standard output."""
    import schemas
    from orchestrator.manifest.editor_schema import manifest_schema

    schema = manifest_schema() if args.name == "manifest" else schemas.load(args.name)
    print(json.dumps(schema, indent=2, ensure_ascii=False))
    return 0
