"""Writes what a verify found, host by host (controller)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from orchestrator.report.style import Style

if TYPE_CHECKING:
    from orchestrator.verify.assessment import Assessment, Outcome

_WORDS = {"passed": "ok", "failed": "failed", "skipped": "skipped"}

_MOST_WARNINGS = 20


class Verification:
    """Takes outcomes as they come; those of a host come one after the other.

    Without ``blocks`` something else shows them, and only the sum is written.
    """

    def __init__(
        self, out: TextIO, style: Style, *, verbose: bool, quiet: bool, blocks: bool = True
    ) -> None:
        self._out = out
        self._blocks = blocks
        self._style = style
        self._verbose = verbose
        self._quiet = quiet
        self._host: str | None = None
        self._group: list[Outcome] = []

    def begin(self, name: str, hosts: int) -> None:
        """Say what is being done: the first answer may take a while."""
        if not self._quiet:
            self._write([self._style("title", f"verify of {name} on {_count(hosts, 'host')}"), ""])

    def take(self, outcome: Outcome) -> None:
        """Keep one outcome; the block of a host is written when the next one begins."""
        if self._group and outcome.host != self._group[0].host:
            self._flush()
        self._group.append(outcome)

    def finish(self, found: Assessment, seconds: float) -> None:
        """Write the last block and the sum of all."""
        self._flush()
        for text in found.warnings[:_MOST_WARNINGS]:
            self._write([f"warning: {text}"])
        if len(found.warnings) > _MOST_WARNINGS:
            self._write([f"and {len(found.warnings) - _MOST_WARNINGS} warnings more"])
        for text in found.refused:
            self._write([self._style("failed", "refused"), *_indented(text, 2)])
        self._write(
            ["", *self._sum(found, seconds)] if not self._quiet else self._sum(found, seconds)
        )

    def _flush(self) -> None:
        group, self._group = self._group, []
        if not group or not self._blocks:
            return
        bad = [outcome for outcome in group if outcome.status == "failed"]
        if self._quiet and not bad:
            return
        head = group[0].host or "no host"
        self._write([f"{self._style('title', head)}  {self._counts(group)}"])
        for outcome in group:
            if outcome.status == "failed" or self._verbose:
                self._write(self._block(outcome))

    def _counts(self, group: list[Outcome]) -> str:
        parts = []
        for status, role in _WORDS.items():
            number = sum(outcome.status == status for outcome in group)
            if number:
                parts.append(self._style(role, f"{number} {status}"))
        return ", ".join(parts)

    def _block(self, outcome: Outcome) -> Iterator[str]:
        role = _WORDS.get(outcome.status, "faint")
        yield f"  {self._style(role, outcome.status):<8} {outcome.label}"
        yield from _indented(outcome.text, 11)

    def _sum(self, found: Assessment, seconds: float) -> list[str]:
        counts = [
            f"{found.count(status)} {status}" for status in _WORDS if found.count(status)
        ] or ["nothing to check"]
        if found.unreached:
            counts.append(f"{_count(len(found.unreached), 'host')} not reached")
        role = "ok" if found.exit_code == 0 else "failed"
        text = f"{_count(found.hosts, 'host')}: {', '.join(counts)}"
        lines = [f"{self._style(role, text)} in {seconds:.1f} s"]
        left = [f"{number} {reason}" for reason, number in sorted(found.left_out.items())]
        if left:
            total = sum(found.left_out.values())
            lines.append(f"{_count(total, 'resource')} without a check: {', '.join(left)}")
        return lines

    def _write(self, lines: Iterator[str] | list[str]) -> None:
        for line in lines:
            self._out.write(line + "\n")
        self._out.flush()


def _indented(text: str, columns: int) -> list[str]:
    return [" " * columns + line if line else "" for line in text.splitlines()]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
