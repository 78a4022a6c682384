"""Plain progress lines, and events as JSON lines, for logs and pipes (controller)."""

import time
from collections.abc import Callable
from typing import TextIO

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.report.durations import duration_text
from orchestrator.report.run_collector import entry_of
from orchestrator.report.summary_texts import host_line, is_run, shown_status
from orchestrator.report.terminal.active_hosts import ActiveHosts
from orchestrator.report.terminal.rollout_progress import RolloutProgress
from orchestrator.support.plain_text import one_line

SILENCE = 30.0  # seconds


class Lines(Subscriber):
    """Subscriber that writes a line for each host that ends, and for problems before that. Hosts
    that were not started appear only in the summary.

    ``verbose`` adds a line for each phase and each resource that is not converged.
    """

    def __init__(self, out: TextIO, verbose: bool = False) -> None:
        self._out = out
        self._verbose = verbose
        self._noop = False
        self._command = ""
        self._work = ActiveHosts()
        self._standing = RolloutProgress()
        self._said_at = time.monotonic()

    def handle(self, event: run_events.Event) -> None:
        """Write the lines."""
        self._work.handle(event)
        self._standing.handle(event)
        if isinstance(event, run_events.ROLLOUT):
            if text := self._standing.line(event):
                self._say(text)
        elif isinstance(event, run_events.ResourceEvent):
            self._resource(event)
        elif isinstance(event, run_events.HostFinished) and event.result.was_started:
            count = f"[{self._work.ended}/{self._work.hosts}]"
            told = host_line(event.result, self._noop, self._command)
            self._say(f"{count} {event.result.host}: {told}")
        elif isinstance(event, run_events.HostNotice):
            if self._verbose or event.level == "info":
                self._say(f"{event.host}: {event.text}")
        elif isinstance(event, run_events.HostPhase):
            if self._verbose:
                for phase, _ in event.entered:
                    self._say(f"{event.host}: {phase.words}")
        elif isinstance(event, run_events.RunStarted):
            self._noop, self._command = event.noop, event.command

    def _resource(self, event: run_events.ResourceEvent) -> None:
        members = event.event
        status = members["status"]
        is_shown = status != "stable" and not is_run(members, self._command)
        if status == "failed" or (self._verbose and is_shown):
            entry = entry_of(members)
            reason = entry.errors[0] if entry.errors else entry.message
            name = f"{members['type']}#{members['name']}"
            would = status == "changed" and members["noop"]  # the message tells it
            word = "" if would else f"{shown_status(status)} "
            told_of = f"{event.host}: {word}{one_line(name)}"
            self._say(told_of + (reason and f": {one_line(reason)}"))

    def tick(self, now: float) -> None:
        """Report that the run is active, after ``SILENCE`` seconds without output."""
        if now - self._said_at < SILENCE:
            return
        if self._standing.waits:
            self._say(self._standing.now(time.time()))
            return
        for host, row in self._work.longest()[:1]:
            work = self._work
            self._say(
                f"[{work.ended}/{work.hosts}] {work.running} running, {work.waiting} waiting; "
                f"longest {host}: {one_line(row.doing)} ({duration_text(time.time() - row.since)})"
            )

    def _say(self, text: str) -> None:
        self._said_at = time.monotonic()
        self._out.write(text + "\n")
        self._out.flush()


class EventLines(Subscriber):
    """Subscriber that writes each complete transaction event as it arrives."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write

    def handle(self, event: run_events.Event) -> None:
        """Write the lines of transaction events."""
        for _, line in run_events.transaction_events(event):
            self._write(line + "\n")
