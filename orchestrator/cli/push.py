"""``ccm push``: bring hosts to the state that a manifest describes (controller)."""

import argparse

from orchestrator.cli.engine_option import add_engine
from orchestrator.cli.parser import Parser
from orchestrator.cli.rollout_options import add_rollout
from orchestrator.cli.run_output import Output, add_output, read_output
from orchestrator.cli.run_request import read_request
from orchestrator.cli.selection_options import add_selection, add_stage_choice
from orchestrator.cli.shared_options import (
    add_connection,
    add_data,
    add_inventory,
    add_plan_requirements,
    add_run,
)
from orchestrator.project.settings import ConfigScope

HELP = "Bring hosts to the state described in a manifest, or preview the changes with --noop."
EXAMPLE = """
ccm push -i hosts.yaml --noop site.yaml
ccm push change.plan                       # exactly the saved plan
ccm push -i hosts.yaml -l 'web:&prod' --forks 20 site.yaml
ccm push -i hosts.yaml -l failed site.yaml
ccm push -i hosts.yaml --waves 1,10%,100% --max-fail 2 site.yaml
ccm push -i hosts.yaml --verify site.yaml
ccm push -i hosts.yaml --from web release.yaml   # a stages file
ccm push -i hosts.yaml --noop --only 'file#/etc/nginx/*' --tags web site.yaml
"""


def configure(parser: Parser, inventory: bool = True) -> None:
    """Add the options and the manifest; ``inventory`` is whether an inventory is required."""
    parser.add_argument(
        "manifest",
        metavar="MANIFEST",
        help="the manifest, such as site.yaml, a stages file, or a plan file",
    )
    default = "the plan's or the project's" if inventory else ""
    add_inventory(parser, False, fleet=inventory, default=default)
    add_run(parser)
    add_selection(parser)
    add_plan_requirements(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check the hosts after the push, as ccm verify does",
    )
    if inventory:
        add_rollout(parser, gates=True)
        add_engine(parser)
    add_stage_choice(parser)
    add_connection(parser)
    add_data(parser)
    add_output(parser)


def config_scope(args: argparse.Namespace) -> ConfigScope:
    """The scope of the configuration: a plan fixes the hosts and the data, and only a plan can be
    approved.
    """
    from orchestrator.plan_files.plan_detection import is_plan

    if is_plan(args.manifest):
        from orchestrator.plan_files.storage import manifest_of

        return ConfigScope(manifest_of(args.manifest), ("inventory", "hiera"))
    this_host = args.here and not args.limit
    return ConfigScope(args.manifest, ("signers", "inventory") if this_host else ("signers",))


def run(args: argparse.Namespace, command: str = "push") -> int:
    """Check everything, then push."""
    from orchestrator.runs.push import push

    request = read_request(args, command)
    output = Output(read_output(args), request.run)
    return output.exit_code(push(request, output))
