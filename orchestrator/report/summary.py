"""The summary at the end of a run, and of ``ccm report`` (controller)."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from orchestrator.fleet import outcome
from orchestrator.report.collected import Collected, Entry
from orchestrator.report.grouping import Block, alike, alike_but_for, blocks_of
from orchestrator.report.host_names import named
from orchestrator.report.style import Style
from orchestrator.report.totals import total_lines
from orchestrator.report.wording import (
    INDENT,
    brief,
    change_lines,
    check_line,
    counts,
    ended,
    error_lines,
    flowing,
    hashless,
    printed,
    row_words,
    span,
    to_run,
)
from orchestrator.report.wrapping import wrapped
from orchestrator.support.plain_text import one_line

MAX_VARIANTS = 3
MAX_ROWS = 40
MAX_CHANGES = 8
_INDENT = " " * INDENT

Variant = tuple[Entry, list[str], bool]


class Choice(NamedTuple):
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
        """Write the summary; ``kept`` is the run's id, "" where ccm report has it not."""
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
        yield from self._untried(block)

    def _untried(self, block: Block) -> Iterator[str]:
        numbers = [result.untried for result in block.results]
        if any(numbers):
            words = "resource was" if set(numbers) == {1} else "resources were"
            yield f"    fail_on_error: {span(numbers)} {words} not tried"

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
        for line in error_lines([ended(result)], style.width - 6, self._choice.everything):
            yield f"    {line}"
        if result.hint:
            for line in wrapped(f"→ {result.hint}", style.width - 6, to_run(block.results)):
                yield f"    {line}"
        if result.report:
            yield f"    please report it with {result.report}"
        if result.stderr.strip() and result.outcome != outcome.INTERRUPTED:
            for line in error_lines(["stderr:", result.stderr], style.width, False):
                yield f"    {style('faint', line)}"
        if result.outcome == outcome.INTERRUPTED and result.planned:
            done = span([one.tally.total for one in block.results])
            planned = span([one.planned for one in block.results])
            yield f"    {done} of {planned} resources had their turn"

    def _row(self, row: dict[Entry, list[str]]) -> Iterator[str]:
        """One resource: what is the same on all hosts of the block, then what differs."""
        variants = self._variants(row)
        yield from self._headline(row, variants)
        shown = variants if self._choice.everything else variants[:MAX_VARIANTS]
        for entry, names, alike_only in shown:
            lines = list(self._details(entry, len(variants) == 1))
            if len(variants) > 1:
                yield self._faint(f"on {named(names, self._style.width - 24)}:")
            yield from (f"{_INDENT}{text}" for text in lines)
            if alike_only and lines:
                what = "names or numbers" if entry.errors or entry.health else "their own name"
                yield self._faint(f"(as on {names[0]}; others differ in {what} only)")
        if len(shown) < len(variants):
            left = sum(len(names) for _, names, _ in variants[len(shown) :])
            yield self._faint(f"… and differently on {left} more hosts, -v shows all")

    def _headline(self, row: dict[Entry, list[str]], variants: list[Variant]) -> Iterator[str]:
        first, hosts = next(iter(row.items()))
        word, detail = row_words(first)
        resource = first.resource
        if any(_headed(entry) != _headed(first) for entry in row):
            resource, detail = (alike_but_for(hosts[0], text) for text in (resource, detail))
        if len(variants) == 1 and self._compact:
            detail = "; ".join(filter(None, [detail, *self._brief(first)]))
        role = first.status if first.status != "stable" else "changed"
        resource = one_line(resource)
        behind, *below = flowing(f"    {word:<8} {resource}", detail, self._style.width)
        yield f"    {self._style(role, f'{word:<8}')} {resource}{self._style('faint', behind)}"
        yield from map(self._faint, below)

    def _faint(self, text: str) -> str:
        return f"{_INDENT}{self._style('faint', text)}"

    @property
    def _compact(self) -> bool:
        """Whether a change is told in a few words, on the line of its resource if there is room."""
        return not self._choice.diffs and not self._choice.everything

    def _brief(self, entry: Entry) -> list[str]:
        text = ", ".join(brief(change) for change in entry.changes[:MAX_CHANGES])
        left = len(entry.changes) - MAX_CHANGES
        return [f"{text}, … {left} more" if left > 0 else text] if text else []

    def _variants(self, row: dict[Entry, list[str]]) -> list[Variant]:
        """Entries that look different, the hosts of each, and whether those are only alike."""
        found: dict[tuple[object, ...], Variant] = {}
        for entry, names in row.items():
            key = self._look(entry, names[0])
            first = found.get(key)
            if first is None:
                found[key] = (entry, list(names), False)
            else:
                differs = _told(entry) != _told(first[0])
                found[key] = (first[0], first[1] + names, first[2] or differs)
        return list(found.values())

    def _look(self, entry: Entry, host: str) -> tuple[object, ...]:
        if self._choice.everything:
            return entry.changes, entry.errors, entry.output
        errors = [alike(text, host) for text in itertools.chain(entry.errors, *entry.health)]
        if self._compact:
            changes = [alike_but_for(host, text) for text in self._brief(entry)]
        else:
            changes = [
                alike_but_for(host, text) for change in entry.changes for text in hashless(change)
            ]
        return tuple(errors), tuple(changes)

    def _details(self, entry: Entry, alone: bool) -> Iterator[str]:
        width = self._style.width - INDENT
        yield from error_lines(entry.errors, width, self._choice.everything)
        yield from map(printed, entry.output.splitlines())
        for check in entry.health:
            if not (check.failed and entry.errors):
                yield from wrapped(check_line(check), width)
        if self._compact:
            yield from () if alone else self._brief(entry)
            return
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
                width = self._style.width - INDENT
                first, *more = wrapped(f"{level}: {text} [{who}]", width)
                yield self._style("changed", level) + first.removeprefix(level)
                yield from (f"{_INDENT}{line}" for line in more)


def _headed(entry: Entry) -> tuple[str, ...]:
    """What the first line of a row is made of."""
    return entry.resource, entry.message, entry.unknown


def _told(entry: Entry) -> tuple[object, ...]:
    """What the lines below it are made of."""
    return entry.changes, entry.errors, entry.health, entry.output


def _first_failures(row: dict[Entry, list[str]]) -> int:
    """Failures first, then what they kept from running; otherwise the order of the run."""
    return {"failed": 0, "skipped": 1}.get(next(iter(row)).status, 2)
