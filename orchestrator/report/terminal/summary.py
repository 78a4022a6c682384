"""The summary at the end of a run, and of ``ccm report`` (controller)."""

import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.change_groups import ChangeList, by_manifest, heading
from orchestrator.report.grouping import (
    Block,
    blocks_of,
    not_run_resources,
    overview,
)
from orchestrator.report.host_names import named
from orchestrator.report.retry_options import RetryOptions, retry_line
from orchestrator.report.run_collector import RunCollector
from orchestrator.report.summary_texts import (
    INDENT,
    counts,
    end_reason,
    error_lines,
    listed,
    outcome_words,
    retry_text,
    span,
)
from orchestrator.report.terminal.resource_rows import DetailLevel, Rows
from orchestrator.report.terminal.style import Style, wrapped
from orchestrator.report.terminal.totals import total_lines
from orchestrator.report.text_normalization import FINGERPRINT, normalized
from orchestrator.support.plain_text import one_line

FEW_HOSTS = 10  # are read one by one


def idle_lines(collected: RunCollector, style: Style) -> Iterator[str]:
    """A line for each reason why hosts were not started."""
    lines: dict[tuple[str, str], list[str]] = {}
    for host, result in collected.results.items():
        if not result.was_started:
            lines.setdefault((result.outcome, normalized(result.message, host)), []).append(host)
    for (role, _), hosts in lines.items():
        number = f"{len(hosts):,} host{'s' if len(hosts) > 1 else ''}"
        told = one_line(end_reason(collected.results[hosts[0]]), style.width - len(number) - 1)
        yield f"{style('title', number)} {style(role, told)}"


MAX_ROWS = 40
MAX_NOT_RUN = 3
MAX_LINES = 40  # of a fleet's summary
MAX_BLOCKS = 6  # of hosts, in there
MIN_CHANGES = 6  # lines of changes in there, however much failed
MAX_KEYS = 4  # fingerprints of grouped hosts
_INDENT = " " * INDENT
_ASKED = ("push", "apply", "ensure", "drift")  # commands whose runs are stored


