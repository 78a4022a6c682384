"""Writes remarks and warnings to stderr (controller)."""

import sys

from orchestrator.report.terminal.style import marked
from orchestrator.runs.request import HostChoice
from orchestrator.support.plain_text import plain

ON_THIS_MACHINE = "this command runs on this machine only; use -i or -l for other hosts"
"""The first line of output of a command that defaults to this machine, for people only."""


def note(text: str) -> None:
    """Write a remark, wrapped on a terminal."""
    print(marked("ccm: ", plain(text), sys.stderr), file=sys.stderr)


def warn(text: str) -> None:
    """Write a warning about the input."""
    note(f"warning: {text}")


def note_this_machine(hosts: HostChoice) -> None:
    """Report that a command applies to this machine only, because no inventory is set."""
    if hosts.inventory is None:
        note(ON_THIS_MACHINE)
