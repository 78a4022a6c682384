"""``--engine`` (controller)."""

from orchestrator.cli.parser import Parser
from orchestrator.runs.engine_choice import MAX_PROCESSES, MIN_HOSTS


def add_engine(parser: Parser) -> None:
    """``--engine``."""
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        help="how to run the work for hosts: threads, processes[:N] (default: one per core, at "
        f"most {MAX_PROCESSES}), dask://HOST:PORT, or auto, which uses processes for "
        f"{MIN_HOSTS} or more hosts (default: auto)",
    )
