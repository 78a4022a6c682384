"""The output of a command on many hosts; hosts with identical output are grouped (controller)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.durations import duration_text
from orchestrator.report.grouping import ORDER
from orchestrator.report.host_names import named
from orchestrator.report.retry_options import RetryOptions, limit_of
from orchestrator.report.summary_texts import end_reason, outcome_words
from orchestrator.report.terminal.rollout_progress import RolloutProgress
from orchestrator.report.terminal.style import Style, wrapped
from orchestrator.report.terminal.totals import total_line
from orchestrator.report.text_normalization import folded, normalized
from orchestrator.support.plain_text import one_line

MAX_BYTES = 64 << 20  # of all hosts together, in memory
LEFT_OUT = "[omitted; see ccm report --host]\n"
_INDENT = "    "
_MAX_ERROR = 1_000  # characters


class HostOutput(NamedTuple):
    """The result of the command on a host: its exit code, if any, the reason for a
    failure, and its output.
    """

    code: int | None = None
    error: str = ""
    output: str = ""


class OutputGroup(NamedTuple):
    """Hosts with the same output, represented by the first; ``exact``: the outputs do
    not differ at all.
    """

    results: list[HostResult]
    answer: HostOutput
    exact: bool

    @property
    def hosts(self) -> list[str]:
        """Their names."""
        return [result.host for result in self.results]


class CommandOutput(Subscriber):
    """Subscriber that stores the output of each host, with equal outputs stored once.

    Once the outputs have ``maximum`` bytes, no more are stored.
    """

    def __init__(self, maximum: int = MAX_BYTES) -> None:
        self._maximum = maximum
        self._order: tuple[str, ...] = ()
        self._began = self._took = 0.0
        self._results: dict[str, HostResult] = {}
        self._asked = RetryOptions()
        self._standing = RolloutProgress()
        self._answers: dict[str, HostOutput] = {}
        self._known: dict[HostOutput, HostOutput] = {}
        self._held = 0
        self._notices: dict[tuple[str, str], list[str]] = {}

    def handle(self, event: run_events.Event) -> None:
        """Store the output of a host."""
        self._standing.handle(event)
        if isinstance(event, run_events.ResourceEvent):
            self._answers[event.host] = self._kept(_answer_of(event.event))
        elif isinstance(event, run_events.HostFinished):
            self._results[event.result.host] = event.result
        elif isinstance(event, run_events.HostNotice):
            if event.level != "info":
                self._notices.setdefault((event.level, event.text), []).append(event.host)
        elif isinstance(event, run_events.RunStarted):
            self._order, self._began = event.hosts, event.at
            self._asked = RetryOptions(event.run_id, event.again)
        elif isinstance(event, run_events.RunFinished):
            self._took = max(0.0, event.at - self._began)

    def _kept(self, answer: HostOutput) -> HostOutput:
        """The stored answer: the same object for equal ones, within the limit."""
        if answer not in self._known:
            self._held += len(answer.output)
            if self._held > self._maximum:
                return answer._replace(output=LEFT_OUT)
        return self._known.setdefault(answer, answer)

    def groups(self, fold: bool) -> list[OutputGroup]:
        """Failures first, then the largest groups; ``fold`` ignores names and numbers."""
        by_key: dict[tuple[object, ...], list[HostResult]] = {}
        for host in self._order:
            if host in self._results:
                key = self._key(self._results[host], fold)
                by_key.setdefault(key, []).append(self._results[host])
        groups = [self._group(results) for results in by_key.values()]
        return sorted(groups, key=lambda one: (ORDER.index(_of(one)), -len(one.results)))

    def _key(self, result: HostResult, fold: bool) -> tuple[object, ...]:
        answer, host = self._of_host(result.host), result.host
        reason = (result.outcome, result.kind, normalized(result.message, host), result.phase)
        if not fold:
            return *reason, answer.code, normalized(answer.error, host), answer.output
        return *reason, answer.code, normalized(answer.error, host), folded(answer.output, host)

    def _group(self, results: list[HostResult]) -> OutputGroup:
        answers = {self._of_host(result.host) for result in results}
        return OutputGroup(results, self._of_host(results[0].host), len(answers) == 1)

    def _of_host(self, host: str) -> HostOutput:
        return self._answers.get(host, HostOutput())

    # -- for people -------------------------------------------------------------------------------

    def write(
        self,
        out: TextIO,
        style: Style,
        *,
        fold: bool = False,
        quiet: bool = False,
        run_id: str = "",
    ) -> None:
        """Write the groups and the totals; ``quiet``: only failures."""
        for line in self._lines(style, fold, quiet=quiet, run_id=run_id):
            out.write(line + "\n")
        out.flush()

    def _lines(self, style: Style, fold: bool, *, quiet: bool, run_id: str) -> Iterator[str]:
        groups = self.groups(fold)
        shown = [one for one in groups if not quiet or _of(one) != outcome.OK]
        for group in shown:
            yield from _block(group, style)
        if quiet and not shown:
            return
        for (level, text), hosts in self._notices.items():
            names = sorted(set(hosts) - {""})
            yield f"{style('changed', level)}: {text}" + (f" [{named(names, 60)}]" if names else "")
        yield total_line(style, "Hosts", f"{len(self._results):,}: {_counted(groups, style)}")
        for title, text in self._standing.summary(style.width):
            yield total_line(style, title, text)
        bad = [
            one for one in self._results.values() if one.was_started and one.outcome != outcome.OK
        ]
        if bad and self._asked.again:  # not among the answers, where a host could write the same
            names = [host for host in self._order if host in {one.host for one in bad}]
            limit = limit_of(outcome.FAILED, names, self._asked.run_id)
            yield total_line(style, "Retry", self._asked.on(limit))
        yield total_line(style, "Time", duration_text(self._took))
        if run_id:
            again = style("faint", "  (see ccm report)")
            yield total_line(style, "Run", f"{run_id}{again}")


def _answer_of(event: dict[str, object]) -> HostOutput:
    error, code = event["error"], event.get("exit_code")
    # In the line of the host's name, where its text must not look like the line of another host.
    first = one_line(str(error[0]), _MAX_ERROR) if isinstance(error, list) and error else ""
    return HostOutput(code if isinstance(code, int) else None, first, str(event.get("output", "")))


def _of(group: OutputGroup) -> str:
    return group.results[0].outcome


def _block(group: OutputGroup, style: Style) -> Iterator[str]:
    result = group.results[0]
    role = "ok" if result.outcome == outcome.OK else result.outcome
    yield f"{style('title', named(group.hosts, 10_000))}  {style(role, _word(group))}"
    if result.message and result.was_started:
        for line in (*end_reason(result).splitlines(), *_advice(result)):
            yield from (f"{_INDENT}{text}" for text in wrapped(line, style.width - len(_INDENT)))
    for line in group.answer.output.splitlines():
        yield f"{_INDENT}{line}".rstrip()
    if not group.exact:
        who = "the others differ" if len(group.hosts) > 2 else "the other differs"
        text = f"(shown for {result.host}; {who} only in names or numbers)"
        yield _INDENT + style("faint", text)
    yield ""


def _advice(result: HostResult) -> Iterable[str]:
    return [f"→ {result.advice}"] if result.advice else []


def _word(group: OutputGroup) -> str:
    """The result of a group of hosts, in a few words."""
    result, answer = group.results[0], group.answer
    if result.message:
        return outcome_words(result)
    return answer.error or ("ok" if answer.code is None else f"exit code {answer.code}")


def _counted(groups: list[OutputGroup], style: Style) -> str:
    """The number of hosts for each exit code or other result, in the order of the groups."""
    numbers: Counter[tuple[str, str]] = Counter()
    for group in groups:
        answer, role = group.answer, _of(group)
        coded = not group.results[0].message and answer.code is not None
        word = f"with exit code {answer.code}" if coded else outcome_words(group.results[0])
        numbers[role, word] += len(group.results)
    return ", ".join(style(role, f"{number:,} {word}") for (role, word), number in numbers.items())
