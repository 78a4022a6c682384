"""The content of a run's page as plain data, which can also be written as JSON (controller).

The page of ``ccm report --html`` and the run page of ``ccm studio`` show the same sections, with
the same templates. All strings come from hosts and files, so the templates use autoescape.
"""

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.dangerous_changes import NOTHING_KNOWN, VERBS
from orchestrator.report.failures import SharedFailure
from orchestrator.report.grouping import ORDER, NotRun, not_run_resources
from orchestrator.report.host_names import fold
from orchestrator.report.html.matrix import LETTERS, entry_record
from orchestrator.report.matrix import Finding, Grid
from orchestrator.report.summary_texts import (
    listed,
    part_of,
    run_subject,
    run_word,
    variants_differ,
)
from orchestrator.report.terminal.failure_paragraphs import (
    failure_summary,
    next_steps,
    other_values,
)
from orchestrator.report.terminal.verify_results import shared_failures, sum_of
from orchestrator.report.text_normalization import without_host_name
from orchestrator.verify.stored_results import stored_assessment

MAX_NOT_RUN = 100
MAX_DANGERS = 500  # rows
MAX_TITLE_LENGTH = 200  # characters, of what failed
MAX_HOSTS_LENGTH = 300  # characters of hosts, in a group without a list of them

Record = dict[str, Any]


def sections_of(grid: Grid, *, max_troubled: int | None = None, with_hosts: bool = True) -> Record:
    """The sections of a run's page.

    ``max_troubled`` limits the rows of hosts in trouble. Without ``with_hosts``, groups have their
    hosts only as abbreviated text. InputError for a damaged directory.
    """
    about = grid.source.about
    results = sorted(grid.results.values(), key=lambda result: ORDER.index(result.outcome))
    troubled = [one for one in results if one.message and one.was_started]
    groups = _Groups(with_hosts)
    return {
        **_head(grid, results),
        "waves": [
            groups.of(wave.hosts, number=wave.number, progress=wave.told)
            for wave in grid.rollout.waves()
        ],
        "rollout": [text for _, text in grid.rollout.result_lines()],
        **_dangers(grid, groups),
        "failures": list(_failures(grid, groups)),
        "troubled": list(map(_troubled, troubled[:max_troubled])),
        "troubled_left": len(troubled[max_troubled:]) if max_troubled is not None else 0,
        **_verify(grid, groups),
        "unheard": _shares(grid.unfinished.left, grid, groups),
        "unknown": _shares(grid.unfinished.unknown, grid, groups),
        "due": _shares(grid.unfinished.due, grid, groups),
        "not_started": groups.of(grid.without_turn),
        "findings": {
            status: [_finding(one, status, groups) for one in grid.findings(status)]
            for status in LETTERS
        },
        "notices": [
            groups.of(names, level=level, text=text)
            for (level, text), names in grid.notices.items()
        ],
        "part": part_of(about),
    }


class _Groups:
    """Creates the records that several hosts share."""

    def __init__(self, with_hosts: bool) -> None:
        self._with_hosts = with_hosts

    def of(self, hosts: Iterable[str], **members: Any) -> Record:
        """A record with the abbreviated names of the hosts in ``where`` and their
        number in ``total``.
        """
        names = list(dict.fromkeys(hosts))
        where = ", ".join(fold(names)) if self._with_hosts else listed(names, MAX_HOSTS_LENGTH)
        shown = names if self._with_hosts else []
        return {**members, "where": where, "hosts": shown, "total": len(names)}


def _head(grid: Grid, results: list[HostResult]) -> Record:
    source, about = grid.source, grid.source.about
    return {
        "run_id": source.run_id,
        "title": run_word(about["command"], grid.noop).capitalize(),
        "kind": source.kind.capitalize(),
        "until": source.until,
        "origin": source.origin.words,
        "noop": grid.noop,
        "interrupted": about["interrupted"],
        "manifest": run_subject(about["command"], about["manifest"]) or about["manifest"],
        "start": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(about["start"])),
        "duration": about["end"] - about["start"] if about["end"] else None,
        "outcomes": Counter(map(outcome_of, results)),
        "statuses": grid.statuses(),
        "number_of_hosts": len(grid.hosts),
    }


def outcome_of(result: HostResult) -> str:
    """The outcome of a host; hosts that are ok are divided by whether something changed,
    interrupted ones by whether they had started.
    """
    if not result.was_started:
        return "waiting"
    return "changed" if result.outcome == outcome.OK and result.changed else str(result.outcome)


def _dangers(grid: Grid, groups: _Groups) -> Record:
    found = grid.dangers.groups()
    return {
        "has_dangers": grid.dangers.is_reportable,
        "dangers": grid.dangers.total or NOTHING_KNOWN,
        "uncounted_dangers": grid.dangers.unknown,
        "danger_groups": [
            groups.of(
                one.hosts,
                verb=VERBS[one.danger.kind],
                words=one.words,
                resource=one.danger.by or one.danger.what,
            )
            for one in found[:MAX_DANGERS]
        ],
        "dangers_left": len(found[MAX_DANGERS:]) + grid.dangers.ungrouped,
    }


def _failures(grid: Grid, groups: _Groups) -> Iterable[Record]:
    """The failures, each once; none if each host failed for a different reason."""
    failures = grid.failures()
    findings = grid.findings("failed") if failures else []
    for one in failures:
        whole = [each for each in findings if _is_of(each, one) and _has_more(each)]
        yield groups.of(
            one.hosts,
            outcome=one.outcome,
            title=failure_summary(one, MAX_TITLE_LENGTH),
            resources=one.resources,
            errors=list(one.errors),
            host=one.host,
            others=other_values(one, MAX_TITLE_LENGTH),
            ways=[list(way) for way in next_steps(one, grid.asked)],
            reports=[_finding(each, "failed", groups) for each in whole],
        )


def _is_of(finding: Finding, failure: SharedFailure) -> bool:
    host, name = finding.hosts[0], finding.entry.resource
    names = (name, without_host_name(host, name))
    return host in failure.hosts and any(one in failure.resources for one in names)


def _has_more(finding: Finding) -> bool:
    entry = finding.entry
    printed = "".join(entry.errors[1:])
    return bool(entry.changes or entry.health or entry.output or len(printed.splitlines()) > 1)


def _finding(finding: Finding, status: str, groups: _Groups) -> Record:
    varies = finding.variants > 1
    return groups.of(
        finding.hosts,
        status=status,
        entry=entry_record(finding.entry),
        host=finding.hosts[0],
        variants=variants_differ(finding.entry, finding.variants) if varies else "",
    )


def _troubled(result: HostResult) -> Record:
    return {
        "host": result.host,
        "outcome": result.outcome,
        "phase": result.phase.words,
        "message": result.message,
        "advice": result.advice,
        "stderr": result.stderr if result.stderr.strip() else "",
    }


def _verify(grid: Grid, groups: _Groups) -> Record:
    assessment = stored_assessment(grid.source)
    failures = shared_failures(assessment) if assessment else {}
    return {
        "verified": sum_of(assessment) if assessment else "",
        "verify_failures": [
            groups.of(names, label=label, text=text) for (label, text), names in failures.items()
        ],
    }


def _shares(left: dict[str, tuple[str, ...]], grid: Grid, groups: _Groups) -> list[Record]:
    """Resources that some hosts have in common."""
    shares: list[NotRun] = not_run_resources(left, grid.hosts)[:MAX_NOT_RUN]
    return [
        groups.of(
            one.hosts,
            resources=", ".join(fold(one.resources)),
            first=one.resources[0],
            number=len(one.resources),
        )
        for one in shares
    ]
