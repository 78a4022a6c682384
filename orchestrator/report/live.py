"""The live view on a terminal (controller): the only module that imports rich.

Hosts by state, a progress bar, what each running host is doing and since when. Failures are written
above it as they happen, and stay.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from orchestrator.fleet import events as happening
from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.grouping import alike
from orchestrator.report.wording import host_line, took
from orchestrator.support.plain_text import one_line

SHORTEST_REFRESH = 0.2
MAX_ROWS = 16
MAX_WIDTH = 120
MAX_SLOWEST = 3
MAX_ALIKE = 3
MAX_SAID = 1_000
_STYLES = {
    outcome.DEFECT: "bold red",
    outcome.FAILED: "bold red",
    outcome.UNREACHABLE: "bold magenta",
    outcome.INTERRUPTED: "yellow",
    outcome.OK: "green",
}


class _Running:
    """A host in the window: what it is doing, since when, how far it is."""

    __slots__ = ("began", "doing", "done", "planned", "since")

    def __init__(self, at: float) -> None:
        self.began = self.since = at
        self.doing = ""
        self.done = self.planned = 0

    def enter(self, doing: str, at: float) -> None:
        self.doing, self.since = doing, at

    def plan(self, resources: int) -> None:
        self.planned = resources

    def count(self) -> None:
        self.done += 1


class LiveView:
    """Subscriber with a view that ``tick`` refreshes, from the main thread."""

    def __init__(self, out: TextIO, title: str, verbose: bool = False) -> None:
        self._console = Console(file=out, highlight=False)
        self._title = title
        self._verbose = verbose
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._ended: Counter[str] = Counter()
        self._slowest: list[HostResult] = []
        self._above: list[Text] = []
        self._said: Counter[str] = Counter()
        self._hosts = 0
        self._noop = False
        self._note = ""
        self._began = time.time()
        self._drawn = 0.0
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def handle(self, event: happening.Event) -> None:
        """Take note of an event; nothing is drawn here."""
        with self._lock:
            if isinstance(event, happening.ResourceEvent):
                self._resource(event)
            elif isinstance(event, happening.ResourceProgress):
                row = self._running.get(event.host)
                if row is not None:
                    row.enter(f"{event.resource}  {event.action}", event.at)
            elif isinstance(event, happening.HostPhase):
                row = self._running.setdefault(event.host, _Running(event.at))
                row.enter(event.phase.words, event.at)
            elif isinstance(event, happening.HostPlanned):
                self._running[event.host].plan(event.resources)
            elif isinstance(event, happening.HostFinished):
                self._finished(event.result)
            elif isinstance(event, happening.HostNotice):
                self._say(event.host, event.text, "dim")
            elif isinstance(event, happening.RunStarted):
                self._hosts, self._noop, self._began = len(event.hosts), event.noop, event.at

    def _resource(self, event: happening.ResourceEvent) -> None:
        told = event.event
        row = self._running.get(event.host)
        if row is not None:
            row.count()
        if told["failed"] or (self._verbose and told["status"] != "stable"):
            reason = told["error"][0] if told["error"] else told.get("noop_message", "")
            text = f"{told['status']} {told['type']}#{told['name']}{reason and ': ' + reason}"
            self._say(event.host, text, "red" if told["failed"] else "yellow")

    def _finished(self, result: HostResult) -> None:
        self._running.pop(result.host, None)
        self._ended[result.outcome] += 1
        self._slowest = sorted([*self._slowest, result], key=lambda r: -r.seconds)[:MAX_SLOWEST]
        if self._verbose or (result.outcome != outcome.OK and result.message):
            self._say(result.host, host_line(result, self._noop), _STYLES[result.outcome])

    def _say(self, host: str, text: str, style: str) -> None:
        """Write a line above the view; what many hosts say alike is said for a few of them."""
        text = one_line(text, 2000)
        self._said[alike(text, host)] += 1
        times = self._said[alike(text, host)]
        if len(self._said) > MAX_SAID:
            self._said.clear()
        if times > MAX_ALIKE and not self._verbose:
            host, text, style = "…", "and so on more hosts; the summary names them", "dim"
        if times <= MAX_ALIKE + 1 or self._verbose:
            self._above.append(Text.assemble((host, "bold"), ": ", (text, style)))

    def _write(self, line: Text) -> None:
        """One line of the terminal, unless everything is wanted; the summary has the rest."""
        if self._verbose:
            self._console.print(line)
        else:
            self._console.print(line, no_wrap=True, overflow="ellipsis")

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Keep the terminal free for a question while this is entered; any thread."""
        with self._drawing:
            self._live.stop()
            try:
                yield
            finally:
                self._live.start()

    def note(self, text: str) -> None:
        """Show one line below the counts, as while the run is being ended."""
        self._note = text

    def tick(self) -> None:
        """Draw, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._drawn < SHORTEST_REFRESH:
            return
        self._drawn = now
        if not self._drawing.acquire(blocking=False):
            return  # a question stands on the terminal
        try:
            with self._lock:
                above, self._above = self._above, []
                view = self._view()
            for line in above:
                self._write(line)
            self._live.update(view, refresh=True)
        finally:
            self._drawing.release()

    def close(self) -> None:
        """Take the view away; what was written above it stays."""
        with self._lock:
            above, self._above = self._above, []
        for line in above:
            self._write(line)
        self._live.stop()

    def _view(self) -> Group:
        now = time.time()
        ended = sum(self._ended.values())
        counts = Text(no_wrap=True, overflow="ellipsis")
        for name, style in _STYLES.items():
            if self._ended[name]:
                counts.append(f"{self._ended[name]:,} {name}   ", style)
        counts.append(f"{len(self._running):,} running   ", "cyan")
        counts.append(f"{max(0, self._hosts - ended - len(self._running)):,} waiting", "dim")
        parts: list[RenderableType] = [self._head(now, ended), counts]
        if self._note:
            parts.append(Text(self._note, "bold yellow"))
        return Group(*parts, self._rows(now), self._slow())

    def _head(self, now: float, ended: int) -> Table:
        head = Table.grid(padding=(0, 2, 0, 0), expand=True)
        head.width = min(MAX_WIDTH, self._console.width)
        head.add_column(no_wrap=True, overflow="ellipsis")
        head.add_column(ratio=1, min_width=10)
        head.add_column(justify="right", no_wrap=True)
        bar = ProgressBar(total=max(1, self._hosts), completed=ended, complete_style="green")
        text = f"{ended:,}/{self._hosts:,} hosts  {took(now - self._began)}"
        head.add_row(Text(self._title, "bold"), bar, Text(text))
        return head

    def _rows(self, now: float) -> Table:
        """The running hosts, the one that has been running for the longest first."""
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.width = min(MAX_WIDTH, self._console.width)
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(justify="right", no_wrap=True)
        room = max(1, min(MAX_ROWS, self._console.size.height - 8))
        rows = sorted(self._running.items(), key=lambda item: item[1].began)
        for host, row in rows[:room]:
            done = Text(f"{row.done}/{row.planned}" if row.planned else "", "dim")
            since = Text(took(max(0.0, now - row.since)), "dim")
            table.add_row(Text(f"  {host}"), done, Text(row.doing), since)
        if len(rows) > room:
            table.add_row(Text(f"  … and {len(rows) - room:,} more", "dim"), "", "", "")
        return table

    def _slow(self) -> Text:
        if len(self._slowest) < 2:
            return Text("")
        names = ", ".join(f"{result.host} {took(result.seconds)}" for result in self._slowest)
        return Text(f"slowest so far: {names}", "dim", no_wrap=True, overflow="ellipsis")
