"""``ccm session``: the session that several ``ccm ensure`` commands of a script
share (controller).
"""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser

if TYPE_CHECKING:
    from orchestrator.fleet.store.session_store import EventStore

HELP = "Start a session of ccm ensure commands, or show its results."
EXAMPLE = """
ccm session new              # in a script: eval "$(ccm session new)"
ccm ensure package nginx
ccm ensure service nginx running --subscribe package#nginx
ccm session report --remove
"""


def configure(parser: Parser) -> None:
    """Add the subcommands."""
    actions = parser.add_subcommands()
    new = actions.add_parser(
        "new",
        aliases=["start"],
        help="create the session directory and print the command that exports it",
        description="Create the session directory and print the command that exports it.",
    )
    new.add_argument(
        "--shell",
        choices=("sh", "bash", "zsh", "fish", "csh", "tcsh"),
        default="sh",
        help="shell syntax of the command (default: %(default)s)",
    )
    new.add_argument(
        "--directory",
        metavar="DIR",
        help="the directory to create (default: a temporary one)",
    )
    report = actions.add_parser(
        "report",
        help="show the results of the session; exit with 1 if a resource failed",
        description="Show the results of a session. Exits with 1 if the last event of a "
        "resource failed.",
    )
    report.add_argument("--json", action="store_true", help="write one JSON document to stdout")
    report.add_argument("--remove", action="store_true", help="remove the session afterwards")
    report.add_argument("-v", "--verbose", action="store_true", help="show everything")


def run(args: argparse.Namespace) -> int:
    """Run the subcommand."""
    return _report(args) if args.action == "report" else _new(args.shell, args.directory)


def _new(shell: str, directory: str | None) -> int:
    import os
    import tempfile

    from orchestrator.fleet.store.session_store import VARIABLE
    from remote_runtime.errors import UsageError

    try:
        if directory is not None:
            path = os.path.abspath(directory)
            os.mkdir(path, 0o700)
        else:
            path = tempfile.mkdtemp(prefix="ccm-session-")  # mode 0700
    except OSError as error:
        hint = "specify a new directory with --directory, or set TMPDIR to a writable one"
        raise UsageError(f"cannot create the session directory: {error}", hint=hint) from error
    print(export(shell, VARIABLE, path))
    return 0


def export(shell: str, name: str, value: str) -> str:
    """The command that exports a variable, in the syntax of a shell."""
    if shell == "fish":
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"set -gx {name} '{quoted}';"
    if shell in ("csh", "tcsh"):
        quoted = value.replace("'", "'\\''").replace("!", "\\!")
        return f"setenv {name} '{quoted}';"
    return f"export {name}={shlex.quote(value)}"


def _report(args: argparse.Namespace) -> int:
    from orchestrator.fleet.store.session_store import BEGIN, VARIABLE, session_store
    from orchestrator.report.terminal.session import SessionReport
    from remote_runtime.errors import UsageError

    store = session_store()
    if store is None:
        raise UsageError(f"no session: {VARIABLE} is not set", hint=BEGIN)
    report = SessionReport(store)
    if args.json:
        report.write_document(sys.stdout)
    else:
        report.write_summary(sys.stdout, args.verbose)
    sys.stdout.flush()
    if args.remove:
        _remove(store)
    return 1 if report.failed else 0


def _remove(store: "EventStore") -> None:
    from remote_runtime.errors import UsageError

    try:
        store.remove()
    except OSError as error:
        raise UsageError(f"cannot remove the session directory: {error}") from error
