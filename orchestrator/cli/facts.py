"""``ccm facts``: what hosts say about themselves (controller). Changes nothing on them."""

import argparse
import getpass
import json
import sys
from typing import Any

from orchestrator.cli.options import add_connection, add_facts, add_inventory

HELP = "Show the facts of hosts, whole or one value by its path."
EXAMPLE = """
ccm facts -i hosts.yaml -l web1
ccm facts -i hosts.yaml host.info.platformVersion
ccm facts -i hosts.yaml --yaml network.default_ipv4
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options and the path."""
    parser.add_argument("path", metavar="PATH", nargs="?", help="a GJSON path, as in lookup()")
    add_inventory(parser)
    parser.add_argument("--yaml", action="store_true", help="YAML in place of JSON")
    add_connection(parser)
    add_facts(parser.add_argument_group("data and facts"))


def run(args: argparse.Namespace) -> int:
    """Gather in parallel and write one document: host → facts."""
    from orchestrator.cli import assembly
    from orchestrator.cli.app import exit_code_of
    from orchestrator.cli.signals import Interrupts
    from orchestrator.fleet.descriptors import make_room
    from orchestrator.fleet.fact_run import gather_facts
    from orchestrator.fleet.plain_text import plain
    from remote_runtime.errors import CcmError

    make_room(args.forks)
    _chosen({}, args.path)  # a path that cannot be used is told before a host is contacted
    inventory, hosts = assembly.hosts(args)
    overlay = assembly.fact_overlay(args)
    connector = assembly.connector(args, inventory, hosts, getpass.getpass)
    with connector, Interrupts(lambda: None) as interrupts:
        answers = gather_facts(hosts, connector, args.forks, interrupts.watch)
    found: dict[str, Any] = {}
    code = 0
    for host in hosts:
        answer = answers[host.name]
        try:
            if isinstance(answer, CcmError):
                raise answer
            facts, warnings = overlay(host, answer)
            for text in warnings:
                print(f"ccm: {host.name}: warning: {plain(text)}", file=sys.stderr)
            found[host.name] = _chosen(facts, args.path)
        except CcmError as error:
            print(f"ccm: {host.name}: {plain(str(error))}", file=sys.stderr)
            code = max(code, exit_code_of(error))
    _write(found, args.yaml)
    return code


def _chosen(facts: dict[str, Any], path: str | None) -> Any:
    """What stands at the path; None where the host has nothing there."""
    if path is None:
        return facts
    from orchestrator.expressions.paths import MISSING, BadPathError, find, split_path
    from remote_runtime.errors import UsageError

    try:
        _, rest, parts = split_path("facts." + path.removeprefix("facts."))
        value = find(facts, rest, parts)
    except BadPathError as error:
        raise UsageError(str(error), hint="such as host.info.hostname or cpu.info.#") from error
    return None if value is MISSING else value


def _write(found: dict[str, Any], as_yaml: bool) -> None:
    if as_yaml:
        import yaml

        yaml.safe_dump(found, sys.stdout, sort_keys=False, allow_unicode=True)
    else:
        print(json.dumps(found, indent=2, ensure_ascii=False))
