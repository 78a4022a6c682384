"""The last lines of a summary: the totals of the fleet (controller)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult, is_apply
from orchestrator.report.durations import duration_text
from orchestrator.report.run_collector import DRIFTS, RunCollector
from orchestrator.report.summary_texts import AD_HOC, DRIFT, DRIFTED, UNCHANGED, buckets
from orchestrator.report.terminal.style import Style, wrapped

_SLOWEST = 3
_COLUMN = 11  # where the text of a line begins
_STYLES = {"would change": "changed", DRIFTED: "changed", "not compared": "faint", UNCHANGED: "ok"}


def total_lines(collected: RunCollector, style: Style, run_id: str) -> Iterator[str]:
    """Hosts, resources, health checks and time."""
    noop = bool(collected.started and collected.started.noop)
    command = collected.started.command if collected.started else ""
    yield total_line(style, "Hosts", _hosts(collected, style, noop, command))
    yield total_line(style, "Resources", _resources(collected, style, noop, command))
    left = _left_undone(collected)
    if left:
        yield total_line(style, "Excluded", left)
    predicted = _predicted(collected)
    if predicted:
        yield total_line(style, "Plan", predicted)
    if command == DRIFT:
        yield total_line(style, "Drift", _drift(collected))
    health = _health(collected)
    if health:
        yield total_line(style, "Health", health)
    for title, text in collected.rollout.summary(style.width):
        yield total_line(style, title, text)
    time = _time(collected)
    if time:
        first, *more = wrapped(time, style.width - _COLUMN)
        yield total_line(style, "Time", first)
        yield from (f"{'':<{_COLUMN}}{line}" for line in more)
    if noop:
        yield total_line(style, "Preview", "nothing was changed")
    if run_id:
        yield total_line(style, "Run", f"{run_id}{style('faint', '  (see ccm report)')}")


def total_line(style: Style, title: str, text: str) -> str:
    """A line of the totals: its title, and its text in a column after it."""
    return f"{style('title', f'{title:<{_COLUMN - 1}}')} {text}"


def _parts(pairs: list[tuple[str, str, int]], style: Style) -> str:
    return ", ".join(style(role, f"{number:,} {word}") for role, word, number in pairs if number)


def host_counts(
    results: Collection[HostResult], noop: bool, command: str = ""
) -> list[tuple[str, str, int]]:
    """The number of hosts by result, each with the display role of its words, worst first."""
    numbers = Counter(result.outcome for result in results)
    idle = Counter(result.outcome for result in results if not result.was_started)
    late = sum(
        one.outcome == outcome.UNREACHABLE and one.kind == outcome.TIMED_OUT for one in results
    )
    fine = [buckets(r.tally, noop, command) for r in results if r.outcome == outcome.OK]
    changed = sum(1 for numbers in fine if numbers["changed"] and command not in AD_HOC)
    word = DRIFTED if command == DRIFT else "would change"
    pending = sum(1 for numbers in fine if numbers[word] and not numbers["changed"])
    return [
        (outcome.DEFECT, "internal error", numbers[outcome.DEFECT]),
        (outcome.FAILED, "failed", numbers[outcome.FAILED]),
        (outcome.REFUSED, "refused", numbers[outcome.REFUSED]),
        (outcome.UNREACHABLE, "unreachable", numbers[outcome.UNREACHABLE] - late),
        (outcome.UNREACHABLE, "timed out", late),
        (
            outcome.INTERRUPTED,
            "interrupted",
            numbers[outcome.INTERRUPTED] - idle[outcome.INTERRUPTED],
        ),
        (outcome.INTERRUPTED, "not started", idle.total()),
        ("changed", "changed", changed),
        ("changed", word, pending),
        ("ok", "ok" if command in AD_HOC else UNCHANGED, numbers[outcome.OK] - changed - pending),
    ]


def _hosts(collected: RunCollector, style: Style, noop: bool, command: str) -> str:
    results = collected.results.values()
    pairs = host_counts(results, noop, command)
    return f"{len(results):,}: {_parts(pairs, style)}" if results else "none finished"


def resource_counts(
    results: Iterable[HostResult], noop: bool, command: str
) -> list[tuple[str, int]]:
    """The numbers of resources by result, as text; ``apply`` resources are not counted."""
    added: Counter[str] = Counter()
    for result in results:
        added.update(buckets(result.tally.shown, noop, command))
    return list(added.items())


def _resources(collected: RunCollector, style: Style, noop: bool, command: str) -> str:
    results = collected.results.values()
    tallies = [result.tally.shown for result in results]
    total = sum(tally.total for tally in tallies)
    counts = resource_counts(results, noop, command)
    pairs = [(_STYLES.get(word, word), word, number) for word, number in counts]
    unknown = sum(tally.unpredicted for tally in tallies)
    assumed = sum(tally.assumed for tally in tallies)
    text = f"{total:,}: {_parts(pairs, style)}" if total else "0"
    if assumed:
        text += f"; {assumed:,} assumed"
    return f"{text}; {unknown:,} unknown" if unknown else text


def _left_undone(collected: RunCollector) -> str:
    """The number of required resources that a selection excludes and that are not converged; "" for
    none.
    """
    entries = [one for found in collected.entries.values() for one in found]
    told = []
    for state, words in (
        ("differs", "not in the desired state"),
        ("unknown", "in an unknown state"),
    ):
        number = len({one.resource for one in entries if one.left_as == state})
        subject = "1 required resource" if number == 1 else f"{number:,} required resources"
        told += [f"{subject} {words}"] if number else []
    return "; ".join(told)


def _predicted(collected: RunCollector) -> str:
    """The number of correct predictions of the plan file; "" without one."""
    tallies = [result.tally.shown for result in collected.results.values()]
    compared = sum(tally.compared for tally in tallies)
    came = sum(tally.as_predicted for tally in tallies)
    hosts = sum(tally.compared > 0 for tally in tallies)
    where = f" on {hosts:,} of {len(tallies):,} hosts" if hosts < len(tallies) else ""
    return (
        f"as predicted: {came:,} of {compared:,} resource{'s' * (compared > 1)}{where}"
        if compared
        else ""
    )


def _drift(collected: RunCollector) -> str:
    numbers: Counter[str] = Counter()
    for entries in collected.entries.values():
        numbers.update(one.drift for one in entries if one.drift and not is_apply(one.resource))
    results = collected.results.values()
    hosts = sum(1 for result in results if result.tally.drifted)
    unknown = sum(1 for one in results if one.outcome != outcome.OK and not one.tally.drifted)
    parts = ", ".join(f"{words} ({numbers[by]:,})" for by, words in DRIFTS.items() if numbers[by])
    told = []
    if hosts:
        told.append(f"on {hosts:,} host{'s' if hosts > 1 else ''}: {parts}")
    elif len(results) > unknown:
        tallies = [result.tally.shown for result in results]
        compared = any(one.total > one.pending + one.skipped for one in tallies)
        told.append("no drift" if compared else "nothing to compare")
    if unknown:
        told.append(f"unknown on {unknown:,} host{'s' if unknown > 1 else ''}")
    return "; ".join(told) or "unknown"


def _health(collected: RunCollector) -> str:
    numbers: Counter[str] = Counter()
    for result in collected.results.values():
        numbers.update(result.tally.health_checks)
    named = [(numbers[word], word) for word in ("critical", "unknown", "warning", "ok")]
    return ", ".join(f"{number:,} {word}" for number, word in named if number)


def _time(collected: RunCollector) -> str:
    """The duration of the run; "" if it is not stored, as in a plan."""
    if collected.started is None or collected.ended is None:
        return "not finished"
    if collected.ended.at == collected.started.at:
        return ""
    text = duration_text(max(0.0, collected.ended.at - collected.started.at))
    started = [result for result in collected.results.values() if result.was_started]
    slowest = sorted(started, key=lambda r: -r.seconds)[:_SLOWEST]
    if len(started) > 1:
        names = ", ".join(f"{result.host} {duration_text(result.seconds)}" for result in slowest)
        text += f", slowest: {names}"
    return text
