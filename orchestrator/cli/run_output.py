"""Writes the output of a run (controller): progress, summary, ``--json``, ``--events``."""

import argparse
import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from orchestrator.cli.exit_code import result_exit_code
from orchestrator.cli.messages import ON_THIS_MACHINE, note, warn
from orchestrator.cli.parser import Parser
from orchestrator.cli.prompts import ask_line, ask_secret
from orchestrator.cli.shared_options import add_diff, read_fields
from orchestrator.cli.signals import Interrupts
from orchestrator.report.terminal.style import Style, can_redraw, marked
from orchestrator.support.atomic_file import error_text
from orchestrator.support.crash_report import describe_crash
from orchestrator.support.line_file import LineFile
from orchestrator.support.plain_text import plain
from orchestrator.support.stdout import detach_stdout
from remote_runtime.errors import UsageError
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.cli.verify_output import VerifyOutput
    from orchestrator.fleet.event_bus import Subscriber
    from orchestrator.fleet.store.stored_runs import SavedRun
    from orchestrator.report.run_collector import RunCollector
    from orchestrator.report.terminal.live_view import LiveView
    from orchestrator.report.terminal.progress_lines import Lines
    from orchestrator.runs.result import RunResult

INTERRUPT_NOTE = "stopping the run on all hosts; press Ctrl-C again to exit immediately"


class OutputOptions(NamedTuple):
    """The output options; ``events`` and ``metrics`` are files, "-" is stdout."""

    detailed_exitcode: bool = False
    json: bool = False
    events: str | None = None
    metrics: str | None = None
    verbose: bool = False
    quiet: bool = False

    @property
    def documented(self) -> bool:
        """Whether a report is created from the run directory at the end."""
        return self.json or self.metrics is not None

    def wanting_stdout(self) -> list[str]:
        """The options that write a machine-readable format to stdout."""
        flags = [f"--{name} -" for name in ("events", "metrics") if getattr(self, name) == "-"]
        return ["--json", *flags] if self.json else flags


def add_output(parser: Parser, detailed: bool = True, *, of_resources: bool = True) -> None:
    """Add the output options; ``detailed``: including --detailed-exitcode.

    ``of_resources``: the run has resources, and therefore diffs and counters.
    """
    group = parser.add_group("output")
    if of_resources:
        add_diff(group, "do not create or show diffs")
    if detailed and of_resources:
        group.add_argument(
            "--detailed-exitcode",
            action="store_true",
            help="exit with 4 if changes were made or are pending and nothing failed",
        )
    group.add_argument("--json", action="store_true", help="write one JSON document to stdout")
    group.add_argument(
        "--events", metavar="FILE", help="write each transaction event as a JSON line; - is stdout"
    )
    if of_resources:
        group.add_argument(
            "--metrics",
            metavar="FILE",
            help="write counters in Prometheus text format; - is stdout",
        )
    group.add_argument("-v", "--verbose", action="store_true", help="show everything")
    group.add_argument("-q", "--quiet", action="store_true", help="show failures only")


def read_output(args: argparse.Namespace) -> OutputOptions:
    """The values of the options of ``add_output``, except diffs, which are options of the run."""
    return read_fields(OutputOptions, args)


def check_output(options: OutputOptions) -> None:
    """UsageError for mutually exclusive options."""
    if len(flags := options.wanting_stdout()) > 1:
        raise UsageError(
            f"{' and '.join(flags)} cannot {'all' if len(flags) > 2 else 'both'} write to stdout",
            hint=f"use a file for {flags[-1].split()[0]}",
        )
    if options.quiet and options.verbose:
        raise UsageError("-q and -v are mutually exclusive", hint="choose one")
    if options.metrics is not None:
        from orchestrator.report.files.metrics import check_metrics
        from orchestrator.support.atomic_file import unwritable

        check_metrics()
        if options.metrics != "-" and (reason := unwritable(options.metrics)):
            raise UsageError(
                f"--metrics: {options.metrics} cannot be written: {reason}",
                hint="specify a writable file",
            )


