"""The lines of one resource in a summary, on all hosts of a block (controller)."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.report.grouping import Row
from orchestrator.report.host_names import named
from orchestrator.report.run_collector import Entry
from orchestrator.report.summary_texts import (
    INDENT,
    brief_details,
    change_grouping_key,
    change_lines,
    check_line,
    error_lines,
    flowing,
    others_differ,
    planned_words,
    printed_lines,
    row_words,
    shorten,
    variants_differ,
    without_hashes,
)
from orchestrator.report.terminal.style import Style, wrapped
from orchestrator.report.text_normalization import normalized, normalized_value, without_host_name
from orchestrator.support.plain_text import one_line

MAX_VARIANTS = 3
_INDENT = " " * INDENT


class Variant(NamedTuple):
    """Hosts whose entries look the same; ``entry`` is shown for all of ``hosts``, ``texts`` has the
    strings that they report.
    """

    entry: Entry
    hosts: list[str]
    texts: set[tuple[object, ...]]


class DetailLevel(NamedTuple):
    """``diffs`` of changes, ``everything`` without limits, ``quiet``: only failures."""

    diffs: bool = False
    everything: bool = False
    quiet: bool = False


class Rows:
    """Writes rows; a diff that several rows share is shown once."""

    def __init__(self, style: Style, choice: DetailLevel) -> None:
        self._style = style
        self._choice = choice
        self._shown: set[tuple[str, str, str]] = set()

    def lines(self, row: Row, where: str = "") -> Iterator[str]:
        """One resource: the parts that all its hosts share, then the differences; ``where`` names
        these hosts if the surrounding lines are about others.

        If there are too many variants, those with the most and with the fewest hosts are shown.
        """
        variants = self._variants(row)
        alone = len(variants) == 1
        heads = {without_host_name(hosts[0], self._brief(one)) for one, hosts in row.items()}
        yield from self._headline(row, alone, where)
        shown = variants
        if len(variants) > MAX_VARIANTS and not self._choice.everything:
            first, *others = sorted(variants, key=lambda one: -len(one.hosts))
            shown = [first, *others[1 - MAX_VARIANTS :]]
        for entry, names, texts in shown:
            lines = list(self._details(entry, alone))
            if not alone:
                yield self._faint(f"on {named(names, self._style.width - 24)}:")
            yield from (f"{_INDENT}{text}" for text in lines)
            if len(texts) > 1 and (lines or (alone and len(heads) > 1)):
                yield from self._remark(
                    f"(shown for {names[0]}; {self._others(entry, texts, len(names))})"
                )
        if len(shown) < len(variants):
            left = [host for one in variants if one not in shown for host in one.hosts]
            text = f"… and different on {named(left, self._style.width // 2)}; -v shows all"
            yield from self._remark(text)

    def _others(self, entry: Entry, texts: set[tuple[object, ...]], hosts: int) -> str:
        """The number of variants besides the shown one, and how to see each."""
        if self._choice.everything:
            return others_differ(entry, hosts)
        return f"{variants_differ(entry, len(texts))}; -v shows each"

    def _brief(self, entry: Entry) -> str:
        """The changes that the first line of a row shows."""
        if self._compact:
            return "".join(brief_details(entry))
        return shorten(planned_words(entry).values)

    def _headline(self, row: Row, alone: bool, where: str) -> Iterator[str]:
        """The first line; ``alone``: all hosts have the same details, which it may show."""
        first, hosts = next(iter(row.items()))
        word, detail = row_words(first, self._brief(first) if alone else "")
        resource = first.resource
        if len({(_headed(entry), alone and self._brief(entry)) for entry in row}) > 1:
            resource, detail = (without_host_name(hosts[0], text) for text in (resource, detail))
        detail = ", ".join(filter(None, (detail, where)))
        role = first.status if first.status != "stable" else "changed"
        resource = one_line(resource)
        behind, *below = flowing(f"    {word:<8} {resource}", detail, self._style.width)
        yield f"    {self._style(role, f'{word:<8}')} {resource}{self._style('faint', behind)}"
        yield from map(self._faint, below)

    def _remark(self, text: str) -> Iterator[str]:
        yield from map(self._faint, wrapped(text, self._style.width - len(_INDENT)))

    def _faint(self, text: str) -> str:
        return f"{_INDENT}{self._style('faint', text)}"

    @property
    def _compact(self) -> bool:
        """Whether a change fits on the line of its resource in a few words."""
        return not self._choice.diffs and not self._choice.everything

    def _variants(self, row: Row) -> list[Variant]:
        """Entries that look different, with the hosts of each."""
        result: dict[tuple[object, ...], Variant] = {}
        for entry, names in row.items():
            key = self._look(entry, names[0])
            variant = result.setdefault(key, Variant(entry, [], set()))
            variant.hosts.extend(names)
            variant.texts.add(_told(entry))
        return list(result.values())

    def _look(self, entry: Entry, host: str) -> tuple[object, ...]:
        if self._choice.everything:
            operations = tuple(without_host_name(host, text) for text in entry.operations)
            changed = map(without_hashes, entry.changes) if self._choice.diffs else entry.changes
            return tuple(changed), entry.errors, entry.output, operations
        told = itertools.chain(entry.errors, *entry.health, [entry.output])
        errors = [normalized(text, host) for text in told]
        if self._compact:
            changes = [normalized_value(host, text) for text in brief_details(entry)]
        else:
            changes = list(change_grouping_key(entry.changes, host))
        return tuple(errors), tuple(changes)

    def _details(self, entry: Entry, alone: bool) -> Iterator[str]:
        width = self._style.width - INDENT
        yield from error_lines(entry.errors, width, self._choice.everything)
        yield from printed_lines(entry.output, self._choice.everything)
        if entry.planned:
            yield from wrapped(f"the plan predicted: {entry.planned}", width)
        for check in entry.health:
            if not (check.failed and entry.errors):
                yield from wrapped(check_line(check), width)
        words, value, rest = planned_words(entry)
        action = f"{words} " if value else ""  # "run true" cannot be read as a result
        if self._compact:
            yield from () if alone else (f"{action}{text}" for text in brief_details(entry))
            return
        if value and not alone:
            yield f"{action}{shorten(value)}"
        for change in rest:
            key = (entry.resource, change.what, change.diff)
            known = key in self._shown
            if self._choice.diffs:
                self._shown.add(key)
            yield from change_lines(change, self._style, self._choice.diffs, known)
        if entry.operations:
            told = ", ".join(one_line(text) for text in entry.operations)
            yield from wrapped(f"operations: {told}", width)


def _headed(entry: Entry) -> tuple[str, ...]:
    """The parts of the first line of a row."""
    return entry.resource, entry.message, entry.uncertainty


def _told(entry: Entry) -> tuple[object, ...]:
    """The parts of the lines below it."""
    changes = tuple(map(without_hashes, entry.changes))
    return changes, entry.errors, entry.health, entry.output, entry.operations
