"""``ccm plan check``: denies plans that would do too much, for pipelines (controller)."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from orchestrator.cli.parser import Parser

if TYPE_CHECKING:
    from orchestrator.plan_files.conditions import Condition, Verdict
    from orchestrator.plan_files.plan_file import PlanFile
    from orchestrator.report.dangerous_changes import Dangers

HELP = "Exit with 1 if a plan would make denied changes, such as removals or reboots."
EXAMPLE = """
ccm plan check change.plan --deny 'removes>0,reboots>3'
ccm plan check change.plan --deny 'unknown>0' --deny 'hosts>20' --json
"""
DENIED = 1
_UNCOUNTED = {
    "unknown": "cannot be predicted in full",
    "commands": "would run",
    "left_out": "omitted by the plan",
}
_NOUNS = {"unknown": "resource", "commands": "command", "left_out": "host"}


def configure(parser: Parser) -> None:
    """Add the plan and the conditions."""
    parser.add_argument("plan", metavar="FILE", help="the plan")
    parser.add_argument(
        "--deny",
        metavar="CONDITION,...",
        action="append",
        required=True,
        help="exit with 1 if one of these conditions is true, such as removes>0; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="write one JSON document to stdout")
    parser.add_argument("-v", "--verbose", action="store_true", help="show everything")
    parser.add_argument("-q", "--quiet", action="store_true", help="show denied conditions only")


def run(args: argparse.Namespace) -> int:
    """Count the changes, and write the result."""
    from orchestrator.plan_files.conditions import evaluate, parse_conditions
    from orchestrator.plan_files.counters import counters_of
    from orchestrator.plan_files.storage import read_plan
    from orchestrator.report.dangerous_changes import dangers_in

    conditions = [one for text in args.deny for one in parse_conditions(text, "--deny")]
    plan = read_plan(args.plan)
    verdict = evaluate(counters_of(plan), conditions)
    code = DENIED if verdict.denied else 0
    dangers = dangers_in(plan)
    if args.json:
        import json

        print(json.dumps(_document(plan, verdict, dangers, code)))
    else:
        _write_text(plan, verdict, dangers, args)
    return code


def _document(
    plan: "PlanFile", verdict: "Verdict", dangers: "Dangers", code: int
) -> dict[str, Any]:
    return {
        "plan": plan.id,
        "denied": bool(verdict.denied),
        "exit_code": code,
        "counters": verdict.counters,
        "conditions": [
            {
                "condition": str(one),
                "counter": one.counter,
                "value": verdict.counters[one.counter],
                "denied": one in verdict.denied,
            }
            for one in verdict.conditions
        ],
        "not_counted": {name: verdict.counters[name] for name in verdict.uncounted},
        "dangers": [group.record() for group in dangers.groups()],
    }


def _write_text(
    plan: "PlanFile", verdict: "Verdict", dangers: "Dangers", args: argparse.Namespace
) -> None:
    from orchestrator.report.terminal.style import Style, wrapped

    style = Style.of(sys.stdout)
    if not args.quiet:
        print(f"plan {plan.id}")
    for one in verdict.conditions:
        denied = one in verdict.denied
        if denied or not args.quiet:
            word = style("failed", "denied ") if denied else style("ok", "allowed")
            print(f"{word}  {_told(one, verdict)}")
    if args.quiet:
        return
    for name in verdict.uncounted:
        number = verdict.counters[name]
        noun = f"{_NOUNS[name]}{'s' if number > 1 else ''}"
        text = f"not checked: {number:,} {noun} {_UNCOUNTED[name]}"
        for line in wrapped(f"{text}; to deny such plans:", style.width, f"--deny '{name}>0'"):
            print(style("changed", line))
    danger_lines = list(dangers.lines(style, everything=args.verbose, uncounted=False))
    for line in ["", *danger_lines] if danger_lines else []:
        print(line)


def _told(condition: "Condition", verdict: "Verdict") -> str:
    number = verdict.counters[condition.counter]
    return f"{condition.counter} is {number:,} (--deny '{condition}')"
