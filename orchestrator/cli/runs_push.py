"""``ccm runs push``: copies missing runs to the history (controller)."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import read_history

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.history.location import HistoryLocation

HELP = (
    "Copy this user's runs to the history: those that are not in it yet, or those with the given "
    "IDs."
)
EXAMPLE = """
ccm runs push
ccm runs push 20260314T091502Z-4f1c09e
"""


def configure(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument(
        "id",
        metavar="ID",
        nargs="*",
        help="an ID from ccm runs (default: all runs made with this history configured that are "
        "not in it yet)",
    )
    parser.set_defaults(history=None, history_token=None)


def run(args: argparse.Namespace) -> int:
    """Copy the runs, and write one line per run; 1 if a run could not be copied. UsageError."""
    from orchestrator.fleet.store.run_source import OWN_RUNS
    from orchestrator.fleet.store.stored_runs import saved_run
    from orchestrator.history.factory import check_history
    from orchestrator.history.run_copy import is_pending
    from remote_runtime.errors import UsageError

    choice = read_history(args)
    if choice is None:
        raise UsageError(
            "runs push: no history is configured",
            hint="set history in ccm.yaml or CCM_HISTORY to a directory or the address of a studio",
        )
    check_history(choice)
    if args.id:
        runs = [saved_run(run_id).path for run_id in args.id]
    else:
        paths = map(OWN_RUNS.path, reversed(OWN_RUNS.names()))
        runs = [path for path in paths if is_pending(path, choice.address)]
    copied = [_push(choice, path) for path in runs]
    if not runs:
        print(f"nothing to copy to {choice.address}", file=sys.stderr)
    return 0 if all(copied) else 1


def _push(choice: HistoryLocation, path: Path) -> bool:
    """Copy one run; return whether the history has all of it."""
    from orchestrator.history.factory import copy_of
    from orchestrator.support.line_file import is_held
    from remote_runtime.errors import CcmError

    if is_held(path / "events.jsonl"):
        print(f"{path.name}: in progress; copied when it ends", file=sys.stderr)
        return True
    copy = copy_of(choice, path)
    try:
        copy.finish()
    except CcmError as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return False
    except OSError as error:
        print(f"{path.name}: {error.strerror or error}", file=sys.stderr)
        return False
    finally:
        copy.close()
    print(f"{path.name}: copied to {choice.address}")
    return True
