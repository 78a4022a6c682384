"""A push of a plan is a push of what the plan was created of."""

from pathlib import Path

import pytest

from orchestrator.planning import PlanOptions
from orchestrator.runs.apply_plan import resolved_request
from orchestrator.runs.request import HostChoice, RunRequest, Subject
from tests.orchestrator.plan_files.made import keep


@pytest.mark.parametrize("stages", [False, True])
def test_the_request_is_about_the_manifest_of_the_plan(tmp_path: Path, stages: bool) -> None:
    """File, kind of file and fixed options are those of the plan; the inventory may be another."""
    more = {"stages": ["one"]} if stages else {}
    record = keep(tmp_path, tags=["web"], **more).record
    asked = RunRequest("push", HostChoice(), PlanOptions(), "change.plan", Subject.PLAN)
    request = resolved_request(asked, record)
    assert request.manifest == "site.yaml"
    assert request.subject is (Subject.STAGES if stages else Subject.MANIFEST)
    assert request.data.tags == ["web"]
    assert request.hosts.inventory == ["hosts.yaml"]
    other = asked._replace(hosts=HostChoice(["other.yaml"]))
    assert resolved_request(other, record).hosts.inventory == ["other.yaml"]