class Summary:
    """Writes the blocks of hosts, failures first, then the totals."""

    def __init__(self, collected: RunCollector, style: Style, choice: DetailLevel) -> None:
        self._collected = collected
        self._style = style
        self._choice = choice
        self._noop = bool(collected.started and collected.started.noop)
        self._command = collected.started.command if collected.started else ""
        self._rows = Rows(style, choice)
        self._told = False

    def write(self, out: TextIO, run_id: str = "") -> None:
        """Write the summary; ``run_id`` is "" if ccm report cannot show it."""
        for line in self.lines(run_id):
            out.write(line + "\n")
        out.flush()

    def lines(self, run_id: str = "") -> Iterator[str]:
        """The summary, line by line."""
        blocks = blocks_of(self._collected)
        several = len(blocks) > 1
        if self._noop:  # unknown results come before their consequences
            yield from self._notices()
        if self._choice.quiet:
            blocks = [block for block in blocks if block.outcome != outcome.OK]
        if several:
            yield from self._by_change(blocks)
        else:
            for block in blocks:
                yield from itertools.chain(self._block(block), self._retry_lines(block))
        if not self._choice.quiet or blocks:
            yield from self._ending(run_id)
        elif not self._noop:
            yield from self._notices()

    def _by_change(self, blocks: list[Block]) -> Iterator[str]:
        """Different hosts: the reasons for failures, the result of each host, then
        every change once.
        """
        many = len(self._collected.results) > FEW_HOSTS and not self._choice.everything
        top = self._failures()
        if many and not self._choice.quiet:
            top = [*(top or [""]), *idle_lines(self._collected, self._style)]
        if top[1:]:
            yield from top
        together = overview(blocks, lambda one: "" if many else self._counts([one]))
        shown = together[:MAX_BLOCKS] if many else together
        lines = [line for at, block in enumerate(shown) for line in self._host(block, at == 0)]
        yield from lines
        if len(shown) < len(together):
            left = sum(len(block.hosts) for block in together[len(shown) :])
            number = len(together) - len(shown)
            groups = "group" if number == 1 else "groups"
            hosts_left = "1 host" if left == 1 else f"{left:,} hosts"
            text = f"… {number:,} more {groups} of {hosts_left}; -v shows all"
            yield self._style("faint", text)
        if self._choice.quiet:
            return
        hosts = [host for block in together for host in block.hosts if block.result.was_started]
        changes = ChangeList(
            self._collected, hosts, style=self._style, choice=self._choice, told=self._told
        )
        space = None
        if many:
            used = len(top) + len(lines) + len(list(self._ending("id"))) + 2
            space = max(MIN_CHANGES, MAX_LINES - used)
        found = list(changes.lines(space))
        yield from ["", *found] if found else []

    def _host(self, block: Block, first: bool) -> Iterator[str]:
        """The results of hosts, without their resources; a blank line before the first host and
        before hosts that need more than a line.
        """
        told = itertools.chain(self._block(block, rows=False), self._retry_lines(block))
        head, *more = told
        yield from [head] if first or len(more) > 1 else []
        yield from more

    def _ending(self, run_id: str = "") -> Iterator[str]:
        if not self._noop:
            yield from self._notices()
        dangers = self._collected.dangers
        if dangers is not None and dangers.total and not self._choice.quiet:
            yield ""
            yield from dangers.lines(self._style, everything=self._choice.everything)
        yield ""
        yield from total_lines(self._collected, self._style, run_id)

    def _failures(self) -> list[str]:
        """A paragraph for each reason why hosts failed, after a blank line; empty if no
        host failed.
        """
        from orchestrator.report.failures import failures_of
        from orchestrator.report.terminal.failure_paragraphs import failures_first

        failures = failures_of(self._collected.entries, self._collected.results)
        self._told = bool(failures.all())
        everything = self._choice.everything
        lines = failures_first(failures, self._style, self._asked, everything=everything)
        return ["", *lines] if self._told else []

    @property
    def _asked(self) -> RetryOptions:
        """The options for repeating the run, with its ID only if it can be used."""
        started = self._collected.started
        if started is None:
            return RetryOptions()
        return RetryOptions(started.run_id if started.command in _ASKED else "", started.again)

    def _block(self, block: Block, *, rows: bool = True) -> Iterator[str]:
        style, result = self._style, block.result
        width = 10_000 if self._choice.everything else style.width - 24
        role = "changed" if block.outcome == outcome.OK and block.changed else block.outcome
        told = self._outcome(block)
        yield ""
        yield f"{style('title', named(block.hosts, width))}  {style(role, told)}"
        if result.message:
            yield from self._host_error(block)
            yield from self._unreported(block)
        if rows:
            yield from self._resources(block)
        if not result.message:
            yield from self._unreported(block)

    def _resources(self, block: Block) -> Iterator[str]:
        style = self._style
        rows = by_manifest(block.entries)
        visible = rows if self._choice.everything else rows[:MAX_ROWS]
        manifest = ""
        for row in visible:
            entry = next(iter(row))
            if entry.manifest != manifest:
                manifest = entry.manifest
                yield f"    {style('faint', heading(block.entries, manifest, style.width - 4))}"
            yield from self._rows.lines(row)
        if len(visible) < len(rows):
            yield style("faint", f"    … {len(rows) - len(visible)} more resources; -v shows all")

    def _retry_lines(self, block: Block) -> Iterator[str]:
        """How to continue with failed hosts, unless a paragraph above shows it, or with the
        remaining hosts of a run or rollout that has stopped.
        """
        if not block.result.was_started and self._collected.rollout.planned is None:
            command = self._asked.on(f"run:{self._asked.run_id}:undone")
            if self._asked.run_id and command:
                for line in wrapped("→ resume with:", self._style.width - 4, command):
                    yield f"    {line}"
            return
        failed = block.result.was_started and block.outcome != outcome.OK
        failed = failed and (self._asked.anew or block.result.kind not in outcome.USELESS_OUTCOMES)
        if failed and not self._told and len(block.hosts) > 1:
            words, option = retry_line(block.outcome, block.hosts, self._asked)
            for line in wrapped(words, self._style.width - 4, option):
                yield f"    {line}"

    def _unreported(self, block: Block) -> Iterator[str]:
        """Resources that did not run, by their hosts, and their pending refreshes."""
        words = "not checked" if self._noop else "not run"
        if block.result.untried:
            words = "not run (fail_on_error)"
        unfinished = self._collected.unfinished
        yield from self._shares(block, "unknown", unfinished.unknown)
        yield from self._shares(block, words, unfinished.left)
        yield from self._shares(block, "refreshed by the next push", unfinished.due)

    def _shares(
        self, block: Block, what: str, by_host: Mapping[str, Iterable[str]]
    ) -> Iterator[str]:
        everything = self._choice.everything
        resources = not_run_resources(by_host, block.hosts)
        visible = resources if everything else resources[:MAX_NOT_RUN]
        for names, hosts in visible:
            words = what
            if len(hosts) < len(block.hosts):
                words += f" on {named(hosts, self._style.width // 3)}"
            width = self._style.width - INDENT
            text = f"{words}: {listed(names, sys.maxsize if everything else 2 * width)}"
            first, *more = wrapped(text, width)
            yield f"    {first}"
            yield from (f"{_INDENT}{line}" for line in more)
        if len(visible) < len(resources):
            left = sorted({host for one in resources[len(visible) :] for host in one.hosts})
            where = named(left, self._style.width // 3)
            yield self._style("faint", f"    … and more on {where}; -v shows all")

    def _counts(self, results: list[HostResult]) -> str:
        return counts(results, self._noop, self._command)

    def _outcome(self, block: Block) -> str:
        result = block.result
        words = self._counts(block.results)
        if block.outcome == outcome.OK:
            return words or "nothing to do"
        if block.outcome == outcome.FAILED and result.tally.shown.failed and not result.message:
            return words
        word = outcome_words(result)
        return f"{word} ({words})" if words else word

    def _host_error(self, block: Block) -> Iterator[str]:
        result, style = block.result, self._style
        if result.was_started and not self._told:
            for line in error_lines([end_reason(result)], style.width - 6, self._choice.everything):
                yield f"    {line}"
        yield from self._other_keys(block)
        if result.hint and not self._told:
            for line in wrapped(f"→ {result.hint}", style.width - 6, retry_text(block.results)):
                yield f"    {line}"
        if result.report:
            yield f"    please report this error with {result.report}"
        if result.stderr.strip() and result.outcome != outcome.INTERRUPTED:
            for line in error_lines(["stderr:", result.stderr], style.width, False):
                yield f"    {style('faint', line)}"
        if result.planned:
            done = span([one.tally.shown.total for one in block.results])
            uncounted = self._collected.unfinished.uncounted
            planned = span([one.planned - uncounted.get(one.host, 0) for one in block.results])
            if result.is_end_known:
                yield f"    ran {done} of {planned} resource{'s' * (planned != '1')}"
            else:
                noun = "resource was" if planned == "1" else "resources were"
                yield f"    {done} of {planned} {noun} reported"

    def _other_keys(self, block: Block) -> Iterator[str]:
        """The fingerprints of the other hosts in a block, if they differ."""
        keys = {one.host: re.findall(FINGERPRINT, one.message) for one in block.results}
        first = keys.pop(block.result.host)
        others = [f"{host}: {' '.join(own)}" for host, own in keys.items() if own != first]
        visible = others if self._choice.everything else others[:MAX_KEYS]
        for line in visible:
            yield f"    {line}"
        if len(visible) < len(others):
            remaining = f"{len(others) - len(visible):,} more keys; -v shows all"
            yield self._style("faint", f"    … {remaining}")

    def _notices(self) -> Iterator[str]:
        notices = self._collected.notices
        if notices and not self._choice.quiet:
            yield ""
        for (level, text), hosts in notices.items():
            if not self._choice.quiet:
                names = sorted(set(hosts) - {""})
                who = f" [{named(names, self._style.width - 30)}]" if names else ""
                width = self._style.width - INDENT
                first, *more = wrapped(f"{level}: {text}{who}", width)
                yield self._style("changed", level) + first.removeprefix(level)
                yield from (f"{_INDENT}{line}" for line in more)
