"""``ccm drift``: what has come to differ since it was applied, and who did it (controller)."""

import argparse

from orchestrator.cli.engine_choice import add_engine, read_engine
from orchestrator.cli.options import (
    add_bounds,
    add_connection,
    add_data,
    add_inventory,
    add_keeping,
)
from orchestrator.cli.output import add_output, read_output
from orchestrator.cli.part_flags import add_selection

HELP = "Show what has come to differ since the last push of a manifest, and who did it."
EXAMPLE = """
ccm drift -i hosts.yaml site.yaml
ccm drift -i hosts.yaml -l web --json site.yaml
ccm drift -i hosts.yaml --only 'file#/etc/nginx/*' site.yaml
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    add_inventory(parser, required=False, fleet=True)
    add_selection(parser)
    add_bounds(parser)
    add_engine(parser)
    add_keeping(parser)
    add_connection(parser)
    add_data(parser)
    add_output(parser, detailed=False)


def run(args: argparse.Namespace) -> int:
    """Preview, on hosts that remember what was applied last; 4 where something has drifted."""
    import os

    from orchestrator.cli import assembly
    from orchestrator.cli.job import Push
    from orchestrator.cli.pushing import carry_out, check_options, read_push
    from orchestrator.manifest.identity import identity

    options = read_push(args, read_output(args))
    options = options._replace(
        run=options.run._replace(noop=True, drift=True, package_probe=False),
        engine=read_engine(args),
    )
    check_options(options)
    chosen = assembly.choose(options.where, args.manifest)
    data = options.data._replace(run=options.run)
    site, planner = assembly.planner(args.manifest, data)
    path = os.path.abspath(args.manifest)
    remarks = planner.unmatched
    push = Push("drift", path, site, planner, identity=identity(path), remarks=remarks, data=data)
    return carry_out(push, options, chosen)
