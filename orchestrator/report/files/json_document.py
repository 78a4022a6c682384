"""The JSON document of ``--json`` (controller)."""

import json
from collections.abc import Iterable
from typing import Any, TextIO

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.failures import failures_of_run
from orchestrator.report.retry_options import RetryOptions, limit_of
from orchestrator.report.unfinished_resources import UnfinishedResources, unfinished_resources
from orchestrator.verify.stored_results import stored_assessment
from remote_runtime.plan_item import SELECTION

PROTOCOL = "io.choria.ccm.v1.run"


def write_document(run: SavedRun, exit_code: int | None, out: TextIO) -> None:
    """Write a stored run: its command, totals, failures, each host's result, the missing parts of
    the record, and every event, as a stream.
    """
    results = run.results()
    unfinished = unfinished_resources(run, results)
    about = run.about
    asked = RetryOptions(again=about.get("again", ()))
    head: dict[str, Any] = {
        "protocol": PROTOCOL,
        **{k: about[k] for k in ("run_id", "command", "manifest", "noop", "start", "end")},
        "duration": about["end"] - about["start"] if about["end"] else None,
        "interrupted": about["interrupted"],
        "origin": about.get("origin", {}),
        "summary": totals(results),
        "failures": [
            {**one.record(), "limit": limit, "again": asked.on(limit)}
            for one in failures_of_run(run, results).all()
            for limit in (limit_of(one.outcome, one.hosts),)
        ],
        "hosts": {result.host: _host(result, unfinished) for result in results},
        "warnings": [notice.text for notice in run.notices() if not notice.host],
    }
    rollout = list(map(run_events.rollout_record, run.rollout()))
    if rollout:
        head["rollout"] = rollout
    options = about.get("options", {})
    part = {name: options[name] for name in SELECTION if name in options}
    if part:
        head["selection"] = part
    if exit_code is not None:
        head["exit_code"] = exit_code
    verified = stored_assessment(run)
    if verified is not None:
        head["verify"] = verified.record()
    out.write(json.dumps(head)[:-1])
    out.write(', "events": [')
    separator = "\n"
    for line in run.lines():
        out.write(separator + line)
        separator = ",\n"
    out.write("\n]}\n")
    out.flush()


def _host(result: HostResult, unfinished: UnfinishedResources) -> dict[str, Any]:
    record = result.record()
    del record["host"]
    for key, by_host in (
        ("did_not_run", unfinished.left),
        ("not_known", unfinished.unknown),
        ("due", unfinished.due),
    ):
        if result.host in by_host:
            record[key] = by_host[result.host]
    return record


def totals(results: list[HostResult]) -> dict[str, Any]:
    """All hosts' tallies added up."""
    summary: dict[str, Any] = {"hosts": len(results), **whole_tally(results).record()}
    return summary


def whole_tally(results: Iterable[HostResult]) -> Tally:
    """The sum of all hosts' tallies."""
    whole = Tally()
    for result in results:
        whole.add_tally(result.tally)
    return whole
