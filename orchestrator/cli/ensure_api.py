"""``ccm ensure api pipe``: one request on stdin, one response for each host (controller)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.options import add_connection, add_data, add_inventory, add_run
from orchestrator.cli.output import Output

if TYPE_CHECKING:
    from orchestrator.cli.responses import Responses
    from orchestrator.manifest.request import Request
    from orchestrator.manifest.site import Earlier, Site

HELP = "Make one resource be as a request on standard input says, for programs."
EXAMPLE = """
ccm ensure api pipe < request.json
ccm ensure api pipe --yaml --noop < request.yaml
ccm ensure api pipe -i hosts.yaml -l web < request.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run, and the form of the responses."""
    parser.add_argument("action", metavar="pipe", choices=("pipe",), help="stdin to stdout")
    parser.add_argument("--yaml", action="store_true", help="YAML in place of JSON")
    parser.add_argument("--no-diff", action="store_true", help="make no diffs")
    parser.add_argument(
        "--diff-private",
        action="store_true",
        help="make diffs of files that others may not read, too",
    )
    add_inventory(parser, required=False)
    add_run(parser)
    add_connection(parser)
    add_data(parser)
    parser.set_defaults(
        json=False, events=None, metrics=None, verbose=False, quiet=True, detailed_exitcode=False
    )


def run(args: argparse.Namespace) -> int:
    """Answer the request; whatever keeps it from being tried is an answer too."""
    from orchestrator.cli.app import exit_code_of
    from orchestrator.cli.responses import Responses
    from remote_runtime.errors import CcmError

    responses = Responses(sys.stdout, args.yaml, by_host=args.inventory is not None)
    try:
        return _answer(args, responses)
    except CcmError as error:
        responses.refuse(error)
        return exit_code_of(error)


def _answer(args: argparse.Namespace, responses: Responses) -> int:
    from orchestrator.cli import assembly
    from orchestrator.cli.ensure import own_types
    from orchestrator.cli.pushing import Push, carry_out, check_options
    from orchestrator.fleet.event_store import session_store
    from orchestrator.manifest.request import read_request
    from orchestrator.planning import Planner, PlanOptions

    check_options(args)
    request = read_request(sys.stdin.buffer, own_types())
    store = session_store(args.noop)
    inventory, hosts = assembly.hosts(args)
    site = _site(request, store)
    options = PlanOptions(
        args.hiera, args.data, args.facts, args.fact, registration=args.registration
    )
    push = Push(
        "ensure",
        request.id,
        site,
        Planner(site, options),
        kept=args.inventory is not None,
        told=[responses, *([store] if store else [])],
    )
    return carry_out(push, args, inventory, hosts, _Aside(args))


def _site(request: Request, store: Earlier | None) -> Site:
    from orchestrator.fleet.event_store import BEGIN
    from orchestrator.manifest.adhoc import adhoc_site
    from remote_runtime.errors import InputError, Problem

    found = [
        Problem(f"{key} names a resource of a session, and there is none", node.position, BEGIN)
        for key in ("require", "subscribe")
        if (node := request.properties.get(key)) is not None and store is None
    ]
    if found:
        raise InputError(found)
    return adhoc_site(
        request.type,
        request.name,
        request.properties,
        Path.cwd(),
        earlier=store,
        types=request.types,
    )


class _Aside(Output):
    """Keeps out of stdout, which is the responses'; warnings go to stderr."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args, "", args.noop)
        self.human = sys.stderr

    def say(self, text: str) -> None:
        """Write a warning."""
        if text:
            print(f"ccm: {text}", file=self.human)

    def summary(self, kept: str) -> None:
        """The responses say it all."""
