"""``ccm plan diff``: the differences between two plans (controller)."""

import argparse

from orchestrator.cli.parser import Parser

HELP = "Show the differences between two plans by host and resource."
EXAMPLE = "ccm plan diff yesterday.plan change.plan"


def configure(parser: Parser) -> None:
    """Add the two plans."""
    parser.add_argument("first", metavar="A", help="a plan, expired or not")
    parser.add_argument("second", metavar="B", help="the plan to compare with")
    parser.add_argument("--json", action="store_true", help="write one JSON document to stdout")


def run(args: argparse.Namespace) -> int:
    """Write the differences."""
    from orchestrator.cli.diff import write_differences
    from orchestrator.plan_files.storage import read_plan

    first, second = read_plan(args.first), read_plan(args.second)
    if not write_differences(first, second, args.json) and first.id != second.id and not args.json:
        print("but the plan IDs differ: contents, secrets or host identities are not the same")
    return 0
