"""``ccm report``: show a run again (controller)."""

import argparse
import io
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import add_history, read_run_source
from orchestrator.fleet.host.stage_host import host_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.fleet.events import Event
    from orchestrator.fleet.store.stored_runs import ReportSource, SavedRun

Source = TypeVar("Source")

HELP = "Show a stored run: the latest one, or the one with the given ID or prefix."
EXAMPLE = """
ccm report
ccm report 20260314T091502Z --diff
ccm report --host web7    # results, or command output, of one host
ccm report --html run.html              # a page to share
ccm report --markdown - > comment.md    # for a merge request
"""

# The option of each form that is a file: the module and the name of its writer, and its help.
FORMS = {
    "html": ("orchestrator.report.html", "write_html", "write one self-contained HTML page"),
    "junit": (
        "orchestrator.report.files.junit",
        "write_junit",
        "write JUnit XML with a suite per host",
    ),
    "markdown": (
        "orchestrator.report.files.markdown",
        "write_markdown",
        "write Markdown for a comment",
    ),
    "metrics": (
        "orchestrator.report.files.metrics",
        "write_metrics",
        "write counters in Prometheus text format",
    ),
}


def configure(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="an ID from ccm runs")
    parser.add_argument("--host", metavar="HOST", action="append", help="only this host")
    parser.add_argument(
        "--fold",
        action="store_true",
        help="group command output that differs only in names and numbers",
    )
    parser.add_argument("--diff", action="store_true", help="also show the diffs of a push")
    parser.add_argument("--no-diff", action="store_true", help="hide diffs")
    parser.add_argument("--json", action="store_true", help="write one JSON document to stdout")
    parser.add_argument(
        "--events", action="store_true", help="write the transaction events, one per line"
    )
    add_forms(parser)
    add_history(parser, "show a shared run in the project's history")
    parser.add_argument("-v", "--verbose", action="store_true", help="show everything")
    parser.add_argument("-q", "--quiet", action="store_true", help="show failures only")


def add_forms(parser: Parser, names: Iterable[str] = FORMS) -> None:
    """Add the options for formats that are written to files."""
    for name in names:
        parser.add_argument(f"--{name}", metavar="FILE", help=f"{FORMS[name][2]}; - is stdout")


def read_forms(args: argparse.Namespace) -> dict[str, str]:
    """Read the flags of ``add_forms``: the file for each requested format."""
    return {name: path for name in FORMS if (path := getattr(args, name, None)) is not None}


def run(args: argparse.Namespace) -> int:
    """Write the run's summary, document or events."""
    from orchestrator.fleet.store.stored_runs import saved_run
    from orchestrator.report.files.json_document import write_document

    saved = saved_run(args.id, read_run_source(args))
    _check(args, saved)
    files = read_forms(args)
    write_forms(saved, files)
    if args.json:
        write_document(saved, None, sys.stdout)
    elif args.events:
        for line in saved.lines():
            print(line)
    elif not files:
        _summarise(saved, args)
    return 0


def write_forms(source: "Source", files: dict[str, str]) -> None:
    """Write the formats that go to files, by their names. UsageError."""
    for name, path in files.items():
        module, function, _ = FORMS[name]
        write_form(source, getattr(import_module(module), function), f"--{name}", path)


def write_form(
    source: "Source", write: "Callable[[Source, TextIO], None]", option: str, path: str
) -> None:
    """Write one format, completely or not at all, because a truncated report looks complete."""
    from orchestrator.support.atomic_file import replacing
    from remote_runtime.errors import UsageError

    if path == "-":
        write(source, sys.stdout)
        return
    try:
        with replacing(Path(path), 0o666) as out:
            text = io.TextIOWrapper(out, encoding="utf-8")
            write(source, text)
            text.detach()
    except OSError as error:
        raise UsageError(
            f"{option} {path}: {error.strerror}", hint="specify a writable file"
        ) from error


