"""The summary at the end of a run, and of ``ccm report`` (controller)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.collected import Collected, Entry
from orchestrator.report.grouping import Block, blocks_of
from orchestrator.report.host_names import named
from orchestrator.report.style import Style
from orchestrator.report.totals import total_lines
from orchestrator.report.wording import change_lines, counts, error_lines, headline, took

MAX_VARIANTS = 3
MAX_ROWS = 40
_INDENT = "      "


@dataclass(frozen=True, slots=True)
class Choice:
    """``diffs`` of changes, ``everything`` without bounds, ``quiet``: failures only."""

    diffs: bool = False
    everything: bool = False
    quiet: bool = False


class Summary:
    """Writes the blocks of hosts, failures first, then the totals."""

    def __init__(self, collected: Collected, style: Style, choice: Choice) -> None:
        self._collected = collected
        self._style = style
        self._choice = choice
        self._noop = bool(collected.started and collected.started.noop)
        self._shown: set[tuple[str, str, str]] = set()

    def write(self, out: TextIO, kept: str = "") -> None:
        """Write the summary; ``kept`` names the run's id."""
        for line in self.lines(kept):
            out.write(line + "\n")
        out.flush()

    def lines(self, kept: str = "") -> Iterator[str]:
        """The summary, line by line."""
        blocks = blocks_of(self._collected)
        if self._choice.quiet:
            blocks = [block for block in blocks if block.outcome != outcome.OK]
        for block in blocks:
            yield ""
            yield from self._block(block)
        yield from self._notices()
        if not self._choice.quiet or blocks:
            yield ""
            yield from total_lines(self._collected, self._style, kept)

    def _block(self, block: Block) -> Iterator[str]:
        style, result = self._style, block.result
        width = 10_000 if self._choice.everything else style.width - 24
        role = "changed" if block.outcome == outcome.OK and block.changed else block.outcome
        told = self._fate(block)
        yield f"{style('title', named(block.hosts, width))}  {style(role, told)}"
        if result.message:
            yield from self._host_error(block)
        rows = block.entries if self._choice.everything else block.entries[:MAX_ROWS]
        for row in rows:
            yield from self._row(row, len(block.hosts))
        if len(rows) < len(block.entries):
            yield style(
                "faint", f"    … {len(block.entries) - len(rows)} more resources, -v shows all"
            )

    def _fate(self, block: Block) -> str:
        result = block.result
        words = counts(result, self._noop)
        if block.outcome == outcome.OK:
            return words or "nothing to do"
        if block.outcome == outcome.FAILED and not result.message:
            return words
        word = "defect in ccm" if block.outcome == outcome.DEFECT else block.outcome
        return f"{word} ({words})" if words else word

    def _host_error(self, block: Block) -> Iterator[str]:
        result, style = block.result, self._style
        where = "" if result.outcome == outcome.INTERRUPTED else f"{result.phase}: "
        text = f"{where}{result.message}"
        for line in error_lines([text], style.width - 6, self._choice.everything):
            yield f"    {line}"
        if result.hint:
            for line in error_lines([f"→ {result.hint}"], style.width - 6, True):
                yield f"    {line}"
        if result.report:
            yield f"    please report it with {result.report}"
        if result.stderr.strip():
            for line in error_lines(["stderr:", result.stderr], style.width, False):
                yield f"    {style('faint', line)}"
        if result.outcome == outcome.INTERRUPTED and result.planned:
            yield f"    {result.tally.total} of {result.planned} resources were done"

    def _row(self, row: dict[Entry, list[str]], hosts: int) -> Iterator[str]:
        """One resource: what is the same on all hosts of the block, then what differs."""
        style = self._style
        first = next(iter(row))
        word = "would" if self._noop and first.status == "changed" else first.status
        if first.status == "stable":
            word = "warning"
        role = "changed" if word in ("would", "warning") else first.status
        detail = headline(first)
        if word == "would" and detail:
            word, detail = "preview", detail[:1].lower() + detail[1:]
        line = f"    {style(role, f'{word:<8}')} {first.resource}"
        yield f"{line}  {style('faint', detail)}" if detail else line
        variants = list(row.items())
        shown = variants if self._choice.everything else variants[:MAX_VARIANTS]
        for entry, names in shown:
            if len(variants) > 1:
                yield f"{_INDENT}{style('faint', 'on ' + named(names, style.width - 20) + ':')}"
            yield from (f"{_INDENT}{text}" for text in self._details(entry))
        if len(shown) < len(variants):
            left = sum(len(names) for _, names in variants[len(shown) :])
            text = f"… and differently on {left} more hosts, -v shows all"
            yield f"{_INDENT}{style('faint', text)}"

    def _details(self, entry: Entry) -> Iterator[str]:
        yield from error_lines(entry.errors, self._style.width - 8, self._choice.everything)
        yield from entry.health
        for change in entry.changes:
            key = (entry.resource, change.what, change.diff)
            known = key in self._shown
            if self._choice.diffs:
                self._shown.add(key)
            yield from change_lines(change, self._style, self._choice.diffs, known)

    def _notices(self) -> Iterator[str]:
        notices = self._collected.notices
        if notices and not self._choice.quiet:
            yield ""
        for (level, text), hosts in notices.items():
            if not self._choice.quiet:
                who = named(sorted(set(hosts)), self._style.width - 30)
                yield f"{self._style('changed', level)}: {text} {self._style('faint', f'[{who}]')}"


def host_line(result: HostResult, noop: bool) -> str:
    """One host's fate in one line."""
    text = counts(result, noop) or ("nothing to do" if result.outcome == outcome.OK else "")
    if result.message:
        text = f"{result.message.splitlines()[0]}{f' ({text})' if text else ''}"
    word = result.outcome
    if word == outcome.OK and result.changed:
        word = "pending" if noop else "changed"
    return f"{word}: {text} ({took(result.seconds)})"
