"""Asks hosts for their facts, for the commands that change nothing (controller)."""

import argparse
import getpass
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inventory import Host, Inventory
    from orchestrator.fleet.gathered import Gathered
    from remote_runtime.errors import CcmError


def gather(
    args: argparse.Namespace, inventory: "Inventory", hosts: "Sequence[Host]"
) -> "dict[str, Gathered | CcmError]":
    """What each host says, or why it does not; in parallel, until the user interrupts."""
    from orchestrator.cli import assembly
    from orchestrator.cli.signals import Interrupts
    from orchestrator.fleet.descriptors import make_room
    from orchestrator.fleet.fact_run import gather_facts

    make_room(args.forks)
    connector = assembly.connector(args, inventory, hosts, getpass.getpass)
    with connector, Interrupts(lambda: None) as interrupts:
        return gather_facts(hosts, connector, args.forks, interrupts.watch)
