"""``ccm facts``: the facts of hosts (controller). Changes nothing on the hosts."""

import argparse
from typing import Any

from orchestrator.cli.messages import note, note_this_machine, warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import (
    add_connection,
    add_facts,
    add_inventory,
    read_connection,
    read_data,
    read_inventory,
)

HELP = "Show the facts of hosts, or a single value."
EXAMPLE = """
ccm facts network.default_ipv4                 # of this host
ccm facts -i hosts.yaml -l web1
ccm facts -i hosts.yaml host.info.platformVersion
ccm facts -i hosts.yaml --yaml network.default_ipv4
"""


def configure(parser: Parser) -> None:
    """Add the options and the path."""
    parser.add_argument("path", metavar="PATH", nargs="?", help="a path such as host.info.platform")
    add_inventory(parser, required=False)
    parser.add_argument("--yaml", action="store_true", help="write YAML instead of JSON")
    add_connection(parser)
    add_facts(parser.add_group("data and facts"))


def run(args: argparse.Namespace) -> int:
    """Gather the facts in parallel and write one document that maps hosts to facts."""
    from orchestrator.cli.app import exit_code_of
    from orchestrator.cli.data_output import at_path, check_path, write
    from orchestrator.cli.fact_requests import gather
    from orchestrator.runs import wiring
    from orchestrator.runs.fleet_facts import keep_facts
    from remote_runtime.errors import CcmError, PlanError

    check_path("facts", args.path)
    where = read_inventory(args)
    chosen = wiring.select_targets(where, warn)
    note_this_machine(where)
    overlay = wiring.fact_overlay(read_data(args))
    answers = gather(chosen, read_connection(args))
    by_host: dict[str, Any] = {}
    code = 0
    failed: dict[str, None] = {}
    for host in chosen.hosts:
        answer = answers[host.name]
        try:
            if isinstance(answer, CcmError):
                raise answer
            if chosen.files:
                keep_facts(host, answer, failed)
            facts, warnings = overlay(host, answer)
            for text in warnings:
                note(f"{host.name}: warning: {text}")
            exists, value = at_path("facts", facts, args.path)
            if not exists:
                raise PlanError(f"there is no fact at the path {args.path!r}", "template.undefined")
            by_host[host.name] = value
        except CcmError as error:
            note(f"{host.name}: {error}")
            code = max(code, exit_code_of(error))
    for text in failed:
        warn(text)
    write(by_host, args.yaml)
    return code
