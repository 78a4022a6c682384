"""``ccm run``: one command on many hosts, without a manifest (controller)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.engine_option import add_engine
from orchestrator.cli.parser import Parser
from orchestrator.cli.rollout_options import add_rollout
from orchestrator.cli.run_output import add_output, read_output
from orchestrator.cli.run_request import read_request
from orchestrator.cli.shared_options import (
    add_connection,
    add_inventory,
    add_retention,
    seconds,
)

if TYPE_CHECKING:
    from orchestrator.planning.commands.fleet_command import FleetCommand

HELP = "Run a command or a script on hosts; identical output is grouped."
EXAMPLE = """
ccm run -i hosts.yaml -l web -- uptime
ccm run -i hosts.yaml -l all --fold --shell -- 'df -h / | tail -1'
ccm run -i hosts.yaml -l db --become --script check.sh -- --deep
ccm run -i hosts.yaml -l all --waves 1,100% -- systemctl restart app
ccm report --host web1                     # the output of one host
"""


def configure(parser: Parser) -> None:
    """Add the options and the command."""
    parser.passes_on = "behind"
    parser.add_argument(
        "words",
        metavar="COMMAND",
        nargs="*",
        help="the program and its arguments, after --",
    )
    add_inventory(parser, limited=True)
    parser.add_argument("--shell", action="store_true", help="run COMMAND with /bin/sh")
    parser.add_argument(
        "--script",
        metavar="FILE",
        type=Path,
        help="run this local script, with COMMAND as its arguments",
    )
    parser.add_argument(
        "--timeout",
        metavar="DURATION",
        type=seconds,
        default=0.0,
        help="kill the command on a host after this time (default: no limit)",
    )
    parser.add_argument(
        "--fold",
        action="store_true",
        help="group hosts with output that differs only in names and numbers",
    )
    parser.missing["--noop"] = (
        "the effect of a command cannot be predicted; use an exec resource with guards for previews"
    )
    add_rollout(parser)
    add_engine(parser)
    add_retention(parser)
    add_connection(parser)
    add_output(parser, of_resources=False)


def run(args: argparse.Namespace) -> int:
    """Check everything, then run it on all hosts."""
    from orchestrator.cli.grouped_output import GroupedOutput
    from orchestrator.runs.push import run_on_hosts

    command = _command(args)
    request = read_request(args, "run")
    request = request._replace(run=request.run._replace(timeout=0.0))
    output = GroupedOutput(read_output(args), request.run, fold=args.fold)
    result = run_on_hosts(
        request, command, title=command.title, words=_again(args), reporter=output
    )
    return output.exit_code(result)


def _again(args: argparse.Namespace) -> tuple[str, ...]:
    """The words of a command that runs the same again."""
    words = [f"--script={args.script}"] if args.script else []
    words += ["--shell"] if args.shell else []
    words += [f"--timeout={args.timeout:g}"] if args.timeout else []
    words += ["--fold"] if args.fold else []
    return (*words, "--", *args.words, *args.behind)


def _command(args: argparse.Namespace) -> FleetCommand:
    from orchestrator.planning.commands.fleet_command import FleetCommand
    from remote_runtime.errors import UsageError

    words = [*args.words, *args.behind]
    if args.script is None:
        make = FleetCommand.of_line if args.shell else FleetCommand.of_words
        return make(words, args.timeout)
    if args.shell:
        raise UsageError("run: --shell and --script are mutually exclusive", hint="choose one")
    return FleetCommand.of_script(args.script, words, args.timeout)
