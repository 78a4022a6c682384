"""Gathers facts of hosts, for commands that change nothing (controller)."""

from typing import TYPE_CHECKING

from orchestrator.cli.prompts import terminal_secret

if TYPE_CHECKING:
    from orchestrator.fleet.host.fact_run import Require
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.runs.request import ConnectionOptions
    from orchestrator.runs.wiring import TargetSelection
    from remote_runtime.errors import CcmError


def gather(
    chosen: "TargetSelection",
    options: "ConnectionOptions",
    require: "Require" = lambda host, gathered: None,
) -> "dict[str, HostFacts | CcmError]":
    """The facts of each host, or the error. Hosts are queried in parallel until the user
    interrupts.

    ``require`` raises NeedAnswersError for lookups that a host must answer.
    """
    from orchestrator.cli.signals import Interrupts
    from orchestrator.fleet.host.fact_run import gather_facts
    from orchestrator.fleet.open_file_limit import raise_limit
    from orchestrator.runs import wiring

    raise_limit(options.forks)
    connector = wiring.connector(chosen, options, ask=terminal_secret())
    with connector, Interrupts(lambda: None) as interrupts:
        return gather_facts(
            chosen.hosts, connector, forks=options.forks, watch=interrupts.watch, require=require
        )
