"""Puts the rooms of the controller together as the command line says (controller)."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from inventory import Host, Inventory, load
from orchestrator.fleet.run_folder import last_failed

if TYPE_CHECKING:
    from orchestrator.transport import Connector


def hosts(args: argparse.Namespace) -> tuple[Inventory, list[Host]]:
    """The inventory, and the hosts that are meant."""
    loaded = load(args.inventory)
    return loaded, loaded.select(args.limit, last_failed)


def connector(
    args: argparse.Namespace,
    inventory: Inventory,
    chosen: Sequence[Host],
    ask: Callable[[str], str],
) -> "Connector":
    """The transport, every password asked for that is known to be needed; contacts no host."""
    from orchestrator.image import build
    from orchestrator.transport import Connector, Credentials, Settings

    settings = Settings(
        inventory.hosts, user=args.user, become=args.become, connect_timeout=args.connect_timeout
    )
    prompt = ask if sys.stdin.isatty() else None
    credentials = Credentials(args.ask_pass, args.ask_become_pass, prompt)
    made = Connector(settings, credentials, build())
    made.prepare(chosen)
    return made
