"""The options that choose a part of a manifest (controller)."""

import argparse
from typing import TYPE_CHECKING

from orchestrator.cli.options import read_data

if TYPE_CHECKING:
    from orchestrator.planning import PlanOptions


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Which resources of a manifest a run is about."""
    group = parser.add_argument_group("part of the manifest")
    group.add_argument(
        "--only",
        metavar="TYPE#GLOB",
        action="append",
        default=[],
        help="select resources by name or alias, such as 'file#/etc/nginx/*'; repeatable",
    )
    group.add_argument(
        "--tags",
        metavar="TAG,...",
        action="append",
        default=[],
        help="select resources with one of these tags; -TAG excludes: --tags=web,-slow",
    )
    group.add_argument(
        "--skip",
        metavar="TYPE#GLOB",
        action="append",
        default=[],
        help="exclude resources; repeatable",
    )


def read_selection(args: argparse.Namespace) -> "PlanOptions":
    """Read the flags of ``add_selection`` and ``add_data``."""
    return read_data(args)
