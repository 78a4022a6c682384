"""``ccm engine``: setup of schedulers and workers (controller)."""

import argparse

from orchestrator.cli.parser import Parser

HELP = "Create TLS certificates for a Dask scheduler, its workers and ccm."
EXAMPLE = """
ccm engine init
ccm engine init ./paris
dask scheduler --no-dashboard --dashboard-address 127.0.0.1:0 --protocol tls \\
  --tls-ca-file ca.pem --tls-cert scheduler.pem --tls-key scheduler-key.pem
"""


def configure(parser: Parser) -> None:
    """Add the subcommands."""
    actions = parser.add_subcommands()
    init = actions.add_parser(
        "init",
        help="create a CA and certificates for scheduler, worker and client",
        description="Create a CA and certificates for a scheduler, for workers and for ccm. All "
        "holders of these certificates trust each other, so use one CA per trust zone.",
    )
    init.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        help="the directory to write to (default: engine/ in ccm's configuration directory)",
    )


def run(args: argparse.Namespace) -> int:
    """Create the certificates, and print where to copy each of them."""
    from pathlib import Path

    from orchestrator.runs.remote_work import require_dask
    from remote_runtime.errors import UsageError

    require_dask("ccm engine")
    from orchestrator.cluster import certificates

    if args.directory == "":
        raise UsageError(
            "DIR is an empty string", hint="specify a directory, or omit DIR for the default"
        )
    directory = Path(args.directory) if args.directory else certificates.default_directory()
    try:
        certificates.make_authority(directory)
    except OSError as error:
        raise UsageError(
            f"cannot write certificates to {directory}: {error.strerror}",
            hint="specify a writable directory, or a new one",
        ) from error
    print(f"{directory} contains a CA and certificates. Copy these files:")
    for role, where in (
        ("scheduler", "to the scheduler"),
        ("worker", "to each worker"),
        ("client", "to each controller"),
    ):
        print(f"  {where + ':':30}ca.pem {role}.pem {role}-key.pem")
    print("  keep offline:                 ca-key.pem, which signs new certificates")
    return 0
