"""The live view on a terminal (controller): the only module that imports rich.

It shows hosts by state, a progress bar, the failures of the most hosts, and the activity of each
running host with its start. The summary, which replaces it, shows the failures; with -v, they are
also written above it.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.control import Control
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import ControlType, Segment
from rich.table import Table
from rich.text import Text

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.durations import duration_text
from orchestrator.report.failures import Failures
from orchestrator.report.run_collector import entry_of
from orchestrator.report.summary_texts import AD_HOC, DRIFTED, UNCHANGED, buckets, host_line, is_run
from orchestrator.report.terminal.active_hosts import ActiveHosts
from orchestrator.report.terminal.failure_paragraphs import failure_summary
from orchestrator.report.terminal.rollout_progress import RolloutProgress
from orchestrator.report.text_normalization import normalized
from orchestrator.support.plain_text import one_line

SHORTEST_REFRESH = 0.2
MAX_ROWS = 16
MAX_SLOWEST = 3
MAX_LATEST = 4
MAX_MESSAGES = 1_000
_STYLES = {
    outcome.DEFECT: "bold red",
    outcome.FAILED: "bold red",
    outcome.REFUSED: "bold red",
    outcome.UNREACHABLE: "bold magenta",
    outcome.INTERRUPTED: "yellow",
    outcome.NOT_STARTED: "yellow",
    "changed": "yellow",
    "would change": "yellow",
    DRIFTED: "yellow",
    UNCHANGED: "green",
    outcome.OK: "green",
}
_CHANGES = ("changed", "would change", DRIFTED)


class _FirstMessage(NamedTuple):
    """The message that ``host`` reported first, and the number of hosts that reported it."""

    host: str
    text: str
    style: str
    hosts: int


class LiveView:
    """Subscriber with a view that ``tick`` redraws, from the main thread."""

    def __init__(self, out: TextIO, title: str, verbose: bool = False) -> None:
        self._console = Console(file=out, highlight=False)
        self._title = title
        self._verbose = verbose
        self._lock = threading.Lock()
        self._drawing = threading.Lock()
        self._work = ActiveHosts()
        self._standing = RolloutProgress()
        self._ended: Counter[str] = Counter()
        self._slowest: list[HostResult] = []
        self._above: list[Text] = []
        self._failures = Failures()
        self._said: dict[str, _FirstMessage] = {}
        self._noop = False
        self._command = ""
        self._note = ""
        self._began = time.time()
        self._drawn = 0.0
        self._shown: tuple[Group, ConsoleOptions] | None = None
        self._live = self._new_live()

    def _new_live(self) -> Live:
        # A restarted display would overwrite the lines written since it was stopped.
        self._shown = None
        return Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def handle(self, event: run_events.Event) -> None:
        """Process an event; nothing is drawn here."""
        with self._lock:
            self._work.handle(event)
            self._standing.handle(event)
            if isinstance(event, run_events.ResourceEvent):
                self._resource(event)
            elif isinstance(event, run_events.HostFinished):
                self._finished(event.result)
            elif isinstance(event, run_events.HostNotice):
                self._noticed(event)
            elif isinstance(event, run_events.RunStarted):
                self._noop, self._began = event.noop, event.at
                self._command = event.command
                self._failures = Failures(event.hosts)

    def _noticed(self, event: run_events.HostNotice) -> None:
        if event.level == "info" and not event.waits:  # output that the user requested
            text = one_line(event.text, 2000)
            self._above.append(Text.assemble((event.host, "bold"), ": ", (text, "dim")))
        elif not event.waits or self._verbose:
            self._say(event.host, event.text, "dim")

    def _resource(self, event: run_events.ResourceEvent) -> None:
        members = event.event
        if members["status"] == "stable" or is_run(members, self._command):
            return
        entry = entry_of(members)
        if self._verbose:
            reason = entry.errors[0] if entry.errors else entry.message
            text = (
                f"{members['status']} {members['type']}#{members['name']}{reason and ': ' + reason}"
            )
            self._say(event.host, text, "red" if members["failed"] else "yellow")
        elif members["failed"]:
            self._failures.add(event.host, entry)

    def _finished(self, result: HostResult) -> None:
        word: str = result.outcome
        if word == outcome.OK and self._command not in AD_HOC:
            numbers = buckets(result.tally, self._noop, self._command)
            word = next(filter(numbers.get, _CHANGES), UNCHANGED)
        self._ended[word] += 1
        self._slowest = sorted([*self._slowest, result], key=lambda r: -r.seconds)[:MAX_SLOWEST]
        if self._verbose or (not result.was_started and result.message):
            style = _STYLES.get(result.outcome, "green")
            self._say(result.host, host_line(result, self._noop, self._command), style)
        else:
            self._failures.end(result)

    def _say(self, host: str, text: str, style: str) -> None:
        """Show a line in the view, once if many hosts report it; with -v, above the view."""
        text = one_line(text, 2000)
        if self._verbose:
            self._above.append(Text.assemble((host, "bold"), ": ", (text, style)))
            return
        key = normalized(text, host)
        said = self._said.pop(key, _FirstMessage(host, text, style, 0))
        if len(self._said) > MAX_MESSAGES:
            self._said.clear()
        self._said[key] = said._replace(hosts=said.hosts + 1)

    def _troubles(self) -> list[Text]:
        """The failures of the most hosts, then the latest messages."""
        lines = []
        width = self._console.width
        for failure in self._failures.largest(MAX_LATEST):
            line = Text(no_wrap=True, overflow="ellipsis")
            line.append(
                failure_summary(failure, width * 2 // 3), f"bold {_STYLES[failure.outcome]}"
            )
            lines.append(line.append(f": {one_line(failure.reason)}"))
        remaining = len(self._failures) - len(lines)
        if remaining > 0:
            lines.append(Text(f"… {remaining:,} more failure{'s' if remaining > 1 else ''}", "dim"))
        said = list(self._said.values())
        for host, text, style, hosts in said[max(0, len(said) + len(lines) - MAX_LATEST) :]:
            more = f" and {hosts - 1:,} more" if hosts > 1 else ""
            line = Text(no_wrap=True, overflow="ellipsis")
            lines.append(line.append(host, "bold").append(f"{more}: ").append(text, style))
        return lines

    def start(self) -> None:
        """Start drawing."""
        self._live.start()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Keep the terminal free for a prompt within this context; any thread."""
        with self._drawing:
            self._live.stop()
            try:
                yield
            finally:
                self._live = self._new_live()
                self._live.start()

    def note(self, text: str) -> None:
        """Show one line below the counts, for example while the run is being stopped."""
        self._note = text

    def tick(self) -> None:
        """Draw, unless that was done very recently."""
        now = time.monotonic()
        if now - self._drawn < SHORTEST_REFRESH:
            return
        self._drawn = now
        if not self._drawing.acquire(blocking=False):
            return  # a question is on the terminal
        try:
            with self._lock:
                above, self._above = self._above, []
                view = self._view()
            self._erase_wrapped()
            for line in above:
                self._console.print(line)
            self._live.update(view, refresh=True)
            self._shown = view, self._console.options
        finally:
            self._drawing.release()

    def _erase_wrapped(self) -> None:
        """Erase the rows into which a narrower window has wrapped the view's lines, because rich
        moves up by only as many rows as there were lines.
        """
        if self._shown is None:
            return
        view, options = self._shown
        width = max(1, self._console.width)
        if width >= options.max_width:
            return
        lines = self._console.render_lines(view, options, pad=False)
        more = sum(max(0, Segment.get_line_length(line) - 1) // width for line in lines)
        up = ((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1))
        self._console.control(Control(ControlType.CARRIAGE_RETURN, *up * more))
        self._shown = None

    def close(self) -> None:
        """Remove the view; lines above it are kept."""
        self._erase_wrapped()
        with self._lock:
            above, self._above = self._above, []
        for line in above:
            self._console.print(line)
        self._live.stop()

    def _view(self) -> Group:
        now = time.time()
        ended = sum(self._ended.values())
        counts = Text(no_wrap=True, overflow="ellipsis")
        for name, style in _STYLES.items():
            if self._ended[name]:
                counts.append(f"{self._ended[name]:,} {name}   ", style)
        counts.append(f"{self._work.running:,} running   ", "cyan")
        counts.append(f"{self._work.waiting:,} waiting", "dim")
        parts: list[RenderableType] = [self._head(now, ended), counts]
        if standing := self._standing.now(now):
            parts.append(Text(standing, "cyan", no_wrap=True, overflow="ellipsis"))
        if self._note:
            parts.append(Text(self._note, "bold yellow"))
        latest = self._troubles() if self._console.size.height > MAX_LATEST + 12 else []
        return Group(*parts, *latest, self._rows(now, len(latest)), self._slow())

    def _head(self, now: float, ended: int) -> Table:
        head = Table.grid(padding=(0, 2, 0, 0), expand=True)
        head.width = self._console.width
        head.add_column(no_wrap=True, overflow="ellipsis")
        head.add_column(ratio=1, min_width=10)
        head.add_column(justify="right", no_wrap=True)
        bar = ProgressBar(
            total=max(1, self._work.hosts),
            completed=ended,
            style="bright_black",
            complete_style="green",
        )
        text = f"{ended:,}/{self._work.hosts:,} hosts  {duration_text(now - self._began)}"
        head.add_row(Text(self._title, "bold"), bar, Text(text))
        return head

    def _rows(self, now: float, taken: int) -> Table:
        """The active hosts; the one whose step takes the longest comes first."""
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.width = self._console.width
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(justify="right", no_wrap=True)
        space = max(1, min(MAX_ROWS, self._console.size.height - 8 - taken))
        rows = self._work.longest()
        for host, row in rows[:space]:
            done = Text(f"{row.done}/{row.planned}" if row.planned else "", "dim")
            since = Text(duration_text(max(0.0, now - row.since)), "dim")
            table.add_row(Text(f"  {host}"), done, Text(row.doing), since)
        if len(rows) > space:
            table.add_row(Text(f"  … and {len(rows) - space:,} more", "dim"), "", "", "")
        return table

    def _slow(self) -> Text:
        if len(self._slowest) < 2:
            return Text("")
        names = ", ".join(
            f"{result.host} {duration_text(result.seconds)}" for result in self._slowest
        )
        return Text(f"slowest so far: {names}", "dim", no_wrap=True, overflow="ellipsis")
