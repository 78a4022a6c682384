"""``ccm status``: the current state of one resource, here or on hosts (controller)."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from orchestrator.cli.messages import note_this_machine, warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.prompts import terminal_secret
from orchestrator.cli.shared_options import (
    add_connection,
    add_inventory,
    read_connection,
    read_inventory,
)

if TYPE_CHECKING:
    from orchestrator.fleet.outcome import HostResult

HELP = "Show the current state of one resource without changing it."
EXAMPLE = """
ccm status package nginx
ccm status file /etc/motd --json
ccm status package flask --property environment=/srv/venv
ccm status service nginx -i hosts.yaml -l web
"""


def configure(parser: Parser) -> None:
    """Add the resource and the hosts."""
    parser.add_argument("type", metavar="TYPE", help="the resource's type, as in ccm ensure")
    parser.add_argument(
        "name", metavar="NAME", help="the resource's name, such as the path of a file"
    )
    parser.add_argument("--provider", metavar="NAME", help="use this provider")
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property that identifies the resource, such as environment=/srv/venv for a pip "
        "package; repeatable",
    )
    parser.add_argument(
        "--json", action="store_true", help="write one JSON object per host, one per line"
    )
    add_inventory(parser, required=False)
    add_connection(parser)


def run(args: argparse.Namespace) -> int:
    """Read the state on all hosts in parallel, and write a line for each."""
    from orchestrator.cli.ensure import known_type, own_types
    from orchestrator.cli.exit_code import run_exit_code
    from orchestrator.cli.signals import Interrupts
    from orchestrator.fleet import events as run_events
    from orchestrator.fleet.event_bus import Bus, EventCallback
    from orchestrator.fleet.host.host_run import HostRun
    from orchestrator.fleet.open_file_limit import raise_limit
    from orchestrator.fleet.run_settings import RunSettings
    from orchestrator.fleet.sliding_window import run_all
    from orchestrator.fleet.store.run_directory import new_run_id
    from orchestrator.planning import Planner
    from orchestrator.runs import wiring
    from orchestrator.runs.push_flow import user_at_host
    from remote_runtime.options import RunOptions

    connection = read_connection(args)
    raise_limit(connection.forks)
    types = own_types()
    planner = Planner(_site(args, known_type(args.type, types, "status"), types))
    where = read_inventory(args)
    chosen = wiring.select_targets(where, warn)
    planner.see(chosen.inventory)
    if not args.json:
        note_this_machine(where)
    events: dict[str, dict[str, Any]] = {}

    def keep(event: run_events.Event) -> None:
        """Store the event of each host."""
        if isinstance(event, run_events.ResourceEvent):
            events[event.host] = event.event

    bus = Bus([EventCallback(keep)])
    options = RunOptions(noop=True, diff=False, status_only=True)
    settings = RunSettings(new_run_id(), user_at_host(), options)
    sources = planner.site.types.sources()
    connector = wiring.connector(chosen, connection, ask=terminal_secret(), own_types=sources)
    with connector, Interrupts(lambda: None) as interrupts:
        runs = (
            HostRun(host, connector, planner=planner, bus=bus, settings=settings)
            for host in chosen.hosts
        )
        results = run_all(runs, connection.forks, interrupts.watch)
    for host in chosen.hosts:
        _write(results[host.name], events.get(host.name), args)
    return run_exit_code(results.values(), False, False)


def _site(args: argparse.Namespace, type_: Any, types: Any) -> Any:
    from pathlib import Path

    from orchestrator.manifest.adhoc_site import Argument, observed_site, text_node
    from orchestrator.planning.plan_options import assignments

    name = text_node(args.name, Argument("argument NAME", args.name))
    return observed_site(
        type_,
        [name],
        directory=Path.cwd(),
        provider=args.provider or "",
        types=types,
        properties=assignments("--property", args.property) if args.property else {},
    )


def _write(result: HostResult, event: dict[str, Any] | None, args: argparse.Namespace) -> None:
    from orchestrator.support.plain_text import one_line, value_text

    errors = [result.message] if result.message else list(event["error"]) if event else []
    if result.advice and result.message:
        errors[0] = f"{errors[0]} ({result.advice})"
    if args.json:
        print(json.dumps(_document(result, event, errors, args), ensure_ascii=False))
    elif errors or event is None:
        print(f"ccm: {result.host}: {one_line('; '.join(errors))}", file=sys.stderr)
    else:
        properties = [f"{key}={value_text(value)}" for key, value in event["properties"].items()]
        print(one_line("  ".join([result.host, event["final_ensure"], *properties]), 1000))


def _document(
    result: HostResult, event: dict[str, Any] | None, errors: list[str], args: argparse.Namespace
) -> dict[str, Any]:
    document: dict[str, Any] = {"host": result.host, "type": args.type, "name": args.name}
    if errors or event is None:
        return {**document, "error": errors}
    ensure, provider = event["final_ensure"], event["provider"]
    return {**document, "provider": provider, "ensure": ensure, "properties": event["properties"]}
