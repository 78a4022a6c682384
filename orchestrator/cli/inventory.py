"""``ccm inventory``: the hosts and values of an inventory (controller). Contacts no host."""

import argparse
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.options import add_inventory, read_inventory
from orchestrator.cli.parser import Parser
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from inventory import Host

HELP = "List hosts, show groups as a tree, or show the source of each value of a host."
EXAMPLE = """
ccm inventory -i hosts.yaml
ccm inventory -i hosts.yaml --graph
ccm inventory -i hosts.yaml --host web1
"""


def configure(parser: Parser) -> None:
    """Add the options."""
    add_inventory(parser)
    how = parser.add_exclusive_group()
    how.add_argument("--graph", action="store_true", help="show groups and their hosts as a tree")
    how.add_argument(
        "--host", metavar="HOST", help="show the values of one host and where they are set"
    )
    how.add_argument("--json", action="store_true", help="write one JSON document to stdout")


def run(args: argparse.Namespace) -> int:
    """Write the requested output."""
    from inventory import load
    from orchestrator.runs.wiring import past_runs

    if args.limit and (args.graph or args.host):
        raise UsageError("--limit applies only to the list", hint="omit it")
    loaded = load(args.inventory)
    if args.graph:
        sys.stdout.write(loaded.graph())
    elif args.host:
        from orchestrator.cli.host_values import host_values

        sys.stdout.write(host_values(loaded, args.host))
    else:
        hosts = loaded.select(args.limit, past_runs(read_inventory(args)))
        _write_json(hosts) if args.json else _write_list(hosts)
    return 0


def _write_list(hosts: "list[Host]") -> None:
    width = max(len(host.name) for host in hosts)
    for host in hosts:
        where = "local" if host.connection == "local" else host.address
        where += f":{host.port}" if host.port else ""
        groups = ",".join(host.groups)
        print(
            f"{host.name:<{width}}  {where if where != host.name else '-':<24}  {groups}".rstrip()
        )


def _write_json(hosts: "list[Host]") -> None:
    import json

    document = {
        host.name: {
            "address": host.address,
            "port": host.port,
            "user": host.user,
            "connection": host.connection,
            "become": host.become,
            "groups": list(host.groups),
            "vars": host.vars,
        }
        for host in hosts
    }
    print(json.dumps(document, indent=2, default=str))
