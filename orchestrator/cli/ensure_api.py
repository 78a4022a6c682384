"""``ccm ensure api pipe``: one request on stdin, one response for each host (controller)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.default_data import with_default_data
from orchestrator.cli.parser import Parser
from orchestrator.cli.run_output import Output, OutputOptions
from orchestrator.cli.run_request import read_request
from orchestrator.cli.shared_options import (
    add_connection,
    add_data,
    add_diff,
    add_inventory,
    add_run,
)
from orchestrator.support.plain_text import plain

if TYPE_CHECKING:
    from orchestrator.cli.api_responses import Responses
    from orchestrator.manifest.api_request import Request
    from orchestrator.manifest.site import EarlierResults, Site
    from remote_runtime.options import RunOptions

HELP = "Bring one resource to the state that a request on standard input describes."
EXAMPLE = """
ccm ensure api pipe < request.json
ccm ensure api pipe --yaml --noop < request.yaml
ccm ensure api pipe -i hosts.yaml -l web < request.json
"""


def configure(parser: Parser) -> None:
    """Add the options of a run, and the format of the responses."""
    parser.add_argument(
        "action",
        metavar="pipe",
        choices=("pipe",),
        help="read the request from stdin and write the response to stdout",
    )
    parser.add_argument("--yaml", action="store_true", help="write YAML instead of JSON")
    add_diff(parser, "do not create diffs")
    add_inventory(parser, required=False)
    add_run(parser)
    add_connection(parser)
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Answer the request; a problem that prevents it from running is also reported as
    a response.
    """
    from orchestrator.cli.api_responses import Responses
    from orchestrator.cli.app import exit_code_of
    from remote_runtime.errors import CcmError

    responses = Responses(sys.stdout, args.yaml, by_host=args.inventory is not None)
    try:
        return _answer(args, responses)
    except CcmError as error:
        responses.refuse(error)
        return exit_code_of(error)


def _answer(args: argparse.Namespace, responses: Responses) -> int:
    from orchestrator.fleet.store.session_store import session_store
    from orchestrator.manifest.api_request import read_request as read_resource
    from orchestrator.manifest.resource_types import types_beside
    from orchestrator.planning import Planner
    from orchestrator.runs.push import push_resource
    from orchestrator.runs.push_flow import check_request

    request = read_request(args, "ensure")
    request = request._replace(data=with_default_data(request.data))
    check_request(request)
    resource = read_resource(sys.stdin.buffer, types_beside(Path.cwd()))
    store = session_store(request.run.noop)

    def prepare() -> tuple[Site, Planner]:
        """The site of the resource, and its planner."""
        site = _site(resource, store)
        return site, Planner(site, request.data)

    output = _Aside(OutputOptions(quiet=True), request.run)
    result = push_resource(
        request,
        resource.id,
        prepare=prepare,
        reporter=output,
        subscribers=[responses, *([store] if store else [])],
    )
    return output.exit_code(result)


def _site(request: Request, store: EarlierResults | None) -> Site:
    from orchestrator.fleet.store.session_store import BEGIN
    from orchestrator.manifest.adhoc_site import adhoc_site
    from remote_runtime.errors import InputError, Problem

    problems = [
        Problem(f"{key} requires a session", node.position, BEGIN)
        for key in ("require", "subscribe")
        if (node := request.properties.get(key)) is not None and store is None
    ]
    if problems:
        raise InputError(problems)
    return adhoc_site(
        request.type,
        request.name,
        properties=request.properties,
        directory=Path.cwd(),
        earlier=store,
        types=request.types,
    )


class _Aside(Output):
    """Writes nothing to stdout, which is reserved for the responses; warnings go to stderr."""

    def __init__(self, options: OutputOptions, run: RunOptions) -> None:
        super().__init__(options, run)
        self.human = sys.stderr

    def say(self, text: str) -> None:
        """Write a message of the run."""
        if text:
            print(f"ccm: {plain(text)}", file=self.human)

    def say_warning(self, text: str) -> None:
        """Write a warning in the same form as all commands."""
        self.warn(text)

    def on_this_machine(self) -> None:
        """Do nothing, because the program has chosen its hosts."""

    def write_summary(self, run_id: str) -> None:
        """Do nothing, because the responses are the report."""
