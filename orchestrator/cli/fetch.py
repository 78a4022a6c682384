"""``ccm fetch``: copies files from many hosts to the controller (controller)."""

from __future__ import annotations

import argparse
from pathlib import Path

from orchestrator.cli.engine_option import add_engine
from orchestrator.cli.parser import Parser
from orchestrator.cli.run_output import add_output, read_output
from orchestrator.cli.run_request import read_request
from orchestrator.cli.shared_options import add_connection, add_inventory, add_retention, size

HELP = "Copy files from hosts, into one directory per host."
EXAMPLE = """
ccm fetch -i hosts.yaml -l all /etc/fstab -d out/    # out/web1/etc/fstab
ccm fetch -i hosts.yaml -l web --become -r /etc/nginx -d out/
ccm fetch -i hosts.yaml -l all --max-size 2G /var/crash/core -d out/
"""
MAX_SIZE = 100 << 20
MAX_TOTAL = 10 << 30


def configure(parser: Parser) -> None:
    """Add the options and the paths."""
    parser.intermixed = True
    parser.missing["--noop"] = "fetch never changes hosts; omit it"
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="absolute path of a file on the hosts; with -r, also a directory",
    )
    parser.add_argument(
        "-d",
        "--directory",
        metavar="DIR",
        type=Path,
        required=True,
        help="the directory to write to, as DIR/HOST/PATH; created if missing",
    )
    add_inventory(parser, limited=True)
    parser.add_argument(
        "-r",
        "--recursive",
        action="store_true",
        help="copy all files in a directory and its subdirectories",
    )
    parser.add_argument(
        "--max-size",
        metavar="BYTES",
        type=size,
        default=MAX_SIZE,
        help="maximum size of one file, such as 500K or 2G (default: 100M)",
    )
    parser.add_argument(
        "--max-total",
        metavar="BYTES",
        type=size,
        default=MAX_TOTAL,
        help="maximum total size of all files from all hosts (default: 10G)",
    )
    add_engine(parser)
    add_retention(parser)
    add_connection(parser)
    add_output(parser, of_resources=False)


def run(args: argparse.Namespace) -> int:
    """Check everything, then fetch from all hosts."""
    from orchestrator.cli.grouped_output import GroupedOutput
    from orchestrator.fleet.host.fetch_destination import FetchTarget
    from orchestrator.planning.commands.fetch_command import FetchCommand
    from orchestrator.runs.push import run_on_hosts

    landing = FetchTarget(args.directory.absolute(), args.max_size, args.max_total)
    command = FetchCommand(args.paths, landing, args.recursive)
    request = read_request(args, "fetch")
    output = GroupedOutput(read_output(args), request.run, fold=False)
    result = run_on_hosts(
        request,
        command,
        title=command.title,
        words=_again(args),
        reporter=output,
        ready=lambda: _make(args.directory),
    )
    return output.exit_code(result)


def _again(args: argparse.Namespace) -> tuple[str, ...]:
    """The words of a command that fetches the same files again."""
    words = ["-r"] if args.recursive else []
    words += [f"--max-size={args.max_size}"] if args.max_size != MAX_SIZE else []
    words += [f"--max-total={args.max_total}"] if args.max_total != MAX_TOTAL else []
    return ("-d", str(args.directory), *words, *args.paths)


def _make(directory: Path) -> None:
    from remote_runtime.errors import UsageError

    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"-d {directory}: the directory cannot be created: {error.strerror}",
            hint="specify a writable directory",
        ) from error
