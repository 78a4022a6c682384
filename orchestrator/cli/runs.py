"""``ccm runs``: the stored runs (controller)."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import add_history, count, read_run_source
from orchestrator.support.plain_text import one_line

if TYPE_CHECKING:
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.fleet.store.stored_runs import SavedRun

HELP = "List stored runs and their results, newest first."
_MINIMUM = 28  # minimum width of the last column; with less, it goes below its row
EXAMPLE = """
ccm runs
ccm runs site.yaml        # runs of one manifest
ccm runs -n 5 --json
ccm runs --history        # everyone's runs; see history in ccm.yaml
ccm runs push             # copies runs that the history lacks
"""
BELOW = ("push",)


class RunRow(NamedTuple):
    """One line of the list; ``predicted`` is "" without a plan, ``commit`` without a repository."""

    run: str
    when: str
    duration_text: str
    changed: str
    failed: str
    predicted: str
    who: str
    commit: str
    manifest: str
    outcome: str


_HEAD = RunRow(
    "RUN",
    "WHEN",
    "TOOK",
    changed="CHANGES",
    failed="FAILURES",
    predicted="PLAN",
    who="WHO",
    commit="COMMIT",
    manifest="MANIFEST",
    outcome="HOSTS",
)
_LIMIT = 40  # columns of the command: a long one would push every outcome off the screen
_MAX_USER_WIDTH = 32  # columns
_WHERE_KNOWN = frozenset({"predicted", "who", "commit"})  # columns that are left out if empty
_BELOW = frozenset({"who", "commit", "manifest"})  # columns that a narrow table has below a run
_NUMBERS = frozenset({"changed", "failed", "predicted"})


def below(words: list[str]) -> tuple[str, Any] | None:
    """``ccm runs push`` is its own command."""
    if words[:1] != ["push"]:
        return None
    from orchestrator.cli import runs_push

    return "runs push", runs_push


def configure(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument(
        "manifest",
        metavar="MANIFEST",
        nargs="?",
        default="",
        help="show only runs of this manifest",
    )
    parser.add_argument(
        "-n", metavar="N", type=count, default=20, help="number of runs (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="write one JSON object per line")
    add_history(parser, "show the shared runs in the project's history")


def run(args: argparse.Namespace) -> int:
    """Write one line per run."""
    import itertools
    import json

    from orchestrator.fleet.store.outcome_selection import runs_of
    from orchestrator.fleet.store.stored_runs import saved_runs

    folder = read_run_source(args)
    runs = runs_of(args.manifest, folder) if args.manifest else saved_runs(folder)
    listed = list(itertools.islice(runs, args.n))
    if args.json:
        for saved in listed:
            print(json.dumps(_record(saved)))
    elif not listed:
        what = f"no runs of {args.manifest}" if args.manifest else "no runs"
        print(f"{what} in {folder.label}", file=sys.stderr)
    else:
        import shutil

        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        for line in table(list(map(_listed, listed)), width):
            print(line)
    return 0


def table(runs: list[RunRow], width: int) -> list[str]:
    """The lines in columns; with ``width`` columns (0: unlimited), the outcome is wrapped, and
    moved below its run if there is no space next to it.
    """
    import textwrap

    names = [
        name
        for name in RunRow._fields
        if name not in _WHERE_KNOWN or any(getattr(one, name) for one in runs)
    ]
    rows = [[getattr(one, name) for name in names] for one in (_HEAD, *runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    ahead = sum(widths[:-1]) + 2 * len(widths[:-1])
    below = next(at for at, name in enumerate(names) if name in _BELOW)
    narrow = width and width - ahead < _MINIMUM
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(size) if name in _NUMBERS else cell.ljust(size)
            for name, cell, size in zip(names, row, widths, strict=True)
        ]
        if narrow:
            lines.append("  ".join(cells[:below]).rstrip())
            values = f"{' '.join(filter(None, row[below:-1]))}: {row[-1]}"
            lines += textwrap.wrap(values, width, initial_indent=" " * 4, subsequent_indent=" " * 8)
        else:
            first, *rest = textwrap.wrap(row[-1], width - ahead) if width else [row[-1]]
            lines.append("  ".join([*cells[:-1], first]))
            lines += [" " * ahead + line for line in rest]
    return lines


def _results(saved: SavedRun) -> list[HostResult] | None:
    """The results of the hosts; None if they cannot be read."""
    from remote_runtime.errors import InputError

    try:
        return saved.results()
    except InputError:
        return None


def _record(saved: SavedRun) -> dict[str, Any]:
    """The command, the number of hosts by outcome, and the sum of their counts."""
    from collections import Counter

    from orchestrator.report.files.json_document import totals

    results = _results(saved)
    if results is None:
        return saved.about
    outcomes = Counter(one.outcome for one in results)
    return {**saved.about, "outcomes": outcomes, "summary": totals(results)}


def _listed(saved: SavedRun) -> RunRow:
    from orchestrator.report.durations import duration_text
    from orchestrator.report.files.json_document import whole_tally
    from orchestrator.report.summary_texts import AD_HOC, DRIFT, part_of, run_subject

    about = saved.about
    command = about["command"]
    what = one_line(run_subject(command, about["manifest"]), _LIMIT)
    word = "noop" if about["noop"] and command != DRIFT else command
    has_word = about["noop"] or command in AD_HOC
    words = [*(["part"] if part_of(about) else []), *([word] if has_word else [])]
    results = _results(saved)
    summary = whole_tally(results or []).shown
    compared = summary.compared
    changed = summary.drifted if command == DRIFT else summary.changed
    return RunRow(
        saved.run_id,
        time.strftime("%Y-%m-%d %H:%M", time.localtime(about["start"])),
        duration_text(about["end"] - about["start"]) if about["end"] else "-",
        changed="-" if results is None or command in AD_HOC else f"{changed:,}",
        failed="-" if results is None else f"{summary.failed:,}",
        who=one_line(saved.origin.who, _MAX_USER_WIDTH),
        commit=saved.origin.version,
        predicted=f"{summary.as_predicted:,}/{compared:,}" if compared else "",
        manifest=f"{what} ({', '.join(words)})" if words else what,
        outcome="cannot be read" if results is None else _outcome(saved, results),
    )


def _outcome(saved: SavedRun, results: list[HostResult]) -> str:
    """The number of hosts by outcome."""
    from orchestrator.report.terminal.totals import host_counts

    counts = host_counts(results, saved.about["noop"], saved.about["command"])
    text = ", ".join(f"{number:,} {words}" for _, words, number in counts if number)
    if saved.about["end"]:
        return text or "no hosts"
    return ": ".join(filter(None, ("running" if saved.running else "did not finish", text)))
