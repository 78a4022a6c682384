"""The flags that pick stages of a stages file (controller)."""

import argparse

from orchestrator.cli.options import read_fields
from orchestrator.runs.request import StageChoice


def add_stage_choice(parser: argparse.ArgumentParser) -> None:
    """Add the options that select stages of a stages file."""
    group = parser.add_argument_group("stages").add_mutually_exclusive_group()
    group.add_argument(
        "--from",
        metavar="STAGE",
        dest="begin",
        help="start with this stage; earlier stages count as done",
    )
    group.add_argument("--stage", metavar="STAGE", help="run only this stage")


def read_stage_choice(args: argparse.Namespace) -> StageChoice:
    """The values of the options of ``add_stage_choice``."""
    return read_fields(StageChoice, args)
