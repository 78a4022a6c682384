"""``ccm verify``: checks hosts independently, with testinfra (controller). Changes nothing."""

import argparse
import sys

from orchestrator.cli.parser import Parser
from orchestrator.cli.run_output import Output, OutputOptions
from orchestrator.cli.selection_options import add_selection
from orchestrator.cli.shared_options import (
    add_connection,
    add_data,
    add_inventory,
    read_connection,
    read_data,
    read_inventory,
    seconds,
)
from orchestrator.cli.verify_output import VerifyOutput
from remote_runtime.options import RunOptions

HELP = "Check hosts against a manifest with testinfra, and run custom tests."
EXAMPLE = """
ccm verify -i hosts.yaml site.yaml
ccm verify -i hosts.yaml -l web site.yaml tests/ -k nginx -x
ccm verify -i hosts.yaml --tags web site.yaml
ccm verify -i hosts.yaml site.yaml tests/ --junitxml report.xml -- --tb=long
"""


def configure(parser: Parser) -> None:
    """Add the options, the manifest and the tests."""
    parser.passes_on = "pytest"
    parser.add_argument("manifest", metavar="MANIFEST", help="the manifest, such as site.yaml")
    parser.add_argument(
        "tests",
        metavar="TEST",
        nargs="*",
        help="files or directories with additional testinfra tests; after --, pytest options",
    )
    add_inventory(parser)
    add_selection(parser)
    parser.add_argument(
        "--command-timeout",
        metavar="DURATION",
        type=seconds,
        default=300.0,
        help="time limit of one command on a host (default: 5m)",
    )
    group = parser.add_group("pytest")
    group.add_argument(
        "-k", metavar="EXPRESSION", help="run only checks with matching names, as in pytest"
    )
    group.add_argument(
        "-m", metavar="MARKERS", help="run only tests with these marks, as in pytest"
    )
    group.add_argument("-x", "--exitfirst", action="store_true", help="stop at the first failure")
    group.add_argument("--junitxml", metavar="FILE", help="write a JUnit report")
    group.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="show every check; -vv shows pytest's report",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="show failures only")
    add_connection(parser)
    add_data(parser)


def run(args: argparse.Namespace) -> int:
    """Check everything that needs no host, then check the hosts."""
    from orchestrator.runs.verification import VerifyRequest, verify_hosts

    request = VerifyRequest(
        manifest=args.manifest,
        hosts=read_inventory(args),
        data=read_data(args),
        connection=read_connection(args),
        timeout=args.command_timeout,
        tests=args.tests,
        options=_pytest(args),
    )
    output = Output(OutputOptions(quiet=args.quiet), RunOptions())
    view = VerifyOutput(
        sys.stdout,
        verbose=args.verbose > 0,
        quiet=args.quiet,
        blocks=args.verbose < 2,  # else pytest's own report shows them
    )
    return verify_hosts(request, output, view).exit_code


def _pytest(args: argparse.Namespace) -> list[str]:
    """The options for pytest."""
    options = [f"-k{args.k}"] if args.k else []
    options += [f"-m{args.m}"] if args.m else []
    options += ["-x"] if args.exitfirst else []
    options += [f"--junitxml={args.junitxml}"] if args.junitxml else []
    options += ["-" + "v" * args.verbose] if args.verbose else []
    options += ["-q"] if args.quiet else []
    return [*options, *args.pytest]
