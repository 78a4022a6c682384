"""``ccm drift``: differences since the last push, and their causes (controller)."""

import argparse

from orchestrator.cli.engine_option import add_engine
from orchestrator.cli.parser import Parser
from orchestrator.cli.run_output import Output, add_output, read_output
from orchestrator.cli.run_request import read_request
from orchestrator.cli.selection_options import add_selection
from orchestrator.cli.shared_options import (
    add_bounds,
    add_connection,
    add_data,
    add_inventory,
    add_retention,
)

HELP = "Show how hosts differ from the last push, and whether the host or the manifest changed."
EXAMPLE = """
ccm drift -i hosts.yaml site.yaml
ccm drift -i hosts.yaml -l web --json site.yaml
ccm drift -i hosts.yaml --only 'file#/etc/nginx/*' site.yaml
"""


def configure(parser: Parser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    add_inventory(parser, required=False, fleet=True)
    add_selection(parser)
    add_bounds(parser)
    add_engine(parser)
    add_retention(parser)
    add_connection(parser)
    add_data(parser)
    add_output(parser, detailed=False)


def run(args: argparse.Namespace) -> int:
    """Preview on hosts, compared with the last applied state; returns 4 if something has
    drifted."""
    from orchestrator.runs.push import drift

    request = read_request(args, "drift")
    output = Output(read_output(args), request.run._replace(noop=True))
    return output.exit_code(drift(request, output))