def _check(args: argparse.Namespace, saved: "SavedRun") -> None:
    from remote_runtime.errors import UsageError

    stdout = [f"--{name}" for name in FORMS if getattr(args, name) == "-"]
    stdout += [f"--{name}" for name in ("json", "events") if getattr(args, name)]
    if len(stdout) > 1:
        two = len(stdout) == 2
        both, other = ("both", "a file for the other") if two else ("all", "files for the others")
        raise UsageError(
            f"{' and '.join(stdout)} cannot {both} write to stdout", hint=f"use {other}"
        )
    if args.host and (stdout or any(getattr(args, name) for name in FORMS)):
        raise UsageError(
            "--host applies only to the summary", hint="other formats always contain all hosts"
        )
    for name in args.host or ():
        if not _named(name, saved.about["hosts"]):
            raise UsageError(f"host {name[:80]!r} was not in run {saved.run_id}")


def _named(name: str, hosts: Iterable[str]) -> list[str]:
    """The names of a host in a run: with stages, it may have several, each of which selects it."""
    return [host for host in hosts if name in (host, host_in(host))]


def _summarise(saved: "SavedRun", args: argparse.Namespace) -> None:
    from orchestrator.report.run_collector import RunCollector
    from orchestrator.report.summary_texts import AD_HOC
    from orchestrator.report.terminal.resource_rows import DetailLevel
    from orchestrator.report.terminal.style import Style
    from orchestrator.report.terminal.summary import Summary

    hosts = saved.about["hosts"]
    chosen = {one for name in args.host for one in _named(name, hosts)} if args.host else set(hosts)
    events = (event for event in saved.replay() if host_of(event) in chosen | {""})
    print(headline(saved))
    if words := saved.origin.words:
        print(words)
    if saved.about["command"] in AD_HOC:
        _answer(events, args)
        return
    collected = RunCollector(verbose=args.verbose, outputs=True)
    for event in events:
        collected.handle(event)
    noop = bool(saved.about["noop"])
    diffs = (noop or args.diff or args.verbose) and not args.no_diff
    choice = DetailLevel(diffs, args.verbose, args.quiet)
    Summary(collected, Style.of(sys.stdout), choice).write(sys.stdout)
    _verification(saved, args, chosen)


def _answer(events: "Iterable[Event]", args: argparse.Namespace) -> None:
    """The output of a command on the hosts."""
    from orchestrator.report.command_output import CommandOutput
    from orchestrator.report.terminal.style import Style

    answers = CommandOutput()
    for event in events:
        answers.handle(event)
    answers.write(sys.stdout, Style.of(sys.stdout), fold=args.fold, quiet=args.quiet)


def _verification(saved: "SavedRun", args: argparse.Namespace, hosts: set[str]) -> None:
    """The results of the verify after the push on these hosts."""
    from orchestrator.report.terminal.style import Style
    from orchestrator.report.terminal.verify_results import Verification
    from orchestrator.verify.stored_results import stored_assessment

    assessment = stored_assessment(saved)
    if assessment is None or (args.quiet and not assessment.exit_code):
        return
    style = Style.of(sys.stdout)
    report = Verification(sys.stdout, style, verbose=args.verbose, quiet=args.quiet)
    print()
    report.begin(os.path.basename(saved.about["manifest"]), assessment.hosts)
    for one in assessment.outcomes:
        if one.host in hosts | {""}:
            report.take(one)
    report.finish(assessment)


def host_of(event: "Event") -> str:
    """The host that an event concerns, "" for the run itself."""
    result = getattr(event, "result", None)
    return result.host if result is not None else str(getattr(event, "host", ""))


def headline(source: "ReportSource") -> str:
    """One line about the run and its time."""
    import time

    from orchestrator.report.summary_texts import part_of, run_word
    from orchestrator.support.plain_text import one_line

    about = source.about
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(about["start"]))
    word = run_word(about["command"], about["noop"])
    ended = "" if about["end"] else ", did not finish"
    part = part_of(about)
    what = ", ".join(filter(None, (one_line(about["manifest"]), part)))
    return f"{source.kind.capitalize()} {source.run_id}: {word} of {what}, {when}{ended}"
