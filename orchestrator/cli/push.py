"""``ccm push``: make hosts be as a manifest says (controller)."""

import argparse

from orchestrator.cli.options import (
    add_connection,
    add_data,
    add_inventory,
    add_plan_wishes,
    add_run,
    read_plan_wishes,
)
from orchestrator.cli.output import add_output, read_output

HELP = "Make hosts be as a manifest says, or preview that with --noop."
EXAMPLE = """
ccm push -i hosts.yaml --noop site.yaml
ccm push change.plan                       # exactly what ccm plan has kept
ccm push -i hosts.yaml -l 'web:&prod' --forks 20 site.yaml
ccm push -i hosts.yaml -l failed site.yaml
ccm push -i hosts.yaml --verify site.yaml
"""


def configure(parser: argparse.ArgumentParser, inventory: bool = True) -> None:
    """Add the options and the manifest; whether an ``inventory`` is required."""
    parser.add_argument(
        "manifest",
        metavar="MANIFEST",
        help="the manifest, such as site.yaml, or a plan of ccm plan",
    )
    parser.set_defaults(needs_inventory=inventory)
    add_inventory(parser, False, "that of the plan" if inventory else "this host")
    add_run(parser)
    add_plan_wishes(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="look at the hosts again when they are done, as ccm verify does",
    )
    add_connection(parser)
    add_data(parser)
    add_output(parser)


def run(args: argparse.Namespace, command: str = "push") -> int:
    """Check everything, then push."""
    import os

    from orchestrator.cli import assembly, held, planned
    from orchestrator.cli.job import Push
    from orchestrator.cli.pushing import carry_out, check_options, read_push
    from orchestrator.kept_plans.reading import is_plan
    from orchestrator.manifest.identity import identity
    from remote_runtime.errors import UsageError

    options = read_push(args, read_output(args))._replace(verify=args.verify)
    wishes = read_plan_wishes(args)
    if is_plan(args.manifest):
        return held.push_plan(args.manifest, options, wishes, command)
    if wishes.signers is not None or wishes.approvals is not None:
        raise UsageError(
            f"{command}: only a plan is approved, and {args.manifest} is none",
            hint="keep one with ccm plan -o, or leave --signers and --approvals out",
        )
    if args.needs_inventory and options.where.inventory is None:
        raise UsageError(
            f"{command}: -i/--inventory is missing",
            hint=f"name the hosts with -i; for this machine it is ccm apply {args.manifest}",
        )
    if wishes.expect is not None:
        return planned.push_expected(args.manifest, options, wishes.expect, command)
    check_options(options)
    chosen = assembly.choose(options.where, args.manifest)
    site, planner = assembly.planner(args.manifest, options.data._replace(run=options.run))
    path = os.path.abspath(args.manifest)
    push = Push(command, path, site, planner, identity=identity(path))
    return carry_out(push, options, chosen)
