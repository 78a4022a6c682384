"""``ccm push``: make hosts be as a manifest says (controller)."""

import argparse
import os
import socket
from typing import Any

from orchestrator.cli.options import add_connection, add_data, add_inventory, seconds
from orchestrator.cli.output import add_output

HELP = "Make hosts be as a manifest says, or preview that with --noop."
EXAMPLE = """
ccm push -i hosts.yaml --noop site.yaml
ccm push -i hosts.yaml -l 'web:&prod' --forks 20 site.yaml
ccm push -i hosts.yaml -l failed site.yaml
"""

# What the folder of a run keeps of the command line; nothing in it may be secret.
_KEPT = [
    "inventory",
    "limit",
    "noop",
    "monitor_only",
    "forks",
    "user",
    "become",
    "connect_timeout",
    "timeout",
    "lock_timeout",
    "hiera",
    "facts",
    "no_diff",
    "diff_private",
]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options and the manifest."""
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    add_inventory(parser)
    parser.add_argument("--noop", action="store_true", help="change nothing, say what would change")
    parser.add_argument(
        "--monitor-only", action="store_true", help="only run the health checks of the resources"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=0.0,
        help="how long one host may take in all (default: no limit)",
    )
    parser.add_argument(
        "--lock-timeout",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="how long to wait for another push on a host (default: 60)",
    )
    add_connection(parser)
    add_data(parser)
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Check everything, then push."""
    from orchestrator.cli import assembly
    from orchestrator.cli.output import Output
    from orchestrator.cli.running import Job, carry_out
    from orchestrator.fleet.descriptors import make_room
    from orchestrator.fleet.run_folder import new_run_id
    from orchestrator.fleet.settings import Settings

    make_room(args.forks)
    output = Output(args, _title(args), args.noop)
    inventory, hosts = assembly.hosts(args)
    site, planner = assembly.planner(args)
    settings = Settings(
        new_run_id(),
        _user(),
        args.noop,
        args.monitor_only,
        not args.no_diff,
        args.diff_private,
        args.timeout,
        args.lock_timeout,
    )
    output.prepare()
    connector = assembly.connector(args, inventory, hosts, output.ask, site.types.sources())
    for text in site.warnings:
        output.say(f"warning: {text}")
    output.say(site.pre_message)
    manifest = os.path.abspath(args.manifest)
    job = Job(
        manifest, hosts, connector, planner, settings, args.forks, _options(args),
        args.detailed_exitcode, args.json,
    )  # fmt: skip
    with connector:
        code = carry_out(job, output)
    output.say(site.post_message)
    return code


def _title(args: argparse.Namespace) -> str:
    name = os.path.basename(args.manifest)
    return f"preview of {name}" if args.noop else f"push of {name}"


def _user() -> str:
    """Who pushes, as others on the host read it in the lock."""
    import pwd

    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"


def _options(args: argparse.Namespace) -> dict[str, Any]:
    kept = {name: getattr(args, name) for name in _KEPT}
    # Values of --data and --fact may be secret, their names are not.
    kept["data"] = [text.partition("=")[0] for text in args.data]
    kept["fact"] = [text.partition("=")[0] for text in args.fact]
    return {name: value for name, value in kept.items() if value not in (None, False, [])}
