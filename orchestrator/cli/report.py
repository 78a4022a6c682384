"""``ccm report``: show a run again (controller)."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.fleet.events import Event
    from orchestrator.fleet.kept_runs import KeptRun

HELP = "Show a run again: the last one, or the one of an id or the beginning of one."
EXAMPLE = """
ccm report
ccm report 20260314T091502Z --diff
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="see ccm runs")
    parser.add_argument("--host", metavar="NAME", action="append", help="only this host")
    parser.add_argument("--diff", action="store_true", help="show the diffs of a push, too")
    parser.add_argument("--no-diff", action="store_true", help="show no diffs")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--events", action="store_true", help="the transaction events, one a line")
    parser.add_argument("-v", "--verbose", action="store_true", help="show everything")
    parser.add_argument("-q", "--quiet", action="store_true", help="show failures only")


def run(args: argparse.Namespace) -> int:
    """Write the run's summary, document or events."""
    from orchestrator.fleet.kept_runs import kept_run
    from orchestrator.report.document import write_document

    kept = kept_run(args.id)
    _check(args, kept)
    if args.json:
        write_document(kept, None, sys.stdout)
    elif args.events:
        for line in kept.lines():
            print(line)
    else:
        _summarise(kept, args)
    return 0


def _check(args: argparse.Namespace, kept: "KeptRun") -> None:
    from remote_runtime.errors import UsageError

    if args.json and args.events:
        raise UsageError("--json and --events exclude each other", hint="choose one")
    if args.host and (args.json or args.events):
        raise UsageError("--host goes with the summary only", hint="filter the JSON by its host")
    for name in args.host or ():
        if name not in kept.about["hosts"]:
            raise UsageError(f"host {name[:80]!r} was not in run {kept.run_id}")


def _summarise(kept: "KeptRun", args: argparse.Namespace) -> None:
    from orchestrator.report.collected import Collected
    from orchestrator.report.style import Style
    from orchestrator.report.summary import Choice, Summary

    chosen = set(args.host or kept.about["hosts"])
    collected = Collected(skipped=args.verbose)
    for event in kept.replay():
        if host_of(event) in chosen | {""}:
            collected.handle(event)
    noop = bool(kept.about["noop"])
    diffs = (noop or args.diff or args.verbose) and not args.no_diff
    choice = Choice(diffs, args.verbose, args.quiet)
    print(_head(kept))
    Summary(collected, Style.of(sys.stdout), choice).write(sys.stdout)


def host_of(event: "Event") -> str:
    """The host that an event is about, "" for the run's own."""
    result = getattr(event, "result", None)
    return result.host if result is not None else str(getattr(event, "host", ""))


def _head(kept: "KeptRun") -> str:
    import time

    about = kept.about
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about["start"]))
    word = "preview" if about["noop"] else about["command"]
    ended = "" if about["end"] else ", did not come to its end"
    return f"Run {kept.run_id}: {word} of {about['manifest']}, {when}{ended}"
