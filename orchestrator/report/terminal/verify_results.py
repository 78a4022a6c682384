"""Writes the results of a verify, host by host (controller)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from orchestrator.report.host_names import named
from orchestrator.report.terminal.style import Style, can_redraw, wrapped

if TYPE_CHECKING:
    from orchestrator.verify.assessment import Assessment, Outcome

_WORDS = {"passed": "ok", "failed": "failed", "skipped": "skipped"}

# Reasons that read differently after a number; the others, and those in JSON, stay as they are.
_REASONS = {"control is evaluated on the host": "with a control that is evaluated on the host"}

_STOPPED = "stopped at the first failure: "

_MAX_WARNINGS = 20
_MAX_HOSTS = 10  # so many have their own line, of more those with the same counts share one
_NAMES = 200  # characters
_HEARTBEAT = 30.0  # seconds


class Progress:
    """How many hosts have been checked: a line that is redrawn on a terminal, or an occasional new
    line.
    """

    def __init__(
        self,
        out: TextIO,
        hosts: int,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out = out
        self._hosts = hosts
        self._quiet = quiet
        self._clock = clock
        self._redraws = can_redraw(out)
        self._next = clock() + _HEARTBEAT

    def __call__(self, answered: int) -> None:
        if self._quiet or self._hosts == 1:
            return
        text = f"{answered} of {self._hosts} hosts checked"
        if self._redraws:
            self._out.write(f"\r\x1b[K{text if answered < self._hosts else ''}")
        elif self._clock() >= self._next:
            self._next = self._clock() + _HEARTBEAT
            self._out.write(text + "\n")
        self._out.flush()


class Verification:
    """Receives outcomes, and writes the total at the end.

    Failures that several hosts share are shown once, above those of each host. Without ``blocks``,
    only the total is written, because something else shows the failures.
    """

    def __init__(
        self, out: TextIO, style: Style, *, verbose: bool, quiet: bool, blocks: bool = True
    ) -> None:
        self._out = out
        self._blocks = blocks
        self._style = style
        self._width = style.width if out.isatty() else 0
        self._verbose = verbose
        self._quiet = quiet
        self._taken: dict[str, list[Outcome]] = {}

    def begin(self, name: str, hosts: int) -> None:
        """Report the current activity, because the first result may take a while."""
        if not self._quiet:
            self._write([self._style("title", f"verify: {name} on {_count(hosts, 'host')}"), ""])

    def take(self, outcome: Outcome) -> None:
        """Store one outcome."""
        self._taken.setdefault(outcome.host, []).append(outcome)

    def finish(self, assessment: Assessment, seconds: float | None = None) -> None:
        """Write the blocks and the totals, with the number of ``seconds`` if known."""
        if self._blocks:
            self._write_blocks()
        for text in assessment.warnings[:_MAX_WARNINGS]:
            self._write([f"warning: {text}"])
        if len(assessment.warnings) > _MAX_WARNINGS:
            self._write([f"and {len(assessment.warnings) - _MAX_WARNINGS} more warnings"])
        for text in assessment.refused:
            self._write([self._style("failed", "refused"), *self._indented(text, 2)])
        self._write(
            ["", *self._sum(assessment, seconds)]
            if not self._quiet
            else self._sum(assessment, seconds)
        )

    def _write_blocks(self) -> None:
        shared = {} if self._verbose else self._shared()
        for (label, text), hosts in shared.items():
            self._write(self._block("failed", f"{label} on {named(hosts, _NAMES)}", text))
        rows: dict[tuple[str, ...], list[str]] = {}
        for host, group in self._taken.items():
            bad = any(outcome.status == "failed" for outcome in group)
            if self._quiet and not bad:
                continue
            own = [one for one in group if self._is_shown(one) and _failure(one) not in shared]
            alone = own or self._verbose or len(self._taken) <= _MAX_HOSTS
            lines = [line for one in own for line in self._block(one.status, one.label, one.text)]
            key = (host if alone else "", self._counts(group), *lines)
            rows.setdefault(key, []).append(host or "no host")
        for (_, counts, *lines), hosts in rows.items():
            head = self._style("title", named(hosts, _NAMES))
            self._write([f"{head}  {'each ' if len(hosts) > 1 else ''}{counts}", *lines])

    def _shared(self) -> dict[tuple[str, str], list[str]]:
        """The failures that several hosts have with the same text."""
        result: dict[tuple[str, str], list[str]] = {}
        for host, group in self._taken.items():
            for outcome in group:
                if outcome.status == "failed":
                    result.setdefault(_failure(outcome), []).append(host)
        return {failure: hosts for failure, hosts in result.items() if len(set(hosts)) > 1}

    def _is_shown(self, outcome: Outcome) -> bool:
        return outcome.status == "failed" or self._verbose

    def _counts(self, group: list[Outcome]) -> str:
        parts = []
        for status, role in _WORDS.items():
            number = sum(outcome.status == status for outcome in group)
            if number:
                parts.append(self._style(role, f"{number} {status}"))
        return ", ".join(parts)

    def _block(self, status: str, label: str, text: str) -> Iterator[str]:
        role = _WORDS.get(status, "faint")
        yield f"  {self._style(role, status):<8} {label}"
        yield from self._indented(text, 11)

    def _indented(self, text: str, columns: int) -> list[str]:
        """The lines of a text after so many spaces; on a terminal, long lines are wrapped."""
        lines = text.splitlines()
        if self._width:
            lines = [part for one in lines for part in wrapped(one, self._width - columns) or [""]]
        return [" " * columns + line if line else "" for line in lines]

    def _sum(self, assessment: Assessment, seconds: float | None) -> list[str]:
        role = "ok" if assessment.exit_code == 0 else "failed"
        until = "after" if assessment.interrupted else "in"
        took = "" if seconds is None else f" {until} {seconds:.1f} s"
        lines = [f"{self._style(role, sum_of(assessment))}{took}"]
        if assessment.not_run:
            stopped = "interrupted: " if assessment.interrupted else _STOPPED
            stopped = "" if assessment.refused else stopped  # no check was started
            silent = [host for host in assessment.not_run if host not in self._taken]
            nothing = f"; no check ran on {named(silent, _NAMES)}" if silent else ""
            number = _count(sum(assessment.not_run.values()), "check")
            lines.append(f"{stopped}{number} not run{nothing}")
        left = [
            f"{number} {_REASONS.get(reason, reason)}"
            for reason, number in sorted(assessment.left_out.items())
        ]
        if left:
            total = sum(assessment.left_out.values())
            lines.append(f"{_count(total, 'resource')} not checked: {', '.join(left)}")
        return lines

    def _write(self, lines: Iterator[str] | list[str]) -> None:
        for line in lines:
            self._out.write(line + "\n")
        self._out.flush()


def sum_of(assessment: Assessment) -> str:
    """The number of checked hosts, and the number of checks by result."""
    counts = [
        f"{assessment.count(status)} {status}" for status in _WORDS if assessment.count(status)
    ]
    if counts:
        number, _, status = counts[0].partition(" ")
        counts[0] = f"{_count(int(number), 'check')} {status}"
    counts = counts or ["0 checks"]
    if assessment.not_run:
        counts.append(f"{sum(assessment.not_run.values())} not run")
    if assessment.interrupted:
        counts.append("interrupted")
    lost = f" ({len(assessment.unreached)} unreachable)" if assessment.unreached else ""
    return f"{_count(assessment.hosts, 'host')}{lost}: {', '.join(counts)}"


def shared_failures(assessment: Assessment) -> dict[tuple[str, str], list[str]]:
    """A failure, as label and text, with the hosts that have it."""
    failures: dict[tuple[str, str], list[str]] = {}
    for one in assessment.failed:
        failures.setdefault(_failure(one), []).append(one.host)
    for host, reason in assessment.unreached.items():
        failures.setdefault(("the host was unreachable", reason), []).append(host)
    return failures


def _failure(outcome: Outcome) -> tuple[str, str]:
    return outcome.label, outcome.text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
