"""``--engine`` (controller)."""

import argparse

from orchestrator.runs.engine_choice import MAX_PROCESSES, MIN_HOSTS, EngineChoice, parse_engine


def add_engine(parser: argparse.ArgumentParser) -> None:
    """``--engine``."""
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        help="engine that runs the hosts: threads of one process; processes[:N], N processes that "
        f"share --forks (default: one per core, at most {MAX_PROCESSES}); dask://HOST:PORT, the "
        f"workers of that scheduler; or auto, which uses processes from {MIN_HOSTS} hosts on "
        "(default: auto)",
    )


def read_engine(args: argparse.Namespace) -> EngineChoice:
    """What ``add_engine`` takes; UsageError."""
    return parse_engine(args.engine, args.resolved["engine"].where)
