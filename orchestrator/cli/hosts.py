"""``ccm hosts trust``: reads the keys of hosts and writes known_hosts (controller)."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.messages import warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.prompts import terminal_secret
from orchestrator.cli.shared_options import (
    add_connection,
    add_inventory,
    read_connection,
    read_inventory,
)

if TYPE_CHECKING:
    from orchestrator.transport.host_keys.key_trust import ScanFailure, ScannedKey

HELP = "Manage known host keys."
EXAMPLE = """
ccm hosts trust -i hosts.yaml             # shows fingerprints, prompts once
ccm hosts trust -i hosts.yaml -l web3 --replace  # its key has changed
"""


def configure(parser: Parser) -> None:
    """Add the subcommands."""
    actions = parser.add_subcommands()
    trust = actions.add_parser(
        "trust",
        help="add the keys of hosts to known_hosts",
        description="Show the key of every host and add new keys to known_hosts.",
    )
    add_inventory(trust)
    add_connection(trust)
    trust.add_argument("--yes", action="store_true", help="do not prompt")
    trust.add_argument("--replace", action="store_true", help="also replace changed keys")


def run(args: argparse.Namespace) -> int:
    """Scan keys, show them, prompt and write them.

    Exit code 3 if a host showed no key, 2 if there is no terminal, 1 if a key was not written.
    """
    from orchestrator.runs import wiring
    from orchestrator.transport import Credentials, Settings
    from orchestrator.transport.host_keys.key_trust import ScanFailure, ScannedKey, trust
    from orchestrator.transport.host_keys.scanning import scan

    chosen, options = wiring.select_targets(read_inventory(args), warn), read_connection(args)
    settings = Settings(
        chosen.inventory.hosts, user=options.user, connect_timeout=options.connect_timeout
    )
    credentials = Credentials(ask_pass=options.ask_pass, prompt=terminal_secret())
    if options.ask_pass:
        credentials.prepare()
    results = scan(chosen.hosts, settings, credentials, options.forks)
    _show(results)
    keys = [one for one in results if isinstance(one, ScannedKey)]
    changed = [one for one in keys if one.state == "changed"]
    to_trust = [one for one in keys if one.state == "new" or (args.replace and one in changed)]
    code = (
        3 if any(isinstance(one, ScanFailure) or one.state == "revoked" for one in results) else 0
    )
    if changed and not args.replace:
        _refuse(changed)
        code = max(code, 1)
    if not to_trust:
        print("no new keys")
        return code
    if not _confirmed(to_trust, args.yes):
        print("no keys were added")
        return max(code, 1)
    for path in trust(to_trust):
        print(f"written: {path}")
    return code


def _show(results: list[ScannedKey | ScanFailure]) -> None:
    from orchestrator.support.plain_text import plain
    from orchestrator.transport.host_keys.key_trust import ScanFailure
    from orchestrator.transport.host_keys.known_hosts import entry_name, fingerprint

    for one in results:
        if isinstance(one, ScanFailure):
            print(plain(f"{one.label}: {one.error}"), file=sys.stderr)
            continue
        state = one.state.upper() if one.state in ("changed", "revoked") else one.state
        name = entry_name(one.route.key_name, one.route.key_port)
        host = one.route.label if one.route.label == name else f"{one.route.label}  {name}"
        print(plain(f"{state:<9} {host}\n{'':9} {one.fingerprint} {one.key_type}"))
        for line in one.before:
            old = f"{fingerprint(line.blob)} {line.key_type}, in {line.where}"
            print(plain(f"{'':9} replaces {old}"))


def _refuse(changed: list[ScannedKey]) -> None:
    from orchestrator.support.plain_text import plain

    names = list(dict.fromkeys(one.route.label for one in changed))
    keys = "the key of" if len(names) == 1 else "the keys of"
    have = "has" if len(names) == 1 else "have"
    print(
        plain(
            f"not replaced: {keys} {', '.join(names)} {have} changed; find out why, compare both "
            "fingerprints, then use --replace"
        ),
        file=sys.stderr,
    )


def _confirmed(keys: list[ScannedKey], yes: bool) -> bool:
    from remote_runtime.errors import UsageError

    if yes:
        return True
    if not sys.stdin.isatty():
        hint = "compare the fingerprints, then use --yes"
        raise UsageError("cannot prompt without a terminal", hint=hint)
    changed = sum(one.state == "changed" for one in keys)
    warning = f", {changed} of them CHANGED" if changed else ""
    count = f"{len(keys)} host key{'' if len(keys) == 1 else 's'}"
    print(f"Trust {count}{warning}? Compare the fingerprints first. [y/N] ", end="")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
