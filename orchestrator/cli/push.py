"""``ccm push``: make hosts be as a manifest says (controller)."""

import argparse

from orchestrator.cli.engine_choice import add_engine, read_engine
from orchestrator.cli.options import (
    add_connection,
    add_data,
    add_inventory,
    add_plan_wishes,
    add_run,
    read_plan_wishes,
)
from orchestrator.cli.output import add_output, read_output
from orchestrator.cli.part_flags import add_selection
from orchestrator.cli.rollout_options import add_rollout, read_rollout
from orchestrator.cli.stages import add_stage_choice, read_stage_choice
from orchestrator.project.settings import Around

HELP = "Make hosts be as a manifest says, or preview that with --noop."
EXAMPLE = """
ccm push -i hosts.yaml --noop site.yaml
ccm push change.plan                       # exactly what ccm plan has kept
ccm push -i hosts.yaml -l 'web:&prod' --forks 20 site.yaml
ccm push -i hosts.yaml -l failed site.yaml
ccm push -i hosts.yaml --waves 1,10%,100% --max-fail 2 site.yaml
ccm push -i hosts.yaml --verify site.yaml
ccm push -i hosts.yaml --from web release.yaml   # a file of stages
ccm push -i hosts.yaml --noop --only 'file#/etc/nginx/*' --tags web site.yaml
"""


def configure(parser: argparse.ArgumentParser, inventory: bool = True) -> None:
    """Add the options and the manifest; whether an ``inventory`` is required."""
    parser.add_argument(
        "manifest",
        metavar="MANIFEST",
        help="the manifest, such as site.yaml, a file of stages, or a plan of ccm plan",
    )
    parser.set_defaults(needs_inventory=inventory)
    default = "that of the plan, or of the project" if inventory else ""
    add_inventory(parser, False, fleet=inventory, default=default)
    add_run(parser)
    add_selection(parser)
    add_plan_wishes(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="look at the hosts again when they are done, as ccm verify does",
    )
    if inventory:
        add_rollout(parser, gates=True)
        add_engine(parser)
    add_stage_choice(parser)
    add_connection(parser)
    add_data(parser)
    add_output(parser)


def around(args: argparse.Namespace) -> Around:
    """A plan has settled where the hosts are and which data there are; only a plan is approved."""
    from orchestrator.kept_plans.recognising import is_plan

    if is_plan(args.manifest):
        from orchestrator.kept_plans.reading import manifest_of

        return Around(manifest_of(args.manifest), ("inventory", "hiera"))
    here = args.here and not args.limit
    return Around(args.manifest, ("signers", "inventory") if here else ("signers",))


def run(args: argparse.Namespace, command: str = "push") -> int:
    """Check everything, then push."""
    import os

    from orchestrator.cli import assembly
    from orchestrator.cli.job import Push
    from orchestrator.cli.pushing import carry_out, check_options, read_push
    from orchestrator.cli.stages import refuse_choice
    from orchestrator.kept_plans.recognising import is_plan
    from orchestrator.manifest.identity import identity
    from orchestrator.rollout.recognising import is_stages
    from remote_runtime.errors import UsageError

    options = read_push(args, read_output(args))._replace(verify=args.verify)
    if args.needs_inventory:
        options = options._replace(rollout=read_rollout(args), engine=read_engine(args))
    wishes = read_plan_wishes(args)
    choice = read_stage_choice(args)
    if is_plan(args.manifest):
        from orchestrator.cli import held

        return held.push_plan(args.manifest, options, wishes=wishes, command=command, choice=choice)
    if wishes.signers is not None or wishes.approvals is not None:
        raise UsageError(
            f"{command}: only a plan is approved, and {args.manifest} is none",
            hint="keep one with ccm plan -o, or leave --signers and --approvals out",
        )
    if args.needs_inventory and options.where.inventory is None:
        raise UsageError(
            f"{command}: -i/--inventory is missing",
            hint="name the hosts with -i, in CCM_INVENTORY or in the project's ccm.yaml;"
            f" for this machine it is ccm apply {args.manifest}",
        )
    if wishes.expect is not None:
        from orchestrator.cli import planned

        return planned.push_expected(
            args.manifest, options, expected=wishes.expect, command=command, choice=choice
        )
    check_options(options)
    chosen = assembly.choose(options.where, args.manifest)
    if is_stages(args.manifest):
        from orchestrator.cli.stages import staged_push

        push = staged_push(command, args.manifest, options=options, chosen=chosen, choice=choice)
        return carry_out(push, options, chosen)
    refuse_choice(choice, command, args.manifest)
    data = options.data._replace(run=options.run)
    site, planner = assembly.planner(args.manifest, data)
    path = os.path.abspath(args.manifest)
    remarks = planner.unmatched
    push = Push(command, path, site, planner, identity=identity(path), remarks=remarks, data=data)
    if options.rollout.canary:
        from orchestrator.cli.canaries import previewed_with_canaries, push_with_canaries

        if not options.run.noop:
            return push_with_canaries(push, options, chosen)
        push = previewed_with_canaries(push, options)
    return carry_out(push, options, chosen)
