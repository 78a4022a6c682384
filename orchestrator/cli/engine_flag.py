"""``--engine`` (controller)."""

import argparse

from orchestrator.runs.engine_choice import FEWEST, MOST, EngineChoice, parse_engine


def add_engine(parser: argparse.ArgumentParser) -> None:
    """``--engine``."""
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        help="what runs the hosts: threads of one process; processes[:N], N processes that "
        f"divide --forks (default: one per core, at most {MOST}); dask://HOST:PORT, the workers of "
        f"that scheduler; or auto, which takes processes for {FEWEST} hosts and more (default: "
        "auto)",
    )


def read_engine(args: argparse.Namespace) -> EngineChoice:
    """What ``add_engine`` takes; UsageError."""
    return parse_engine(args.engine, args.settled["engine"].where)
