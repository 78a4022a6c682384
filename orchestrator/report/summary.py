"""The summary at the end of a run, and of ``ccm report`` (controller)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from orchestrator.fleet import outcome
from orchestrator.fleet.plain_text import one_line
from orchestrator.report.collected import Collected, Entry
from orchestrator.report.grouping import Block, alike, blocks_of
from orchestrator.report.host_names import named
from orchestrator.report.style import Style
from orchestrator.report.totals import total_lines
from orchestrator.report.wording import change_lines, counts, error_lines, row_words, span

MAX_VARIANTS = 3
MAX_ROWS = 40
_INDENT = "        "


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
        entries = sorted(block.entries, key=_first_failures)
        rows = entries if self._choice.everything else entries[:MAX_ROWS]
        for row in rows:
            yield from self._row(row)
        if len(rows) < len(block.entries):
            yield style(
                "faint", f"    … {len(block.entries) - len(rows)} more resources, -v shows all"
            )

    def _fate(self, block: Block) -> str:
        result = block.result
        words = counts(block.results, self._noop)
        if block.outcome == outcome.OK:
            return words or "nothing to do"
        if block.outcome == outcome.FAILED and not result.message:
            return words
        word = "defect in ccm" if block.outcome == outcome.DEFECT else block.outcome
        return f"{word} ({words})" if words else word

    def _host_error(self, block: Block) -> Iterator[str]:
        result, style = block.result, self._style
        where = "" if result.outcome == outcome.INTERRUPTED else f"while {result.phase}: "
        text = f"{where}{result.message}"
        for line in error_lines([text], style.width - 6, self._choice.everything):
            yield f"    {line}"
        if result.hint:
            for line in error_lines([f"→ {result.hint}"], style.width - 6, True):
                yield f"    {line}"
        if result.report:
            yield f"    please report it with {result.report}"
        if result.stderr.strip() and result.outcome != outcome.INTERRUPTED:
            for line in error_lines(["stderr:", result.stderr], style.width, False):
                yield f"    {style('faint', line)}"
        if result.outcome == outcome.INTERRUPTED and result.planned:
            done = span([one.tally.total for one in block.results])
            planned = span([one.planned for one in block.results])
            yield f"    {done} of {planned} resources were done"

    def _row(self, row: dict[Entry, list[str]]) -> Iterator[str]:
        """One resource: what is the same on all hosts of the block, then what differs."""
        style = self._style
        first = next(iter(row))
        word, detail = row_words(first, self._noop)
        role = first.status if first.status != "stable" else "changed"
        line = f"    {style(role, f'{word:<8}')} {one_line(first.resource)}"
        yield f"{line}  {style('faint', detail)}" if detail else line
        variants = self._variants(row)
        shown = variants if self._choice.everything else variants[:MAX_VARIANTS]
        for entry, names, alike_only in shown:
            if len(variants) > 1:
                yield f"{_INDENT}{style('faint', f'on {named(names, style.width - 24)}:')}"
            yield from (f"{_INDENT}{text}" for text in self._details(entry))
            if alike_only:
                yield f"{_INDENT}{style('faint', f'(as on {names[0]}; others differ in numbers)')}"
        if len(shown) < len(variants):
            left = sum(len(names) for _, names, _ in variants[len(shown) :])
            text = f"… and differently on {left} more hosts, -v shows all"
            yield f"{_INDENT}{style('faint', text)}"

    def _variants(self, row: dict[Entry, list[str]]) -> list[tuple[Entry, list[str], bool]]:
        """Entries that look different, the hosts of each, and whether those are only alike."""
        found: dict[tuple[object, ...], tuple[Entry, list[str], bool]] = {}
        for entry, names in row.items():
            changes = entry.changes
            if not self._choice.diffs:
                changes = tuple(c._replace(diff="") if "\n" in c.diff else c for c in changes)
            texts = tuple(alike(text, names[0]) for text in (*entry.errors, *entry.health))
            key = (changes, entry.errors if self._choice.everything else texts)
            first = found.get(key)
            if first is None:
                found[key] = (entry, list(names), False)
            else:
                differs = first[2] or entry.errors != first[0].errors
                found[key] = (first[0], first[1] + names, differs)
        return list(found.values())

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


def _first_failures(row: dict[Entry, list[str]]) -> int:
    """Failures first, then what they kept from running; otherwise the order of the run."""
    return {"failed": 0, "skipped": 1}.get(next(iter(row)).status, 2)
