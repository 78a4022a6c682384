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
_LEAST = 16  # columns of the last one
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
        _write([("RUN", "WHEN", "TOOK", "MANIFEST", "OUTCOME"), *map(_row, found)])
    return 0


def _write(rows: list[tuple[str, ...]]) -> None:
    """The columns; on a terminal the last one is wrapped in the room that it has."""
    import shutil
    import textwrap

    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    before = sum(widths[:-1]) + 2 * len(widths[:-1])
    room = max(_LEAST, shutil.get_terminal_size().columns - before)
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)]
        last = textwrap.wrap(row[-1], room) if sys.stdout.isatty() else [row[-1]]
        print("  ".join([*cells[:-1], last[0]]))
        for line in last[1:]:
            print(" " * before + line)


def _row(kept: "KeptRun") -> tuple[str, ...]:
    from orchestrator.report.wording import took

    about = kept.about
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(about["start"]))
    length = took(about["end"] - about["start"]) if about["end"] else "-"
    what = about["manifest"] if about["command"] == "ensure" else basename(about["manifest"])
    word = "drift" if about["command"] == "drift" else "noop"
    manifest = what + (f" ({word})" if about["noop"] else "")
    return kept.run_id, when, length, manifest, _outcome(kept)


def _outcome(kept: "KeptRun") -> str:
    """How many hosts came to what."""
    from orchestrator.report.totals import host_counts
    from remote_runtime.errors import InputError

    try:
        found = host_counts(kept.results(), kept.about["noop"])
    except InputError:
        return "cannot be read"
    text = ", ".join(f"{number:,} {words}" for _, words, number in found if number)
    if kept.about["end"]:
        return text or "no host"
    return ": ".join(filter(None, ("at work" if kept.running else "did not end", text)))
