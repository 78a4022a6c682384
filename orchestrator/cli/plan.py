"""``ccm plan``: preview a push, and store it as a plan (controller)."""

import argparse
from typing import Any

from orchestrator.cli.engine_option import add_engine
from orchestrator.cli.parser import Parser
from orchestrator.cli.run_output import Output, add_output, read_output
from orchestrator.cli.run_request import read_request
from orchestrator.cli.selection_options import add_selection, add_stage_choice
from orchestrator.cli.shared_options import (
    add_connection,
    add_data,
    add_inventory,
    add_preview,
    add_retention,
    seconds,
)

HELP = "Preview a push and save it as a plan, which ccm push then applies exactly."
EXAMPLE = """
ccm plan -i hosts.yaml site.yaml -o change.plan
ccm plan show change.plan
ccm plan check change.plan --deny 'removes>0,reboots>3'
ccm push change.plan
ccm plan -i hosts.yaml --tags web site.yaml -o web.plan
"""
BELOW = ("show", "check", "diff", "sign")
_DAY = 86_400.0


def configure(parser: Parser) -> None:
    """Add the options of a preview, and the destination of the plan."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, or a stages file")
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        help="write the plan to this file (default: show it without saving it)",
    )
    parser.add_argument(
        "--valid",
        metavar="DURATION",
        type=seconds,
        default=_DAY,
        help="time until the plan expires (default: 24h)",
    )
    add_inventory(parser, False, fleet=True)
    add_selection(parser)
    add_stage_choice(parser)
    add_preview(parser)
    add_engine(parser)
    add_retention(parser)
    add_connection(parser)
    add_data(parser)
    add_output(parser)


def below(words: list[str]) -> tuple[str, Any] | None:
    """The command for an existing plan file, by the first word; None for ``plan`` itself."""
    from importlib import import_module

    if words[:1] and words[0] in BELOW:
        return f"plan {words[0]}", import_module(f"orchestrator.cli.plan_{words[0]}")
    return None


def run(args: argparse.Namespace) -> int:
    """Preview, and save the plan."""
    from orchestrator.plan_files.plan_file import moment
    from orchestrator.plan_files.storage import require_own_file
    from orchestrator.runs.save_plan import save_plan
    from remote_runtime.errors import InputError

    request = read_request(args, "plan")
    request = request._replace(run=request.run._replace(noop=True))
    output = Output(read_output(args), request.run)
    result = save_plan(request, output, out=args.out, valid=args.valid)
    if (plan := result.plan) is not None:
        if args.out is not None:
            until = moment(plan.record["expires"])
            output.say(f"plan saved to {args.out}; valid until {until}")
            try:
                require_own_file(args.out)
            except InputError as error:
                output.say_warning(f"ccm push will refuse this plan: {error}")
        output.human.write(f"{plan.id}\n" if args.quiet else f"plan {plan.id}\n")
    return output.exit_code(result)
