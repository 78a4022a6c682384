"""``ccm runs``: the runs that are kept (controller)."""

import argparse
import sys
import time
from os.path import basename
from typing import TYPE_CHECKING

from orchestrator.cli.options import count

if TYPE_CHECKING:
    from orchestrator.fleet.kept_runs import KeptRun

HELP = "List the runs that are kept, the newest first."
EXAMPLE = """
ccm runs
ccm runs -n 5 --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("-n", metavar="N", type=count, default=20, help="how many (default: 20)")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def run(args: argparse.Namespace) -> int:
    """Write one line per run."""
    import itertools
    import json

    from orchestrator.fleet.kept_runs import kept_runs
    from orchestrator.fleet.run_folder import runs_folder

    found = list(itertools.islice(kept_runs(), args.n))
    if args.json:
        for kept in found:
            print(json.dumps(kept.about))
    elif not found:
        print(f"no run is kept in {runs_folder()}", file=sys.stderr)
    else:
        rows = [("RUN", "WHEN", "TOOK", "OUTCOME", "MANIFEST"), *map(_row, found)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = zip(row, widths, strict=True)
            print("  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip())
    return 0


def _row(kept: "KeptRun") -> tuple[str, ...]:
    from orchestrator.report.wording import took

    about = kept.about
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(about["start"]))
    length = took(about["end"] - about["start"]) if about["end"] else "-"
    what = about["manifest"] if about["command"] == "ensure" else basename(about["manifest"])
    manifest = what + (" (noop)" if about["noop"] else "")
    return kept.run_id, when, length, _outcome(kept), manifest


def _outcome(kept: "KeptRun") -> str:
    """How many hosts ended how."""
    from collections import Counter

    from remote_runtime.errors import InputError

    if not kept.about["end"]:
        return "did not end"
    try:
        found = Counter(result.outcome for result in kept.results())
    except InputError:
        return "cannot be read"
    order = ("defect", "failed", "unreachable", "interrupted", "ok")
    return ", ".join(f"{found[name]} {name}" for name in order if found[name])
