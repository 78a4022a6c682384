"""``ccm diff``: the differences between two runs (controller)."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import add_history, read_run_source

if TYPE_CHECKING:
    from orchestrator.fleet.store.stored_runs import ReportSource
    from orchestrator.report.differences import Difference
    from orchestrator.report.terminal.style import Style

HELP = "Show the differences between two runs by host and resource."
EXAMPLE = """
ccm diff 20260314T091502Z 20260315T091502Z
# did the push match the preview?
ccm diff 20260314T0915 20260314T0920 --detailed-exitcode
"""
DIFFERENT = 4


def configure(parser: Parser) -> None:
    """Add the two runs and the options."""
    parser.add_argument("first", metavar="RUN1", help="a run ID or a prefix of one; see ccm runs")
    parser.add_argument("second", metavar="RUN2", help="the run to compare with")
    parser.add_argument("--json", action="store_true", help="write one JSON document to stdout")
    add_history(parser, "compare shared runs in the project's history")
    parser.add_argument(
        "--detailed-exitcode",
        action="store_true",
        help=f"exit with {DIFFERENT} if something differs",
    )


def run(args: argparse.Namespace) -> int:
    """Write the differences."""
    from orchestrator.fleet.store.stored_runs import saved_run

    folder = read_run_source(args)
    differ = write_differences(
        saved_run(args.first, folder), saved_run(args.second, folder), args.json
    )
    return DIFFERENT if args.detailed_exitcode and differ else 0


def write_differences(first: "ReportSource", second: "ReportSource", as_json: bool) -> bool:
    """Write the differences, as text or as a document; return whether there are any."""
    from orchestrator.report.differences import Differences
    from orchestrator.report.terminal.style import Style

    differences = Differences(first, second)
    by_host = {host: differences.of(host) for host in differences.hosts}
    if as_json:
        _document(first, second, by_host)
    else:
        for line in _lines(first, second, by_host, Style.of(sys.stdout)):
            print(line)
    return any(by_host.values())


def _document(
    first: "ReportSource", second: "ReportSource", by_host: "dict[str, list[Difference]]"
) -> None:
    import json

    hosts = {host: [one._asdict() for one in differences] for host, differences in by_host.items()}
    json.dump({"run1": first.run_id, "run2": second.run_id, "hosts": hosts}, sys.stdout)
    print()


def _lines(
    first: "ReportSource",
    second: "ReportSource",
    by_host: "dict[str, list[Difference]]",
    style: "Style",
) -> Iterator[str]:
    from orchestrator.cli.report import headline
    from orchestrator.report.differences import group_hosts
    from orchestrator.report.host_names import named

    yield f"1  {headline(first)}"
    yield f"2  {headline(second)}"
    groups = group_hosts(by_host)
    noun = first.kind
    previews = (bool(first.about["noop"]), bool(second.about["noop"]))
    for hosts, differences in groups:
        yield ""
        yield style("title", named(hosts, style.width - 24))
        yield from (f"    {_line(one, style, noun, previews)}" for one in differences)
    differing = sum(len(hosts) for hosts, _ in groups)
    yield ""
    all_hosts = f"{len(by_host):,} host{'s' * (len(by_host) != 1)}"
    if differing:
        yield f"{differing:,} of {all_hosts} differ{'s' * (differing == 1)}"
    else:
        yield f"no differences on {all_hosts}"


def _line(entry: "Difference", style: "Style", noun: str, previews: tuple[bool, bool]) -> str:
    """A difference as text; ``previews``: whether the first and the second run are previews."""
    from orchestrator.report.differences import FIRST, HASH, OUTCOME, SECOND
    from orchestrator.report.summary_texts import shorten, shown_status
    from orchestrator.support.plain_text import one_line

    who = one_line(entry.resource) or "the host"
    if entry.what in (FIRST, SECOND):
        status = shown_status(entry.before or entry.after, previews[entry.what == SECOND])
        where = f"only in the {'first' if entry.what == FIRST else 'second'} {noun}"
        return f"{who}  {where}{f', {status}' if status else ''}"
    if HASH.search(entry.before) or HASH.search(entry.after):
        return f"{who}  {entry.what} differs"
    before, after = shorten(entry.before), shorten(entry.after)
    if before == after:
        return f"{who}  {before} (the full texts differ)"
    if not before or not after:
        return (
            f"{who}  {entry.what}: {before or after}; only in the"
            f" {'first' if before else 'second'} {noun}"
        )
    if entry.what == OUTCOME:
        words = [shown_status(*one) for one in zip((before, after), previews, strict=True)]
        return f"{who}  {words[0]} → {style(_role(after), words[1])}"
    return f"{who}  {entry.what}: {before} | {after}"


def _role(outcome: str) -> str:
    return outcome if outcome in ("failed", "changed", "stable", "skipped") else "title"
