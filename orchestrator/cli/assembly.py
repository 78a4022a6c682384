"""Puts the rooms of the controller together as the command line says (controller)."""

import argparse

from inventory import Host, Inventory, load
from orchestrator.fleet.run_folder import last_failed


def hosts(args: argparse.Namespace) -> tuple[Inventory, list[Host]]:
    """The inventory, and the hosts that are meant."""
    loaded = load(args.inventory)
    return loaded, loaded.select(args.limit, last_failed)
