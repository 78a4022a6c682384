"""A run as Markdown, for a merge request or a ticket (controller).

Text from hosts and files is made inert: a forge finds no mentions, links or markup in it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TextIO

from orchestrator.fleet.store.stored_runs import ReportSource
from orchestrator.report.dangerous_changes import NOTHING_KNOWN, VERBS, Dangers
from orchestrator.report.durations import duration_text
from orchestrator.report.failures import SharedFailure
from orchestrator.report.grouping import NotRun, not_run_resources
from orchestrator.report.host_names import named
from orchestrator.report.matrix import Finding, Grid
from orchestrator.report.run_collector import Entry
from orchestrator.report.summary_texts import (
    AD_HOC,
    DRIFT,
    before_diff,
    brief_change,
    check_line,
    end_reason,
    headline,
    listed,
    part_of,
    run_subject,
    run_word,
    shown_status,
    variants_differ,
)
from orchestrator.report.terminal.failure_paragraphs import (
    failure_summary,
    next_steps,
    other_values,
)
from orchestrator.report.terminal.totals import host_counts, resource_counts
from orchestrator.report.terminal.verify_results import shared_failures, sum_of
from orchestrator.report.text_normalization import without_host_name
from orchestrator.verify.stored_results import stored_assessment

_SIMPLE = re.compile(r"""[("']*(?:→|[^\W_]+(?:['-][^\W_]+|[.,]\d+)*)?[)"'.,;:!?%…]*""")
_REFERENCE = re.compile(
    r"""
    \b [0-9a-f]{7,64} \b            # a commit
    | \b (?: gh | [A-Z][A-Z0-9]+ ) - \d    # an issue
    """,
    re.VERBOSE,
)
_LIST_ITEM = re.compile(r"\d+[.)](?:\s|$)")
_ENDS = re.compile(r"(\((?!.*\)))?(.*?)([.,;:]*)")


def inline(text: str) -> str:
    """Text on one line without active mentions, links or markup: words that could be any of these
    become a code span.
    """
    begins_list = bool(_LIST_ITEM.match(text.lstrip()))
    words = [
        (_is_simple(word) and not (begins_list and at == 0), word)
        for at, word in enumerate(text.split())
    ]
    runs = []
    for simple, run in groupby(words, itemgetter(0)):
        joined = " ".join(word for _, word in run)
        runs.append(joined if simple else _spanned(joined))
    return " ".join(runs)


def cell(text: str) -> str:
    """The same for a table cell, in which a bar ends even a code span unless a backslash precedes
    it; the text's own backslashes are separated from bars.
    """
    apart = re.sub(r"\\(?=\|)", r"\\ ", text)
    return inline(apart).replace("|", r"\|")


def code(text: str) -> str:
    """A code span on one line, with more backticks than any sequence in the text; empty
    for empty text.
    """
    line = " ".join(text.split())
    if not line:
        return ""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{ticks}{line}{ticks}" if ticks == "`" else f"{ticks} {line} {ticks}"


def fence(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"


def _is_simple(word: str) -> bool:
    return bool(_SIMPLE.fullmatch(word)) and not _REFERENCE.search(word)


def _spanned(text: str) -> str:
    """A code span between the punctuation at the ends of the text."""
    match = _ENDS.fullmatch(text)
    if match is None or not match[2]:
        return code(text)
    return (match[1] or "") + code(match[2]) + match[3]


# GitHub takes 65,536 characters in a comment.
MAX_CHARACTERS = 60_000
MAX_TEXT = 4 << 20
MAX_ROWS = 50
_HOSTS = 80  # characters for the names of hosts
_NAMES = 400  # of resources
_TITLES = {"failed": "Failures", "changed": "Changes", "skipped": "Skipped"}


def write_markdown(source: ReportSource, out: TextIO) -> None:
    """Write a stored run, at most ``MAX_CHARACTERS``. InputError for a damaged directory."""
    space = MAX_CHARACTERS
    note = f"\n_More in {code(source.again)}._\n"
    for block in _blocks(Grid(source, MAX_TEXT)):
        if len(block) > space - len(note):
            out.write(note)
            break
        space -= len(block)
        out.write(block)
    out.flush()


def _blocks(grid: Grid) -> Iterator[str]:
    """Collects pieces that are included or dropped as a unit."""
    about = grid.source.about
    word = run_word(about["command"], grid.noop).capitalize()
    what = inline(run_subject(about["command"], about["manifest"]))
    yield f"## {inline(word)} of {what}\n\n{_totals(grid)}\n"
    part = part_of(about)
    if part:
        yield f"\nPart of the manifest: {inline(part)}\n"
    yield from _rollout(grid)
    yield from _dangerous(grid.dangers)
    shared = grid.failures()
    if shared:
        yield "\n### Failures\n\n"
    for failure in shared:
        yield _failure(failure, grid)
    troubled = [one for one in grid.results.values() if one.message and one.was_started]
    if troubled:
        yield "\n| Host | Outcome | Reason |\n|---|---|---|\n"
    for result in troubled[:MAX_ROWS]:
        row = (result.host, result.outcome, before_diff(end_reason(result)))
        yield f"| {' | '.join(map(cell, row))} |\n"
    if len(troubled) > MAX_ROWS:
        yield f"\n… and {_counted(len(troubled) - MAX_ROWS, 'more host', [])}\n"
    yield from _verified(grid.source)
    yield from _unknown(grid)
    yield from _unreported(grid)
    for status, title in _TITLES.items():
        findings = grid.findings(status) if status != "failed" or not shared else []
        if findings:
            yield f"\n### {_changes(grid) if status == 'changed' else title}\n\n"
        for finding in findings:
            yield _finding(finding)
    if grid.notices:
        yield "\n### Warnings\n\n"
    for (level, text), hosts in grid.notices.items():
        who = f" \\[{inline(named(hosts, _HOSTS))}\\]" if hosts else ""
        yield f"- {inline(level)}: {inline(text)}{who}\n"


def _changes(grid: Grid) -> str:
    if grid.source.about["command"] in AD_HOC:
        return "Results"
    if grid.source.about["command"] == DRIFT:
        return "Differences"
    return "Would change" if grid.noop else _TITLES["changed"]


def _dangerous(dangers: Dangers) -> Iterator[str]:
    """The dangers of a preview, each with its hosts."""
    if not dangers.is_reportable:
        return
    yield f"\n### Dangerous\n\n{inline(dangers.total or NOTHING_KNOWN)}\n\n"
    groups = dangers.groups()
    for group in groups[:MAX_ROWS]:
        hosts = inline(named(list(dict.fromkeys(group.hosts)), _HOSTS))
        yield f"- {VERBS[group.danger.kind]} {inline(group.words)} on {hosts}\n"
    remaining = len(groups[MAX_ROWS:]) + dangers.ungrouped
    if remaining:
        yield f"- … and {remaining:,} more\n"
    if dangers.unknown:
        yield f"- unknown effects: {inline(dangers.unknown)}\n"


def _failure(failure: SharedFailure, grid: Grid) -> str:
    """Each failure with the text of one host, the differences of others, and the next command."""
    head = inline(failure_summary(failure, _NAMES))
    if len(failure.hosts) > 1:
        head += f": {inline(listed(failure.hosts, _HOSTS))}"
    errors = list(failure.errors)
    if errors and len(failure.hosts) > 1:
        errors[0] = f"on {failure.host}: {errors[0]}"
    parts = [fence("\n".join(errors), "") if errors else f"see {code(grid.source.again)}\n"]
    others = other_values(failure, _NAMES)
    if others:
        parts.append(f"{inline(others)}\n")
    for words, command in next_steps(failure, grid.asked):
        parts.append(f"{inline(words)} {code(command) if command else ''}".rstrip() + "\n")
    return f"- {head}\n" + "\n".join(map(_indented, parts))


def _rollout(grid: Grid) -> Iterator[str]:
    """Waves and gates, if there are any."""
    told = [text for _, text in grid.rollout.result_lines()]
    waves = grid.rollout.waves()
    if told or waves:
        yield "\n### Rollout\n\n"
    for text in told:
        yield f"- {inline(text)}\n"
    if waves:
        yield "\n| Wave | Hosts | Progress |\n|---|---|---|\n"
    for wave in waves[:MAX_ROWS]:
        row = (str(wave.number), named(wave.hosts, _HOSTS), wave.told)
        yield f"| {' | '.join(map(cell, row))} |\n"


def _verified(source: ReportSource) -> Iterator[str]:
    assessment = stored_assessment(source)
    if assessment is None:
        return
    yield f"\n### Verify\n\n{inline(sum_of(assessment))}\n\n"
    for (label, text), hosts in shared_failures(assessment).items():
        yield f"- {code(label)} on {inline(named(hosts, _HOSTS))}\n{_indented(fence(text, ''))}"


def _unknown(grid: Grid) -> Iterator[str]:
    resources = not_run_resources(grid.unfinished.unknown, grid.hosts)
    if resources:
        yield "\n### Unknown\n\n"
        yield "The host was lost before it reported these. They may have run.\n\n"
        yield from _resources(resources)


def _resources(resources: Sequence[NotRun]) -> Iterator[str]:
    """A line for each group of hosts, with their resources."""
    for names, hosts in resources[:MAX_ROWS]:
        yield f"- on {inline(named(hosts, _HOSTS))}: {inline(listed(names, _NAMES))}\n"
    if len(resources) > MAX_ROWS:
        yield f"\n… and {_counted(len(resources) - MAX_ROWS, 'more group', [])}\n"


def _unreported(grid: Grid) -> Iterator[str]:
    resources = not_run_resources(grid.unfinished.left, grid.hosts)
    silent = grid.without_turn
    if resources or silent:
        yield f"\n### {'Not checked' if grid.noop else 'Not run'}\n\n"
    if silent:
        yield f"- on {inline(named(silent, _HOSTS))}: all resources (not started)\n"
    yield from _resources(resources)
    for names, hosts in not_run_resources(grid.unfinished.due, grid.hosts)[:MAX_ROWS]:
        what = inline(listed(names, _NAMES))
        yield f"- on {inline(named(hosts, _HOSTS))}: refreshed by the next push: {what}\n"


def _totals(grid: Grid) -> str:
    about = grid.source.about
    count = grid.statuses()
    total = sum(count.values())
    told = [(shown_status(word, grid.noop), number) for word, number in count.items()]
    if about["command"] == DRIFT:
        told = resource_counts(grid.results.values(), grid.noop, DRIFT)
    parts = [f"{number:,} {words}" for words, number in told if number]
    seconds = duration_text(about["end"] - about["start"]) if about["end"] else ""
    ended = f"Took {seconds}" if seconds else "Did not finish"
    until = grid.source.until
    ended = f"{until[:1].upper()}{until[1:]}" if until else ended
    counts = host_counts(grid.results.values(), grid.noop, about["command"])
    ends = [f"{number:,} {words}" for _, words, number in counts if number]
    remaining = len(grid.hosts) - len(grid.results)
    if remaining:
        ends.append(f"{remaining:,} did not finish")
    hosts, resources = _counted(len(grid.hosts), "host", ends), _counted(total, "resource", parts)
    resources = "" if about["command"] in AD_HOC else f" {resources}."
    source = grid.source
    run = f"{source.kind.capitalize()} {code(source.run_id)}"
    by = source.origin.words
    return f"{hosts}.{resources} {ended}. {run}{f', {inline(by)}' if by else ''}."


def _counted(number: int, noun: str, parts: list[str]) -> str:
    text = f"{number:,} {noun}{'' if number == 1 else 's'}"
    return f"{text}: {', '.join(parts)}" if parts else text


def _finding(finding: Finding) -> str:
    entry = finding.entry
    detail = headline(entry)
    short = [brief_change(change) for change in entry.changes if "\n" not in change.diff]
    told = "; ".join([*([inline(detail)] if detail else []), *map(_brief, short)])
    resource = code(entry.resource)
    if finding.variants > 1:
        resource, told = (without_host_name(finding.hosts[0], text) for text in (resource, told))
    head = f"{resource} on {inline(named(finding.hosts, _HOSTS))}"
    line = f"- {head}{f': {told}' if told else ''}\n"
    blocks = "".join(map(_indented, _fences(entry)))
    if not blocks or finding.variants == 1:
        return line + blocks
    others = variants_differ(entry, finding.variants)
    return f"{line}{blocks}\n  Shown for {inline(finding.hosts[0])}; {others}.\n"


def _brief(change: str) -> str:
    """A change, such as "mode: 0600 → 0644", with each value in at most one code span."""
    what, colon, values = change.partition(": ")
    shown = [one if inline(one) == one else code(one) for one in values.split(" → ")]
    return f"{inline(what)}{colon}{' → '.join(shown)}"


def _fences(entry: Entry) -> Iterator[str]:
    told = [check_line(one) for one in entry.health if not (one.failed and entry.errors)]
    if entry.errors or told:
        yield fence("\n".join([*entry.errors, *told]), "")
    for change in entry.changes:
        if "\n" in change.diff:
            yield fence(change.diff, "diff")


def _indented(text: str) -> str:
    return "".join(f"  {line}" for line in text.splitlines(keepends=True))
