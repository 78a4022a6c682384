"""Failures as paragraphs: the hosts, the message, the differences of other hosts, and the next
command (controller).
"""

import sys
from collections.abc import Iterator, Sized

from orchestrator.fleet import outcome
from orchestrator.report.failures import MAX_OTHERS, Failures, SharedFailure
from orchestrator.report.host_names import fold
from orchestrator.report.retry_options import RetryOptions, retry_line
from orchestrator.report.summary_texts import listed, outcome_words, retry_text
from orchestrator.report.terminal.style import Style, wrapped
from orchestrator.support.plain_text import one_line

MIN_SPACE = 8  # characters
MAX_FAILURE_LINES = 17  # lines of a summary
MAX_WORDS = 3  # lines of a reason's beginning, and of its end


def next_steps(failure: SharedFailure, options: RetryOptions) -> Iterator[tuple[str, str]]:
    """Yield the hint for a failure, and how to continue with its hosts: titles, each
    with its command.
    """
    if failure.results and failure.results[0].hint:
        results = list(failure.results)
        yield f"→ {results[0].hint}", retry_text(results)
    of_use = options.anew or failure.kind not in outcome.USELESS_OUTCOMES
    if len(failure.hosts) > 1 and of_use:
        yield retry_line(failure.outcome, failure.hosts, options)


def failure_summary(failure: SharedFailure, space: int) -> str:
    """A failure: its resource, its error and the number of hosts."""
    hosts = failure.hosts
    number = f"{len(hosts):,} hosts" if len(hosts) > 1 else hosts[0]
    if failure.resources:
        behind = f" failed on {number}"
        space = max(MIN_SPACE, space - len(behind))
        return one_line(listed(failure.resources, space - len(", … 999 more")), space) + behind
    return f"{number} {outcome_words(failure.results[0]) if failure.results else failure.outcome}"


def other_values(failure: SharedFailure, space: int, all_by: str = "") -> str:
    """The names and numbers of other hosts that replace those of the first one, the fewest first,
    in about ``space`` characters; "" if all are equal.
    """
    if failure.texts < 2:
        return ""
    count = "; ".join(filter(None, (f"{failure.texts:,} texts", all_by)))
    space -= len(count) + 14
    shown: list[str] = []
    for values in sorted(failure.others, key=len):
        text = ", ".join([*fold(values), "…"] if len(values) == MAX_OTHERS else fold(values))
        share = space if not shown else space // 2
        if share < MIN_SPACE:
            break
        shown.append(one_line(text, share))
        space -= len(shown[-1]) + 2
    return f"others: {'; '.join(shown)} ({count})" if shown else f"others differ ({count})"


def in_one_line(failure: SharedFailure, style: Style) -> str:
    """A failure on one line, with the hosts if they fit."""
    head = failure_summary(failure, style.width * 2 // 3)
    rest, who = f": {failure.reason}", f" [{', '.join(fold(failure.hosts))}]"
    space = style.width - len(head)
    if len(failure.hosts) > 1 and len(rest) + len(who) <= space:
        rest += who
    return style(failure.outcome, head) + one_line(rest, space)


def paragraph(
    failure: SharedFailure, style: Style, options: RetryOptions, *, everything: bool = False
) -> Iterator[str]:
    """A failure as several lines, shortened unless ``everything`` is set."""
    head = failure_summary(failure, style.width)
    space = style.width - len(head) - 2
    names = ": " + ", ".join(fold(failure.hosts))
    if len(failure.hosts) == 1 or len(names) > space:
        names = ""
    yield style(failure.outcome, head) + names
    yield from (f"    {line}" for line in _lines(failure, style.width - 4, options, everything))


def _lines(
    failure: SharedFailure, width: int, options: RetryOptions, everything: bool
) -> Iterator[str]:
    yield from _words(failure, width, everything)
    space, all_by = (sys.maxsize, "") if everything else (width, "-v shows all")
    yield from wrapped(other_values(failure, space, all_by), width)
    for words, command in next_steps(failure, options):
        yield from wrapped(words, width, command)


def _words(failure: SharedFailure, width: int, everything: bool) -> Iterator[str]:
    """The text of the host with a bar before each line, so that it cannot look like
    ccm's own text.
    """
    if not failure.errors:
        yield from wrapped("for the reason, run", width, f"ccm report --host {failure.host}")
        return
    name = f"{failure.host} " if len(failure.hosts) > 1 else ""
    if len(name) > width // 3:
        yield name.rstrip()
        name = ""
    space = width - len(name) - 2
    lines = [line for text in failure.errors for line in text.splitlines()]
    parts = [part for line in lines for part in wrapped(line, space)] or ["no reason given"]
    if len(parts) > 2 * MAX_WORDS and not everything:
        parts = [*parts[:MAX_WORDS], "…", *parts[-MAX_WORDS:]]
    for part in parts:
        yield f"{name}│ {part}"
        name = " " * len(name)


def failures_first(
    failures: Failures, style: Style, options: RetryOptions, *, everything: bool = False
) -> Iterator[str]:
    """A paragraph for each failure, the most hosts first; if there is no room, a
    failure gets one line.
    """
    found = failures.all()
    space = MAX_FAILURE_LINES
    for at, failure in enumerate(found):
        left = len(found) - at - 1
        lines = list(paragraph(failure, style, options, everything=everything))
        if not everything and len(lines) > space - min(left, 2):
            if space <= 1 and left:
                yield _left_out(found[at:], style)
                break
            lines = [in_one_line(failure, style)]
        space -= len(lines)
        yield from lines
    if failures.skipped:
        what = "resources were" if failures.skipped > 1 else "resource was"
        yield style("skipped", f"{failures.skipped:,} {what} skipped: a requirement failed")


def _left_out(failures: list[SharedFailure], style: Style) -> str:
    hosts = {host for failure in failures for host in failure.hosts}
    text = f"… {_counted(failures, 'more failure')} on {_counted(hosts, 'host')}; -v shows all"
    return style("faint", text)


def _counted(things: Sized, noun: str) -> str:
    return f"{len(things):,} {noun}{'' if len(things) == 1 else 's'}"
