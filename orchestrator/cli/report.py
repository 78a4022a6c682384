"""``ccm report``: show a run again (controller)."""

import argparse
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.fleet.events import Event
    from orchestrator.fleet.kept_runs import KeptRecord, KeptRun

Shown = TypeVar("Shown")

HELP = "Show a run again: the last one, or the one of an id or the beginning of one."
EXAMPLE = """
ccm report
ccm report 20260314T091502Z --diff
ccm report --html run.html              # a page to send to a colleague
ccm report --markdown - > comment.md    # for a merge request
"""

# The option of each form that is a file, and where its writer is.
_FORMS = {
    "html": ("orchestrator.report.html", "write_html", "one HTML page that needs nothing else"),
    "junit": ("orchestrator.report.junit", "write_junit", "JUnit XML, a suite for each host"),
    "markdown": ("orchestrator.report.markdown", "write_markdown", "Markdown, a comment's worth"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="see ccm runs")
    parser.add_argument("--host", metavar="HOST", action="append", help="only this host")
    parser.add_argument("--diff", action="store_true", help="show the diffs of a push, too")
    parser.add_argument("--no-diff", action="store_true", help="show no diffs")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--events", action="store_true", help="the transaction events, one a line")
    for name, (_, _, text) in _FORMS.items():
        parser.add_argument(f"--{name}", metavar="FILE", help=f"{text}; - is stdout")
    parser.add_argument(
        "--metrics",
        metavar="FILE",
        help="counters in Prometheus's text form, for its collector; - is stdout",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show everything")
    parser.add_argument("-q", "--quiet", action="store_true", help="show failures only")


def run(args: argparse.Namespace) -> int:
    """Write the run's summary, document or events."""
    from orchestrator.fleet.kept_runs import kept_run
    from orchestrator.report.document import write_document

    kept = kept_run(args.id)
    _check(args, kept)
    files = _write_files(kept, args)
    if args.json:
        write_document(kept, None, sys.stdout)
    elif args.events:
        for line in kept.lines():
            print(line)
    elif not files:
        _summarise(kept, args)
    return 0


def _write_files(kept: "KeptRun", args: argparse.Namespace) -> bool:
    """Write the forms that are files; whether there was any."""
    from orchestrator.cli.metrics import write_metrics

    asked = False
    for name, (module, function, _) in _FORMS.items():
        path = getattr(args, name)
        if path is not None:
            asked = True
            write_form(kept, getattr(import_module(module), function), f"--{name}", path)
    if args.metrics is not None:
        asked = True
        write_metrics(kept, args.metrics)
    return asked


def write_form(
    kept: "Shown", write: "Callable[[Shown, TextIO], None]", option: str, path: str
) -> None:
    """Write one form, the file whole or not there: a report that is cut short looks complete."""
    from remote_runtime.errors import UsageError

    if path == "-":
        write(kept, sys.stdout)
        return
    temporary = f"{path}.{os.urandom(6).hex()}.new"  # in a folder that others may write, too
    try:
        with open(temporary, "x", encoding="utf-8") as out:
            write(kept, out)
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(
            f"{option} {path}: {error.strerror}", hint="name a file that can be written"
        ) from error
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def _check(args: argparse.Namespace, kept: "KeptRun") -> None:
    from remote_runtime.errors import UsageError

    stdout = [f"--{name}" for name in (*_FORMS, "metrics") if getattr(args, name) == "-"]
    stdout += [f"--{name}" for name in ("json", "events") if getattr(args, name)]
    if len(stdout) > 1:
        raise UsageError(f"{' and '.join(stdout)} all want stdout", hint="give files to the others")
    if args.host and (stdout or any(getattr(args, name) for name in (*_FORMS, "metrics"))):
        raise UsageError("--host goes with the summary only", hint="the other forms have all hosts")
    for name in args.host or ():
        if name not in kept.about["hosts"]:
            raise UsageError(f"host {name[:80]!r} was not in run {kept.run_id}")


def _summarise(kept: "KeptRun", args: argparse.Namespace) -> None:
    from orchestrator.report.collected import Collected
    from orchestrator.report.rows import Choice
    from orchestrator.report.style import Style
    from orchestrator.report.summary import Summary

    chosen = set(args.host or kept.about["hosts"])
    collected = Collected(verbose=args.verbose)
    for event in kept.replay():
        if host_of(event) in chosen | {""}:
            collected.handle(event)
    noop = bool(kept.about["noop"])
    diffs = (noop or args.diff or args.verbose) and not args.no_diff
    choice = Choice(diffs, args.verbose, args.quiet)
    print(headline(kept))
    Summary(collected, Style.of(sys.stdout), choice).write(sys.stdout)
    _verification(kept, args, chosen)


def _verification(kept: "KeptRun", args: argparse.Namespace, hosts: set[str]) -> None:
    """What the verify behind the push found on these hosts."""
    from orchestrator.report.style import Style
    from orchestrator.report.verification import Verification
    from orchestrator.verify.kept import kept_assessment

    found = kept_assessment(kept)
    if found is None or (args.quiet and not found.exit_code):
        return
    style = Style.of(sys.stdout)
    report = Verification(sys.stdout, style, verbose=args.verbose, quiet=args.quiet)
    print()
    report.begin(os.path.basename(kept.about["manifest"]), found.hosts)
    for one in found.outcomes:
        if one.host in hosts | {""}:
            report.take(one)
    report.finish(found)


def host_of(event: "Event") -> str:
    """The host that an event is about, "" for the run's own."""
    result = getattr(event, "result", None)
    return result.host if result is not None else str(getattr(event, "host", ""))


def headline(kept: "KeptRecord") -> str:
    """One line on what was run, and when."""
    import time

    from orchestrator.report.wording import run_word

    about = kept.about
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about["start"]))
    word = run_word(about["command"], about["noop"])
    ended = "" if about["end"] else ", did not come to its end"
    return f"{kept.kind.capitalize()} {kept.run_id}: {word} of {about['manifest']}, {when}{ended}"
