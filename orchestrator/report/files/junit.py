"""A run as JUnit XML: a suite per host, a case per resource (controller)."""

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.matrix import Grid
from orchestrator.report.run_collector import Entry
from orchestrator.report.summary_texts import check_line, end_reason, headline, outcome_words
from orchestrator.support.plain_text import junit_class
from orchestrator.verify.assessment import Outcome
from orchestrator.verify.stored_results import stored_assessment

MAX_TEXT = 64 << 20  # bytes of messages and diffs
NOT_KNOWN = "unknown: the host was lost before it reported this"
# Characters that XML 1.0 cannot contain, even escaped.
_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(run: SavedRun, out: TextIO) -> None:
    """Write a stored run. A failed resource is a failure; a host that was not reached or was lost
    is an error.

    InputError for a damaged directory of the run.
    """
    grid = Grid(run, MAX_TEXT)
    checked: dict[str, list[Outcome]] = {}
    assessment = stored_assessment(run)
    for one in assessment.outcomes if assessment else ():
        checked.setdefault(one.host, []).append(one)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<testsuites {_attributes(name=f'ccm {run.run_id}', **_totals(grid, checked))}>\n")
    for host in grid.hosts:
        for line in _suite(grid, host):
            out.write(line + "\n")
    for host, outcomes in checked.items():
        for line in _verified(host, outcomes):
            out.write(line + "\n")
    out.write("</testsuites>\n")
    out.flush()


def _totals(grid: Grid, checked: dict[str, list[Outcome]]) -> dict[str, Any]:
    counts = [_counts(grid, host) for host in grid.hosts] + list(map(_counted, checked.values()))
    return {key: sum(count[key] for count in counts) for key in ("tests", "failures", "errors")}


def _counts(grid: Grid, host: str) -> dict[str, int]:
    statuses = [cell.status for cell in grid.cells[host].values()]
    error = _host_error(grid.results.get(host))
    remaining = len(grid.unfinished.left.get(host, ())) + len(grid.unfinished.unknown.get(host, ()))
    return {
        "tests": len(statuses) + remaining + bool(error),
        "failures": statuses.count("failed"),
        "errors": int(bool(error)),
        "skipped": statuses.count("skipped") + remaining,
    }


def _counted(outcomes: list[Outcome]) -> dict[str, int]:
    statuses = [one.status for one in outcomes]
    return {
        "tests": len(statuses),
        "failures": statuses.count("failed"),
        "errors": 0,
        "skipped": statuses.count("skipped"),
    }


def _verified(host: str, outcomes: list[Outcome]) -> Iterator[str]:
    """The suite with the results of a verify on a host."""
    yield f"  <testsuite {_attributes(name=f'{host} verify', **_counted(outcomes))}>"
    for one in outcomes:
        yield from _case(host, f"verify {one.label}", _outcome_element(one))
    yield "  </testsuite>"


def _suite(grid: Grid, host: str) -> Iterator[str]:
    result = grid.results.get(host)
    seconds = result.seconds if result else 0.0
    began = result.phases[0][1] if result and result.phases else grid.source.about["start"]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(began))
    told = _attributes(name=host, **_counts(grid, host), time=f"{seconds:.3f}", timestamp=stamp)
    yield f"  <testsuite {told}>"
    for name, cell in grid.cells[host].items():
        inner = _inner(cell.status, cell.entry) if cell.entry else ()
        yield from _case(host, name, inner, time=f"{cell.seconds:.3f}")
    for name in grid.unfinished.left.get(host, ()):
        yield from _case(host, name, [_skipped("not run")])
    for name in grid.unfinished.unknown.get(host, ()):
        yield from _case(host, name, [_skipped(NOT_KNOWN)])
    if error := _host_error(result):
        yield from _case(host, "host", [_failed("error", error, _stderr(result))])
    yield "  </testsuite>"


def _host_error(result: HostResult | None) -> str:
    """The reason why the host's run did not complete; "" if it did."""
    if result is None:
        return "the run ended before this host finished"
    if not result.message:
        return ""
    if result.outcome in (outcome.INTERRUPTED, outcome.NOT_STARTED):
        return end_reason(result)
    return f"{outcome_words(result)} {end_reason(result)}"


def _stderr(result: HostResult | None) -> str:
    return "\n".join(filter(None, [result.advice, result.stderr])) if result else ""


def _case(host: str, name: str, inner: Iterable[str], **more: str) -> Iterator[str]:
    """A case, and its details."""
    case = _attributes(classname=junit_class(host), name=name, **more)
    lines = list(inner)
    yield f"    <testcase {case}{'' if lines else '/'}>"
    if lines:
        yield from (f"      {line}" for line in lines)
        yield "    </testcase>"


def _outcome_element(one: Outcome) -> Iterator[str]:
    first = one.text.partition("\n")[0] or "no reason given"
    if one.status == "failed":
        yield _failed("failure", first, one.text)
    elif one.status != "passed":
        yield _skipped(first)


def _inner(status: str, entry: Entry) -> Iterator[str]:
    if status == "failed":
        first = entry.errors[0] if entry.errors else "no reason given"
        rest = "\n".join(
            [
                *entry.errors,
                *(check_line(one) for one in entry.health if not (one.failed and entry.errors)),
            ]
        )
        yield _failed("failure", first, rest)
    elif status == "skipped":
        yield _skipped(headline(entry) or "not managed")
    else:
        text = _escaped("\n".join(_told(entry)))
        if text:
            yield f"<system-out>{text}</system-out>"


def _failed(kind: str, message: str, text: str) -> str:
    return f"<{kind} {_attributes(message=message)}>{_escaped(text)}</{kind}>"


def _skipped(message: str) -> str:
    return f"<skipped {_attributes(message=message)}/>"


def _told(entry: Entry) -> Iterable[str]:
    if entry.message:
        yield headline(entry)
    yield from map(check_line, entry.health)
    for change in entry.changes:
        sides = dict.fromkeys(filter(None, (change.before, change.after)))  # masked ones are equal
        yield change.diff or f"{change.what}: {' -> '.join(sides)}"


def _attributes(**values: Any) -> str:
    return " ".join(f"{key}={quoteattr(_fit(str(value)))}" for key, value in values.items())


def _escaped(text: str) -> str:
    return escape(_fit(text))


def _fit(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)
