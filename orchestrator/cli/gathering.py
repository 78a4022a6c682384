"""Asks hosts for their facts, for the commands that change nothing (controller)."""

from typing import TYPE_CHECKING

from orchestrator.cli.asking import ask_secret

if TYPE_CHECKING:
    from orchestrator.cli.assembly import Chosen
    from orchestrator.cli.options import ConnectionOptions
    from orchestrator.fleet.gathered import Gathered
    from remote_runtime.errors import CcmError


def gather(chosen: "Chosen", options: "ConnectionOptions") -> "dict[str, Gathered | CcmError]":
    """What each host says, or why it does not; in parallel, until the user interrupts."""
    from orchestrator.cli import assembly
    from orchestrator.cli.signals import Interrupts
    from orchestrator.fleet.descriptors import make_room
    from orchestrator.fleet.fact_run import gather_facts

    make_room(options.forks)
    connector = assembly.connector(chosen, options, ask=ask_secret)
    with connector, Interrupts(lambda: None) as interrupts:
        return gather_facts(chosen.hosts, connector, options.forks, interrupts.watch)
