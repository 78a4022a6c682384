"""Writes the page (controller)."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import time
from collections import Counter
from importlib import resources
from typing import Any, TextIO

from orchestrator.fleet import outcome
from orchestrator.fleet.store.saved_runs import ReportSource
from orchestrator.report.dangers import NOTHING_KNOWN, VERBS
from orchestrator.report.durations import took
from orchestrator.report.equal_texts import alike_but_for
from orchestrator.report.failures import SharedFailure
from orchestrator.report.grid import Finding, Grid
from orchestrator.report.grouping import ORDER, unheard_of
from orchestrator.report.host_names import fold
from orchestrator.report.html.matrix import HOST_LETTERS, LETTERS, Matrix
from orchestrator.report.html.slowest import slowest_resources
from orchestrator.report.html.timeline import WIDTH, Timeline
from orchestrator.report.terminal.paragraphs import next_steps, others_differ, what_failed
from orchestrator.report.terminal.verification import shared_failures, sum_of
from orchestrator.report.wording import (
    check_line,
    diff_role,
    part_of,
    run_subject,
    run_word,
    shown_status,
    variants_differ,
)
from orchestrator.verify.stored_results import stored_assessment
from remote_runtime.version import VERSION

MOST_TEXT = 8 << 20  # bytes of messages and diffs
MOST_DIFF_LINES = 2_000
MOST_SLOW = 10
MOST_UNHEARD = 100
MOST_DANGERS = 500  # rows
LONGEST_TITLE = 200  # characters, of what failed
LONGEST_NAME = 40  # characters, above and next to the matrix


def write_html(kept: ReportSource, out: TextIO) -> None:
    """Write a stored run as one self-contained page. InputError for a damaged directory."""
    from jinja2 import Environment, StrictUndefined

    grid = Grid(kept, MOST_TEXT)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.lstrip_blocks = True
    environment.filters.update(shortly=_shortly, middle=_middle)
    environment.filters.update(shown=functools.partial(shown_status, noop=grid.noop), fate=_fate)
    environment.filters.update(took=took, folded=_folded, diff=_diff_lines, line=check_line)
    environment.filters.update(variants_differ=variants_differ)
    template = environment.from_string(_text("page.html"))
    for piece in template.generate(_scope(grid)):
        out.write(piece)
    out.flush()


def _scope(grid: Grid) -> dict[str, Any]:
    about, matrix, timeline = grid.kept.about, Matrix(grid), Timeline(grid)
    style, script = _text("page.css"), _text("page.js")
    found = stored_assessment(grid.kept)
    dangers, groups = grid.dangers, grid.dangers.groups()
    results = sorted(grid.results.values(), key=lambda result: ORDER.index(result.outcome))
    return {
        "version": VERSION,
        "title": run_word(about["command"], grid.noop).capitalize(),
        "about": about,
        "kind": grid.kept.kind.capitalize(),
        "until": grid.kept.until,
        "origin": grid.kept.origin.words,
        "noop": grid.noop,
        "manifest": run_subject(about["command"], about["manifest"]) or about["manifest"],
        "part": part_of(about),
        "start": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(about["start"])),
        "duration": about["end"] - about["start"] if about["end"] else None,
        "outcomes": Counter(map(_fate, results)),
        "statuses": grid.statuses(),
        "hosts": grid.hosts,
        "results": results,
        "in_trouble": {result.host: result.outcome for result in results if result.outcome != "ok"},
        "waves": grid.rollout.waves(),
        "rollout": list(grid.rollout.result_lines()),
        "dangers": dangers,
        "danger_groups": groups[:MOST_DANGERS],
        "dangers_left": len(groups[MOST_DANGERS:]) + dangers.ungrouped,
        "verbs": VERBS,
        "nothing_known": NOTHING_KNOWN,
        "shared": _paragraphs(grid),
        "troubled": [one for one in results if one.message and one.was_started],
        "without_turn": grid.without_turn,
        "findings": {status: grid.findings(status) for status in LETTERS},
        "notices": grid.notices,
        "verified": found and sum_of(found),
        "verify_failures": shared_failures(found) if found else {},
        "unheard": unheard_of(grid.turns.left, grid.hosts)[:MOST_UNHEARD],
        "unknown": unheard_of(grid.turns.unknown, grid.hosts)[:MOST_UNHEARD],
        "due": unheard_of(grid.turns.due, grid.hosts)[:MOST_UNHEARD],
        "letters": LETTERS,
        "marks": {**LETTERS, **HOST_LETTERS},
        "matrix": matrix,
        "details": _for_script(matrix.details()),
        "timeline": timeline,
        "width": WIDTH,
        "slow_hosts": sorted(results, key=lambda result: -result.seconds)[:MOST_SLOW],
        "slow_resources": slowest_resources(grid)[:MOST_SLOW],
        "style": style,
        "script": script,
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
    }


def _paragraphs(grid: Grid) -> list[_Paragraph]:
    """The failures, each once; none where each host failed for a reason of its own."""
    found = grid.failures()
    findings = grid.findings("failed") if found else []
    return [_Paragraph(one, grid, findings) for one in found]


class _Paragraph:
    """A failure on the page; ``findings`` have all that its resources reported, if that is more
    than the reason.
    """

    def __init__(self, failure: SharedFailure, grid: Grid, findings: list[Finding]) -> None:
        self.findings = [one for one in findings if _is_of(one, failure) and _tells_more(one)]
        self.failure = failure
        self.title = what_failed(failure, LONGEST_TITLE)
        self.others = others_differ(failure, LONGEST_TITLE)
        self.ways = list(next_steps(failure, grid.asked))


def _is_of(finding: Finding, failure: SharedFailure) -> bool:
    host = finding.hosts[0]
    return alike_but_for(host, finding.entry.resource) in failure.resources and (
        host in failure.hosts
    )


def _tells_more(finding: Finding) -> bool:
    entry = finding.entry
    printed = "".join(entry.errors[1:])
    return bool(entry.changes or entry.health or entry.output or len(printed.splitlines()) > 1)


def _fate(result: Any) -> str:
    """A host's outcome; ok hosts are divided by whether something changed, interrupted ones by
    whether they had started.
    """
    if not result.was_started:
        return "waiting"
    return "changed" if result.outcome == outcome.OK and result.changed else str(result.outcome)


def _shortly(seconds: float) -> str:
    """A time that may be too short for ``took``."""
    if seconds >= 1:
        return took(seconds)
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.0005 else "under 1 ms"


def _middle(name: str) -> str:
    """A name cut in the middle: paths differ at their end, types at the beginning."""
    return name if len(name) <= LONGEST_NAME else f"{name[:12]}…{name[13 - LONGEST_NAME :]}"


def _folded(names: list[str]) -> str:
    return ", ".join(fold(names))


def _diff_lines(text: str) -> list[tuple[str, str]]:
    """Each line of a diff with its kind."""
    lines = text.splitlines()
    told = [(diff_role(line), line) for line in lines[:MOST_DIFF_LINES]]
    left = len(lines) - len(told)
    return [*told, ("place", f"… {left} more lines, ccm report --json has them")] if left else told


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash of a text in a content security policy, so that nothing else may run."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _for_script(data: dict[str, Any]) -> str:
    """JSON that cannot end its script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
