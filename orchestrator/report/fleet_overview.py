"""The most frequent results across a fleet (controller)."""

from collections.abc import Iterator

from orchestrator.report.failures import Failures, SharedFailure
from orchestrator.report.run_collector import RunCollector
from orchestrator.report.terminal.paragraphs import RetryOptions, in_one_line, paragraph
from orchestrator.report.terminal.style import Style
from orchestrator.report.text_groups import normalized
from orchestrator.report.wording import end_reason
from orchestrator.support.plain_text import one_line

MAX_FAILURE_LINES = 17  # lines
FEW_HOSTS = 10  # are read one by one


def failures_first(
    failures: Failures, style: Style, options: RetryOptions, *, everything: bool = False
) -> Iterator[str]:
    """A paragraph for each failure, the most hosts first; if there is no room, a failure gets one
    line.
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
    text = f"… {len(failures):,} more failures on {len(hosts):,} hosts, -v shows all"
    return style("faint", text)


def idle_lines(collected: RunCollector, style: Style) -> Iterator[str]:
    """A line for each reason why hosts were not started."""
    found: dict[tuple[str, str], list[str]] = {}
    for host, result in collected.results.items():
        if not result.was_started:
            found.setdefault((result.outcome, normalized(result.message, host)), []).append(host)
    for (role, _), hosts in found.items():
        number = f"{len(hosts):,} host{'s' if len(hosts) > 1 else ''}"
        told = one_line(end_reason(collected.results[hosts[0]]), style.width - len(number) - 1)
        yield f"{style('title', number)} {style(role, told)}"
