"""The one JSON document of a run."""

import io
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

import schemas
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.files.json_document import write_document
from tests.orchestrator.report.runs import Kept, mixed_run


def document(kept: SavedRun) -> dict[str, Any]:
    out = io.StringIO()
    write_document(kept, None, out)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told


def test_failures_are_told_once_with_what_picks_their_hosts() -> None:
    """Scripts get the reason in one host's words, all hosts, how they differ, how to go on."""
    kept = Kept("web1", "web2", "web3")
    for number in (1, 2):
        error = ["exit code 1, expected 0", f"starting\ncould not connect to db{number}"]
        members: dict[str, Any] = {"type": "exec", "error": error, "exit_code": 1}
        kept.event(f"web{number}", "migrate", "failed", **members)
    gone = {"outcome": "unreachable", "kind": "transport.connect", "message": "web3 is silent",
            "phase": Phase.CONNECTING}  # fmt: skip
    first, second = document(kept.end(web3=gone))["failures"]
    assert first == {
        "outcome": "failed",
        "kind": "",
        "resources": ["exec#migrate"],
        "exit_code": 1,
        "host": "web1",
        "errors": ["exit code 1, expected 0", "starting\ncould not connect to db1"],
        "hosts": ["web1", "web2"],
        "texts": 2,
        "others": [["db2"]],
        "limit": "web[1-2]",
        "again": "ccm push -l 'web[1-2]' -i hosts.yaml /srv/site/site.yaml",
    }
    assert (second["kind"], second["hosts"]) == ("transport.connect", ["web3"])
    assert second["errors"] == ["while connecting: web3 is silent"]


def test_where_all_is_well_nothing_failed() -> None:
    """The list is there, and empty."""
    kept = Kept("web1")
    kept.changed("web1", "/etc/motd")
    assert document(kept.end())["failures"] == []


def test_every_host_that_failed_is_in_a_failure() -> None:
    """The hosts of the failures are those whose result is not ok."""
    told = document(mixed_run())
    bad = {name for name, result in told["hosts"].items() if result["outcome"] != "ok"}
    assert {host for one in told["failures"] for host in one["hosts"]} == bad == {"web2", "web8"}


def test_its_schema_fits() -> None:
    """What is written is what the schema says, which knows every member of a failure."""
    schema = Draft202012Validator(schemas.load("run"))
    told = document(mixed_run())
    schema.validate(told)
    told["failures"][0]["reason"] = "no"
    with pytest.raises(ValidationError):
        schema.validate(told)
