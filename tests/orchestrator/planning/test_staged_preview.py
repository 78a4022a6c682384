"""Plans behind those of earlier stages: what is sent, served and refused."""

import grp
import json
import os
import pwd
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import schemas
from inventory import load
from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.image import build
from orchestrator.plan_files.digests import desired_of
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.staged_preview import EarlierStage, StagedPlanner
from orchestrator.transport import Connector, Credentials, Settings
from remote_runtime.errors import PlanError, ResourceError
from remote_runtime.options import RunOptions
from remote_runtime.plans import plan as runtime_plan
from tests.orchestrator.fleet.fakes import recorded_bus
from tests.orchestrator.planning.planned import FakeHost, gathered, planner

OWNER = (
    f"owner: {pwd.getpwuid(os.geteuid()).pw_name}, group: '{grp.getgrgid(os.getegid()).gr_name}'"
)
FIRST = """\
data:
  password: hunter2secret  # @secret
ccm:
  fail_on_error: true
  resources:
    - file:
        - HERE/conf: {content: "key {{ Data.password }}\\n", mode: '0600', OWNER}
        - HERE/late: {content: "{{ file('HERE/conf') }}late\\n", mode: '0600', OWNER}
    - exec:
        - slow: {command: "true", timeout: 2h, creates: HERE/late}
"""
BETWEEN = "ccm: {resources: [{file: [{HERE/conf: {ensure: absent}}]}]}"
SECOND = """\
ccm:
  resources:
    - file:
        - HERE/conf: {content: "{{ file('HERE/late') }}end\\n", mode: '0644', OWNER}
    - exec:
        - "echo hunter2secret": {subscribe: [file#HERE/conf], creates: HERE/late}
"""


def stage(
    directory: Path, name: str, text: str, hosts: tuple[str, ...] = ("web1",)
) -> EarlierStage:
    (directory / name).mkdir()
    made = planner(directory / name, text.replace("HERE", str(directory)).replace("OWNER", OWNER))
    return EarlierStage(name, hosts, made, f"infra/{name}.yaml")


@pytest.fixture
def behind(tmp_path: Path) -> StagedPlanner:
    """The planner of the last of three stages."""
    before = [stage(tmp_path, "first", FIRST), stage(tmp_path, "between", BETWEEN)]
    return StagedPlanner(stage(tmp_path, "second", SECOND).planner, before)


@pytest.fixture
def made(behind: StagedPlanner) -> HostPlan:
    """Its plan for one host."""
    return behind.plan(FakeHost(), gathered())


def payload(made: HostPlan, **envelope: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(made.payload({"run_id": "1", "noop": True, **envelope}))
    return found


def test_what_is_sent(made: HostPlan, tmp_path: Path) -> None:
    """Each earlier plan goes with its own identity, digest, secrets and end at a failure."""
    message = payload(made, manifest="infra/second.yaml")
    jsonschema.validate(message, schemas.load("plan"))
    read = runtime_plan.parse(message)
    assert [plan.manifest for plan in read.before] == ["infra/first.yaml", "infra/between.yaml"]
    assert [plan.fail_on_error for plan in (read, *read.before)] == [False, True, False]
    assert (read.secrets, read.before[0].secrets) == ((), ("hunter2secret",))
    pushed = stage(tmp_path, "again", FIRST).planner.plan(FakeHost(), gathered())
    alone = json.loads(pushed.payload({"manifest": "infra/first.yaml"}))
    assert read.before[0].digest == alone["digest"]
    indices = [item.index for plan in (read, *read.before) for item in plan.items]
    assert indices == list(range(made.total)) == list(range(6))


def test_only_its_own_is_told(made: HostPlan, tmp_path: Path) -> None:
    """Identities, subscriptions and what is desired are the own ones; secrets are those of all."""
    alone = stage(tmp_path, "alone", SECOND).planner.plan(FakeHost(), gathered())
    assert list(made.identities()) == list(alone.identities())
    assert list(made.subscriptions()) == list(alone.subscriptions())
    assert desired_of(made) == desired_of(alone)  # the push of a plan that is kept has none
    assert (made.secrets, alone.secrets) == (("hunter2secret",), ())
    assert made.references() == 1
    assert (made.longest() >= 7200, alone.longest() >= 7200) == (True, False)


def test_a_real_preview(
    behind: StagedPlanner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host previews a plan behind earlier ones, and is served what these ask for."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    bus, recorder = recorded_bus()
    settings = RunSettings("R1", "alice@desk", options=RunOptions(noop=True, diff=True))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "hosts.yaml").write_text("hosts: {web1: {connection: local}}")
    host = load(tmp_path / "home" / "hosts.yaml").hosts["web1"]
    connector = Connector(Settings(), Credentials(environ={}), build())
    result = HostRun(host, connector, planner=behind, bus=bus, settings=settings).run()
    assert (result.outcome, result.message, result.planned) == ("ok", "", 2)
    conf, echo = (told.event for told in recorder.of(run_events.ResourceEvent))
    assert (conf["prediction"], conf["noop_message"]) == ("certain", "Would have created the file")
    assert "+key [masked]\n+late\n+end\n" in conf["changes"][1]["diff"]
    assert (echo["status"], echo["refreshed"]) == ("changed", True)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_what_is_in_no_plan(made: HostPlan) -> None:
    """Another hash and another index are refused, as without earlier plans."""
    with pytest.raises(KeyError):
        made.blob("0" * 64)
    for index in (1, 2, 4, 5, 6, 99):
        with pytest.raises(ResourceError, match="nothing to render"):
            made.render(index, lambda path: b"")


def test_a_host_sees_the_stages_it_stands_in(tmp_path: Path) -> None:
    """A stage without the host has no part in its preview; without any the plan is as ever."""
    last = stage(tmp_path, "second", SECOND).planner
    others = [stage(tmp_path, "first", FIRST, ("web2",))]
    made = StagedPlanner(last, others).plan(FakeHost(), gathered())
    assert made.payload({"run_id": "1"}) == last.plan(FakeHost(), gathered()).payload(
        {"run_id": "1"}
    )
    assert "before" not in payload(made)


def test_an_earlier_stage_without_a_plan(tmp_path: Path) -> None:
    """Where nobody knows what an earlier stage would leave, the later one has no preview."""
    text = (
        "{data: {mode: odd}, ccm: {resources: [{file: [{/a: {mode: '{{ Data.mode }}', OWNER}}]}]}}"
    )
    before = [stage(tmp_path, "databases", text)]
    last = stage(tmp_path, "second", SECOND).planner
    with pytest.raises(
        PlanError, match="the earlier stage databases has no plan for this host: "
    ) as no:
        StagedPlanner(last, before).plan(FakeHost(), gathered())
    with pytest.raises(PlanError) as own:
        before[0].planner.plan(FakeHost(), gathered())
    assert (no.value.kind, no.value.hint) == (own.value.kind, own.value.hint)
