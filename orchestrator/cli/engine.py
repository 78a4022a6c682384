"""``ccm engine``: what schedulers and workers need (controller)."""

import argparse

HELP = "Make the certificates that a Dask scheduler, its workers and ccm know each other by."
EXAMPLE = """
ccm engine init
ccm engine init ./paris
dask scheduler --no-dashboard --dashboard-address 127.0.0.1:0 --protocol tls \\
  --tls-ca-file ca.pem --tls-cert scheduler.pem --tls-key scheduler-key.pem
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be done."""
    actions = parser.add_subparsers(metavar="ACTION", required=True, dest="action")
    init = actions.add_parser(
        "init",
        help="make a small CA, and certificates of scheduler, worker and client",
        description="Make a small CA, and a certificate for a scheduler, for workers and for ccm "
        "itself. Whoever has one of them is trusted by all others: one CA per zone of trust.",
    )
    init.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        help="where to (default: engine/ in ccm's configuration folder)",
    )


def run(args: argparse.Namespace) -> int:
    """Make the certificates, and say what belongs where."""
    from pathlib import Path

    from orchestrator.runs.remote_work import required
    from remote_runtime.errors import UsageError

    required("ccm engine")
    from orchestrator.cluster import trust

    if args.folder == "":
        raise UsageError("DIR is empty", hint="name a folder, or leave it out for the usual one")
    folder = Path(args.folder) if args.folder else trust.default_folder()
    try:
        trust.make_authority(folder)
    except OSError as error:
        raise UsageError(
            f"certificates cannot be written into {folder}: {error.strerror}",
            hint="name a folder that can be written, or one that is yet to be made",
        ) from error
    print(f"{folder} has a CA and certificates. What belongs where:")
    for role, where in (
        ("scheduler", "the machine of the scheduler"),
        ("worker", "each worker"),
        ("client", "who pushes"),
    ):
        print(f"  {where + ':':30}ca.pem {role}.pem {role}-key.pem")
    print("  kept offline:                 ca-key.pem, which makes more of them")
    return 0