class Output:
    """Shows a run on the terminal and writes its documents: the ``Reporter`` of the command line.

    Only the main thread uses it, except for prompts. The subscribers and the live view are created
    when the run requests its subscribers.
    """

    def __init__(self, options: OutputOptions, run: RunOptions) -> None:
        check_output(options)
        self.options = options
        # stdout belongs to the machine-readable form if one was requested.
        self.human: TextIO = sys.stderr if options.wanting_stdout() else sys.stdout
        self._run = run
        self._diff = run.diff and (run.noop or options.verbose)
        self._events: LineFile | None = None
        self._live: LiveView | None = None
        self._lines: Lines | None = None
        self._unwritten = False
        self._is_running = False
        self._told_faults = 0

    @property
    def is_terminal(self) -> bool:
        """Whether there is a terminal for prompts."""
        return sys.stdin.isatty()

    @property
    def needs_record(self) -> bool:
        """Whether a document is created from the run directory at the end."""
        return self.options.documented

    def for_preview(self) -> "Output":
        """The output of the preview that a push runs first: failures on stderr."""
        output = Output(OutputOptions(quiet=True), self._run._replace(noop=True))
        output.human = sys.stderr
        return output

    def note(self, text: str) -> None:
        """Write a remark to stderr."""
        note(text)

    def warn(self, text: str) -> None:
        """Write a warning about the input to stderr."""
        warn(text)

    def exit_code(self, result: "RunResult") -> int:
        """The exit code of a run that was shown."""
        code = result_exit_code(result, self.options.detailed_exitcode)
        return code or 1 if self._unwritten else code

    def prepare(self) -> None:
        """Open the file of ``--events``, after the last check that could refuse the run."""
        self._events = self._open_events()

    def on_this_machine(self) -> None:
        """Report that no inventory is set, so the run applies to this machine."""
        if not self.options.json:
            self.say(ON_THIS_MACHINE)

    def subscribers(self, command: str, subject: str) -> "list[Subscriber]":
        """The requested subscribers, always including the one for the summary."""
        if not self.options.quiet and can_redraw(self.human):
            from orchestrator.report.terminal.live_view import LiveView

            self._live = LiveView(self.human, self._title(command, subject), self.options.verbose)
        elif not self.options.quiet:
            self._lines = self._plain_lines()
        chosen: list[Subscriber] = [self._summarised()]
        write = self._events.write if self._events is not None else None
        if self.options.events == "-":
            write = _write_out
        if write is not None:
            from orchestrator.report.terminal.progress_lines import EventLines

            chosen.insert(0, EventLines(write))
        if self._live is not None:
            chosen.append(self._live)
        if self._lines is not None:
            chosen.append(self._lines)
        return chosen

    def _title(self, command: str, subject: str) -> str:
        from orchestrator.report.summary_texts import run_subject, run_word

        word = command if command == "plan" else run_word(command, self._run.noop)
        return f"{word} of {run_subject(command, subject)}"

    def start(self) -> None:
        """Start the live view, after the last prompt."""
        self._is_running = True
        if self._live is not None:
            self._live.start()

    def tick(self) -> None:
        """Draw the changes; called several times a second."""
        if self._live is not None:
            self._live.tick()
        if self._lines is not None:
            self._lines.tick(time.monotonic())

    @contextlib.contextmanager
    def interruptible(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Within this context, Ctrl-C and SIGTERM call ``interrupt``, and a second signal exits."""

        def first() -> None:
            """Handle the first interrupt."""
            if self._is_running:
                self._note_interrupt()
            interrupt()

        with Interrupts(first):
            yield

    def _note_interrupt(self) -> None:
        """Report that the run is ending; called by a signal handler."""
        if self._live is not None:
            self._live.note(INTERRUPT_NOTE)
        else:
            # A handler must not use a stream that the main thread may be in the middle of.
            with contextlib.suppress(OSError):
                os.write(2, f"ccm: {INTERRUPT_NOTE}\n".encode())

    def ask_secret(self, prompt: str) -> str:
        """Prompt for a secret on the terminal while the live view is hidden. Any thread."""
        with self._aside():
            return ask_secret(prompt)

    def confirm(self, question: str, remaining: Callable[[], float]) -> bool | None:
        """Prompt for confirmation on the terminal without the live view; None without an answer in
        time. Any thread.
        """
        with self._aside():
            answer = ask_line(f"{question} [y/N] ", remaining)
        return None if answer is None else answer.strip().lower() in ("y", "yes")

    @contextlib.contextmanager
    def _aside(self) -> Iterator[None]:
        if self._live is None:
            yield
        else:
            with self._live.aside():
                yield

    def say(self, text: str) -> None:
        """Write a message from the user's manifest."""
        if text and not self.options.quiet:
            self.human.write(plain(text).rstrip("\n") + "\n")
            self.human.flush()

    def say_warning(self, text: str) -> None:
        """Write a warning, wrapped on a terminal."""
        self.say(marked("warning: ", plain(text), self.human))

    def summary(self, result: "RunResult") -> None:
        """Write the problems of the output, the summary and the metrics."""
        self._is_running = False
        self._write_faults(result.faults)
        if self.human is sys.stdout and any(map(_is_of_a_stream, result.faults)):
            detach_stdout()  # there is no place for a summary
        with contextlib.suppress(BrokenPipeError):
            self.write_summary(result.run_id if result.stored else "")
        directory = result.directory
        if directory is not None and directory.whole and self.options.metrics is not None:
            from orchestrator.fleet.store.stored_runs import SavedRun

            try:
                self._write_metrics(self.options.metrics, SavedRun(directory.path))
            except UsageError as error:  # the run is over: a file must not hide its outcome
                print(f"ccm: error: {error.message}", file=sys.stderr)
                self._unwritten = True

    def write_summary(self, run_id: str) -> None:
        """Write the summary; ``run_id`` is "" for a run without a record."""
        from orchestrator.report.terminal.resource_rows import DetailLevel
        from orchestrator.report.terminal.summary import Summary

        choice = DetailLevel(self._diff, self.options.verbose, self.options.quiet)
        Summary(self._collected, Style.of(self.human), choice).write(self.human, run_id)

    def _write_metrics(self, path: str, saved: "SavedRun") -> None:
        from orchestrator.cli.report import write_form
        from orchestrator.report.files.metrics import write_metrics

        write_form(saved, write_metrics, "--metrics", path)

    def verifying(self) -> "VerifyOutput":
        """The reporter for the verify that follows a push."""
        from orchestrator.cli.verify_output import VerifyOutput

        if not self.options.quiet:
            self.human.write("\n")
        quiet = self.options.quiet
        return VerifyOutput(
            self.human, verbose=self.options.verbose, quiet=quiet, silent_if_good=quiet
        )

    def finished(self, result: "RunResult") -> None:
        """Write the document of ``--json``."""
        self._write_faults(result.faults[self._told_faults :])
        if result.directory is not None and self.options.json:
            from orchestrator.fleet.store.stored_runs import SavedRun
            from orchestrator.report.files.json_document import write_document

            write_document(SavedRun(result.directory.path), self.exit_code(result), sys.stdout)

    def _write_faults(self, faults: Sequence[Exception]) -> None:
        """Report which subscribers failed, and the reasons."""
        self._told_faults += len(faults)
        for error in faults:
            if isinstance(error, BrokenPipeError):
                continue
            if isinstance(error, OSError):
                print(f"ccm: error: cannot write output: {error_text(error)}", file=sys.stderr)
            else:
                path = describe_crash(error, "writing the output of a run")
                print(
                    f"ccm: error: internal error in the output of ccm, see {path}", file=sys.stderr
                )

    @functools.cached_property
    def _collected(self) -> "RunCollector":
        from orchestrator.report.run_collector import RunCollector

        return RunCollector(verbose=self.options.verbose)

    def _summarised(self) -> "Subscriber":
        """The subscriber that collects everything for the summary."""
        return self._collected

    def _plain_lines(self) -> "Lines | None":
        """The output without a live view."""
        from orchestrator.report.terminal.progress_lines import Lines

        return Lines(self.human, self.options.verbose)

    def close(self) -> None:
        """Close the file of ``--events``."""
        if self._events is not None:
            self._events.close()

    def _open_events(self) -> LineFile | None:
        path = self.options.events
        if path is None or path == "-":
            return None
        try:
            return LineFile(Path(path))
        except OSError as error:
            raise UsageError(
                f"--events {path}: {error.strerror}", hint="specify a writable file"
            ) from error


def _is_of_a_stream(error: Exception) -> bool:
    """Whether an error occurred while printing, and not in a file: errors of files have a file
    name.
    """
    return isinstance(error, OSError) and not error.filename


def _write_out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
