"""What a plan keeps of a preview."""

import json
from pathlib import Path

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import FAILED, UNREACHABLE
from orchestrator.plan_files.writer import PlanWriter
from remote_runtime.errors import PlanError
from tests.orchestrator.plan_files.made import (
    ABOUT,
    NOW,
    SITE,
    FakeHost,
    ended,
    event,
    gathered,
    host_kept,
    keep,
    planner,
)
from tests.texts import expect_text

RESTART = {"kind": "unit", "name": "x.service", "state": "restarted"}


def test_hosts_share_what_they_have_in_common(tmp_path: Path) -> None:
    """Of equal hosts each resource and each outcome is held once."""
    kept = keep(tmp_path)
    assert list(kept.hosts) == ["web1", "web2"]
    assert [len(kept.record[table]) for table in ("items", "outcomes")] == [3, 3]
    assert kept.hosts["web1"]["items"] == kept.hosts["web2"]["items"] == [0, 1, 2]
    assert kept.hosts["web1"]["host_id"] != kept.hosts["web2"]["host_id"]


def test_equal_plans_have_one_id(tmp_path: Path) -> None:
    """Time, duration, reasons and serial do not enter; what is done, where and with what does."""
    first = keep(tmp_path)
    later = {"/etc/motd": {"duration": 9, "timestamp": "2027-01-01T00:00:00Z", "error": ["why"]}}
    again = keep(tmp_path, **later, created=NOW + 50, user="bob@desk")
    assert first.id == again.id
    assert first.record["serial"] != again.record["serial"]
    others = [
        keep(tmp_path, hosts=("web1",)),
        keep(tmp_path, SITE.replace("Hi", "Hello")),
        keep(tmp_path, SITE.replace("hunter2secret", "hunter3secret")),
        keep(tmp_path, SITE.replace("quiet-value", "quieter")),
        keep(tmp_path, runtime="cd" * 32),
        keep(tmp_path, **{"/etc/motd": {"prediction": "unknown"}}),
        keep(tmp_path, **{"/etc/motd": {"changes": []}}),
        keep(tmp_path, **{"/etc/motd": {"operations": [RESTART]}}),
        keep(tmp_path, **{"/etc/motd": {"operations": [{**RESTART, "state": "stopped"}]}}),
    ]
    assert len({first.id, *(kept.id for kept in others)}) == 1 + len(others)


def test_no_secret_and_no_content_stands_in_it(tmp_path: Path) -> None:
    """Neither a value that is masked nor a hash of it, nor what files will hold."""
    import hashlib

    kept = keep(tmp_path)
    text = str(kept.record)
    for secret in ("hunter2secret", "quiet-value"):
        assert secret not in text
        assert hashlib.sha256(secret.encode()).hexdigest() not in text
    site = (tmp_path / "site.yaml").read_bytes()
    assert hashlib.sha256(site).hexdigest() not in text  # who knows the rest could guess
    assert "content" not in str(kept.record["outcomes"])
    secrets = ["secret" in item for item in kept.record["items"]]
    assert secrets == [False, True, True]


def test_without_secrets_files_are_told_plainly(tmp_path: Path) -> None:
    """The digest of a file that holds no secret is its SHA-256."""
    import hashlib

    kept = keep(tmp_path, "ccm: {resources: [{exec: [{x: {command: 'true'}}]}]}")
    (digest,) = kept.record["files"].values()
    assert digest == f"sha256:{hashlib.sha256((tmp_path / 'site.yaml').read_bytes()).hexdigest()}"


def test_hosts_without_a_plan_are_left_out(tmp_path: Path) -> None:
    """A host that could not be previewed is named with the reason and is not in the plan."""
    maker = PlanWriter(planner(tmp_path))
    maker.handle(run_events.RunStarted("R", NOW, ("web1", "web2"), True))
    maker.plan(FakeHost("web1"), gathered())
    maker.handle(ended("web1", "transport.lost", outcome=UNREACHABLE, message="hung up"))
    maker.handle(ended("web2", "transport.connect", outcome=UNREACHABLE, message="no route"))
    kept = maker.finish(ABOUT, [])
    assert kept.hosts == {}
    assert kept.record["left_out"]["web1"]["message"] == "hung up"
    assert [result.outcome for result in kept.results()] == [UNREACHABLE, UNREACHABLE]


