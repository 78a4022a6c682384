"""The request of a run, from the flags that commands share (controller)."""

import argparse

from orchestrator.cli.options import (
    read_connection,
    read_data,
    read_inventory,
    read_keeping,
    read_run,
)
from orchestrator.runs.request import RunRequest


def read_request(args: argparse.Namespace, command: str) -> RunRequest:
    """What the flags of push, apply, plan, drift, run, fetch and ensure have in common."""
    return RunRequest(
        command=command,
        hosts=read_inventory(args),
        data=read_data(args),
        run=read_run(args),
        connection=read_connection(args),
        keep=read_keeping(args),
    )
