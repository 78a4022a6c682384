"""``ccm inventory``: the hosts and values of an inventory (controller). Contacts no host."""

import argparse
import json
import sys
from typing import TYPE_CHECKING

from inventory import Inventory
from inventory.explanation import ExplainedValue
from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import add_inventory, read_inventory
from orchestrator.support.plain_text import value_text
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
        raise UsageError("--limit cannot be combined with --graph or --host", hint="omit --limit")
    loaded = load(args.inventory)
    if args.graph:
        sys.stdout.write(loaded.graph())
    elif args.host:
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


def host_values(loaded: Inventory, name: str) -> str:
    """Every value of a host, aligned, with the position where it is set."""
    host = loaded.host(name)
    lines = [f"{host.name}  (first defined at {host.position})"]
    lines.append(f"groups: {', '.join(host.groups) or '-'}")
    rows = [(e.property, value_text(e.value), _place(e)) for e in loaded.explain(host.name)]
    keys = max(len(row[0]) for row in rows)
    values = min(40, max(len(row[1]) for row in rows))
    lines += [f"  {key:<{keys}}  {value:<{values}}  {place}".rstrip() for key, value, place in rows]
    lines += _unhonoured(loaded, name)
    return "\n".join(lines) + "\n"


def _unhonoured(loaded: Inventory, name: str) -> list[str]:
    """The directives of the SSH configuration for the host that ccm does not support;
    InputError."""
    from orchestrator.transport import Settings
    from orchestrator.transport.route import ignored_directives, unsupported_directives

    host, settings = loaded.host(name), Settings(loaded.hosts)
    lines = [f"  {one.message}  ({one.where})" for one in unsupported_directives(host, settings)]
    if lines:
        lines.insert(0, "SSH configuration that prevents the login:")
    if ignored := ignored_directives(host, settings):
        lines.append("SSH configuration that ccm ignores:")
        lines += [f"  {line.key} {line.value}  ({line.where})" for line in ignored]
    return lines


def _place(explained: ExplainedValue) -> str:
    where = f", {explained.position}" if explained.position else ""
    return f"({explained.origin}{where})"