def test_copies_plan_for_it(tmp_path: Path) -> None:
    """What hosts are planned as may come from elsewhere, as JSON: the plan is the same, and knows
    each file that was read there, also late."""
    import copy

    whole = keep(tmp_path)
    made = planner(tmp_path)
    maker = PlanWriter(made, [made])
    copies = {"web1": copy.copy(maker), "web2": copy.copy(maker)}
    maker.handle(run_events.RunStarted("R", NOW, ("web1", "web2"), True))
    for name, one in copies.items():
        one._files_told, one._count_told = set(), -1
        plan = one.plan(FakeHost(name), gathered(f"id of {name}"))
        told = json.loads(json.dumps(plan.kept()))
        assert told["files"] == [str(tmp_path / "site.yaml")]
        maker.handle(run_events.HostPlanPart(name, told))
        assert plan.kept() is None
        for item in plan.items:
            each = event(name, item.name)
            maker.handle(run_events.ResourceEvent(name, each, json.dumps(each)))
        (tmp_path / f"late-{name}").write_text("late")
        maker.handle(run_events.HostPlanPart(name, {"files": [str(tmp_path / f"late-{name}")]}))
        maker.handle(ended(name))
    kept = maker.finish(ABOUT, [])
    assert kept.id == whole.id
    assert len(kept.record["files"]) == 3


def test_files_are_gone_through_when_there_are_more(tmp_path: Path) -> None:
    """Not for each host: with many of both that takes as long as the plans themselves."""
    made = planner(tmp_path)
    asked: list[int] = []

    class Reader:
        file_count = 2

        def files(self) -> set[Path]:
            asked.append(self.file_count)
            return {tmp_path / f"f{number}" for number in range(self.file_count)}

    reader = Reader()
    maker = PlanWriter(made, [reader])
    told: list[list[str]] = []
    for number in range(6):
        reader.file_count += number == 3
        kept = maker.plan(FakeHost(f"web{number}"), gathered(f"id of {number}")).kept()
        assert kept is not None
        told.append(kept["files"])
    paths = [str(tmp_path / f"f{number}") for number in range(3)]
    assert told == [paths[:2], [], [], paths[2:], [], []]
    assert asked == [2, 3]


def test_a_host_that_is_planned_again(tmp_path: Path) -> None:
    """Only what its last preview said counts."""
    import json

    maker = PlanWriter(planner(tmp_path))
    maker.handle(run_events.RunStarted("R", NOW, ("web1",), True))
    for _ in range(2):
        plan = maker.plan(FakeHost("web1"), gathered("id of web1"))
        maker.handle(host_kept("web1", plan))
        for item in plan.items:
            each = event("web1", item.name)
            maker.handle(run_events.ResourceEvent("web1", each, json.dumps(each)))
    maker.handle(ended("web1"))
    kept = maker.finish(ABOUT, [tmp_path / "site.yaml"])
    assert kept.id == keep(tmp_path, hosts=("web1",)).id


def test_a_host_without_an_identity_has_no_plan(tmp_path: Path) -> None:
    """Where it cannot be told which machine it is, nothing could be held to it."""
    with pytest.raises(PlanError) as caught:
        PlanWriter(planner(tmp_path)).plan(FakeHost(), gathered(""))
    expect_text(caught.value)
    assert caught.value.kind == "plan.refused.unidentified"


@pytest.mark.parametrize("value", ["x" * 3000, [[]] * 100], ids=["text", "lists"])
def test_a_host_that_tells_too_much_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    """It fills no memory, what else it tells is not heard, and the others have their plan."""
    monkeypatch.setattr("orchestrator.plan_files.writer.MAX_REPORTED", 5000)
    maker = PlanWriter(planner(tmp_path))
    maker.handle(run_events.RunStarted("R", NOW, ("web1", "web2"), True))
    plans = {name: maker.plan(FakeHost(name), gathered(name)) for name in ("web1", "web2")}
    for name, plan in plans.items():
        maker.handle(host_kept(name, plan))
        for item in plan.items:
            changes = [{"what": "ensure", "from": value if name == "web1" else "", "to": ""}]
            told = event(name, item.name, changes=changes)
            maker.handle(run_events.ResourceEvent(name, told, json.dumps(told)))
        maker.handle(ended(name))
    kept = maker.finish(ABOUT, [])
    assert list(kept.hosts) == ["web2"]
    assert kept.record["left_out"]["web1"]["outcome"] == FAILED
    assert maker.too_large() == {"web1": "its preview is larger than 0 MiB"}


def test_a_host_that_tells_before_it_has_a_plan(tmp_path: Path) -> None:
    """What a worker tells of a host in the wrong order keeps no other from its plan."""
    maker = PlanWriter(planner(tmp_path))
    maker.handle(run_events.RunStarted("R", NOW, ("web1",), True))
    maker.handle(run_events.ResourceEvent("web1", event("web1", "x"), "{}"))
    assert maker.finish(ABOUT, []).hosts == {}
