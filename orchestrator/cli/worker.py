"""``ccm worker``: does work for the pushes of others, through a Dask scheduler (worker)."""

import argparse
import sys

from orchestrator.cli.parser import Parser

HELP = "Run as a worker of a Dask scheduler, for the pushes that use it."
EXAMPLE = """
ccm worker --scheduler scheduler.example.net:8786
ccm worker --scheduler scheduler.example.net:8786 --site paris --site lyon
ccm worker --scheduler 127.0.0.1:8786   # no TLS on one machine
"""


def configure(parser: Parser) -> None:
    """Add the scheduler and the sites."""
    parser.add_argument(
        "--scheduler", metavar="HOST:PORT", required=True, help="address of the Dask scheduler"
    )
    parser.add_argument(
        "--site",
        metavar="SITE",
        action="append",
        default=[],
        help="also push to hosts of this site, in addition to those without a site; repeatable",
    )
    parser.add_argument(
        "--tls",
        metavar="DIR",
        help="directory with ca.pem, worker.pem and worker-key.pem; required if the scheduler is "
        "on another machine (default: $CCM_ENGINE_TLS, else engine/ in ccm's configuration "
        "directory)",
    )


def run(args: argparse.Namespace) -> int:
    """Work until a signal arrives; return 3 if the scheduler is lost."""
    from orchestrator.runs.remote_work import require_dask

    require_dask("ccm worker")
    from orchestrator.cluster import certificates, dask_worker

    scheduler = certificates.scheduler_address("--scheduler", args.scheduler)
    address, security = certificates.protected(scheduler, "worker", args.tls)
    sites = f" for {', '.join(args.site)}" if args.site else ""

    def told(own: str) -> None:
        """Print that the worker is connected."""
        print(
            f"ccm: worker {own} connected to {address}{sites}; press Ctrl-C to stop",
            file=sys.stderr,
            flush=True,
        )

    if dask_worker.run(address, security, args.site, told):
        return 0
    text = f"ccm: error: lost the scheduler at {address}; the worker stops\n"
    hint = "     restart both; a service manager with Restart=always does so automatically"
    print(text + hint, file=sys.stderr)
    return 3
