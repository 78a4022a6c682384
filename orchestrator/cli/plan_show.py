"""``ccm plan show``: the changes that a plan would make (controller)."""

import argparse
import sys
import time
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser
from orchestrator.cli.report import add_forms, read_forms, write_forms

if TYPE_CHECKING:
    from orchestrator.plan_files.plan_file import PlanFile

HELP = "Show the dangerous changes of a plan, then all changes. An expired plan can also be shown."
EXAMPLE = """
ccm plan show change.plan
ccm plan show change.plan --markdown - > comment.md    # for a merge request
"""
_FORMS = ("html", "markdown")


def configure(parser: Parser) -> None:
    """Add the file and the output formats."""
    parser.add_argument("plan", metavar="FILE", help="the plan")
    parser.add_argument("--no-diff", action="store_false", dest="diff", help="hide diffs")
    parser.add_argument("--json", action="store_true", help="write the plan as JSON")
    add_forms(parser, _FORMS)
    parser.add_argument("-v", "--verbose", action="store_true", help="show everything")


def run(args: argparse.Namespace) -> int:
    """Show the plan."""
    from orchestrator.plan_files.storage import read_plan

    plan = read_plan(args.plan)
    files = read_forms(args)
    write_forms(plan, files)
    if args.json:
        import json

        print(json.dumps(plan.record))
    elif not files:
        _write_text(plan, args.diff, args.verbose)
    return 0


def _write_text(plan: "PlanFile", diff: bool, verbose: bool) -> None:
    from orchestrator.report.dangerous_changes import Dangers
    from orchestrator.report.run_collector import RunCollector
    from orchestrator.report.terminal.resource_rows import DetailLevel
    from orchestrator.report.terminal.style import Style
    from orchestrator.report.terminal.summary import Summary

    collected, dangers = RunCollector(verbose=verbose, dangerous=False), Dangers()
    for event in plan.replay():
        collected.handle(event)
        dangers.handle(event)
    style = Style.of(sys.stdout)
    for line in _head(plan):
        print(line)
    danger_lines = list(dangers.lines(style, everything=verbose))
    for line in ["", *danger_lines] if danger_lines else []:
        print(line)
    Summary(collected, style, DetailLevel(diff, verbose)).write(sys.stdout)


def _head(plan: "PlanFile") -> list[str]:
    from orchestrator.plan_files.plan_file import moment
    from orchestrator.report.summary_texts import part_of
    from orchestrator.support.plain_text import one_line

    part = part_of(plan.about)
    record = plan.shown
    expires = record["expires"]
    word = "valid until" if time.time() < expires else "EXPIRED; was valid until"
    return [
        f"plan {plan.id}",
        one_line(
            f"created by {record['user']} at {moment(record['created'])} with ccm {record['ccm']}"
        ),
        f"{word} {moment(expires)}",
        *([f"part of the manifest: {part}"] if part else []),
    ]
