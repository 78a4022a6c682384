"""What hosts report later of runs that have lost them."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.store import lost_runs, receipts
from orchestrator.fleet.store.later_reports import NO_RECORD, REPORTED_LATER
from orchestrator.fleet.store.lost_runs import LostEvents, lost_runs_on
from orchestrator.fleet.store.receipts import key_of, receipt_of
from orchestrator.fleet.store.stored_runs import SavedRun, saved_run
from orchestrator.report.unfinished_resources import unfinished_resources
from remote_runtime.errors import ProtocolError
from tests.orchestrator.report.runs import START, Kept
from tests.texts import expect_text

RUN_ID = "20260921T133640Z-aaaaaa"
NAMES = ("file#/a", "file#/b", "file#/c")
LOST = {"outcome": "unreachable", "message": "lost", "planned": 3, "phase": Phase.RUNNING}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SavedRun:
    """A push that lost web1 behind its first resource; web2 came to its end."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    lost_runs._lost.cache_clear()
    kept = Kept("web1", "web2", run_id=RUN_ID)
    kept.plan(run_events.HostPlanned("web1", NAMES), run_events.HostPlanned("web2", NAMES))
    kept.event("web1", "/a", "changed")
    for name in "abc":
        kept.event("web2", f"/{name}")
    receipts.begin(RUN_ID)
    return kept.end(web1=LOST)


def receipt(host: str = "web1") -> str:
    return receipt_of(key_of(RUN_ID), host)


def turn(index: int, status: str = "changed", **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"index": index, "status": status, "at": int(START * 1e6), "duration": 7}
    if status != "stable":
        told[status] = True
    return {**told, "provider": "posix", "requested": "present", "final": "present", **more}


def past(*results: Any, state: str = "ended", **more: Any) -> dict[str, Any]:
    told = {
        "t": "past",
        "receipt": receipt(),
        "state": state,
        "results": list(results),
        "started": [],
    }
    return {**told, **more}


def event_of(run: SavedRun, name: str) -> dict[str, Any]:
    """That of a resource of web1."""
    return next(e for e, _ in run.events() if (e["host"], e["name"]) == ("web1", name))


def statuses(run: SavedRun) -> dict[str, str]:
    return {e["name"]: e["status"] for e, _ in run.events() if e["host"] == "web1"}


def test_a_contact_completes_the_record(run: SavedRun) -> None:
    """Outcomes that were not known are told as events, counted, and said to be reported later."""
    recall = LostEvents("web1")
    assert recall.wish() == {"recall": [receipt()]}
    recall.take(past(turn(1, "failed", error="no room", exit_code=1)))
    assert statuses(run) == {"/a": "changed", "/b": "failed"}
    told = event_of(run, "/b")
    assert told["error"] == ["no room"]
    assert told["reported_later"]
    web1 = next(one for one in run.results() if one.host == "web1")
    assert (web1.tally.total, web1.tally.failed, web1.confirmed) == (2, 1, True)
    results = unfinished_resources(run, run.results())
    assert (results.unknown, results.left) == ({}, {"web1": ("file#/c",)})
    (notice,) = run.notices()
    assert REPORTED_LATER in notice.text
    assert lost_runs_on("web1") == {}, "it is asked again"


def test_only_the_host_itself_is_asked(run: SavedRun) -> None:
    """No other host of the run, and none after a run that came to its end."""
    assert LostEvents("web2").wish() == {}
    receipts.forget(RUN_ID)
    assert LostEvents("web1").wish() == {}


def test_what_is_known_stays(run: SavedRun) -> None:
    """A host cannot rewrite an outcome that it has told."""
    LostEvents("web1").take(past(turn(0, "failed", error="no"), turn(1), turn(2, "stable")))
    assert statuses(run) == {"/a": "changed", "/b": "changed", "/c": "stable"}
    assert sum(1 for event, _ in run.events() if event["name"] == "/a") == 2  # one of each host


@pytest.mark.parametrize(
    "message",
    [
        {"receipt": "0" * 32},
        {"receipt": "of web2"},
        {"receipt": None},
        {"state": "fine"},
        {"state": ["ended"]},
        {"results": {}},
        {"results": [turn(3)]},
        {"results": [turn(-1)]},
        {"results": [turn(True)]},
        {"results": [turn(1), turn(1)]},
        {"results": ["x"]},
        {"results": [turn(1, host="web2")]},
        {"results": [turn(1, properties={"content": "x"})]},
        {"results": [turn(1, status="fine")]},
        {"results": [turn(1, changed=False)]},
        {"results": [turn(1, duration=-1)]},
        {"results": [turn(1, at=10**30)]},
        {"results": [turn(1, at="now")]},
        {"results": [turn(1, provider=7)]},
        {"results": [turn(1, provider="x" * 100_000)]},
        {"results": [turn(1, error=["x"])]},
        {"results": [turn(1, error="x" * 100_000)]},
        {"results": [turn(1, unmet="x")]},
        {"results": [turn(1, exit_code=10**9)]},
        {"results": [turn(1, left_out="x")]},
        {"results": [turn(1, health="x")]},
        {"results": [turn(1, health=[7])]},
        {"results": [turn(1, health=[{"name": "x", "status": "FINE", "tries": 1}])]},
        {"started": [7]},
        {"started": [0, 1, 2, 1]},
        {"started": "x"},
    ],
)
def test_a_hostile_report(run: SavedRun, message: dict[str, Any]) -> None:
    """Whatever is not a report about this host's own plan is refused, and nothing of it is kept."""
    if message.get("receipt") == "of web2":
        message = {"receipt": receipt("web2")}
    with pytest.raises(ProtocolError):
        LostEvents("web1").take({**past(), **message})
    assert statuses(saved_run(RUN_ID)) == {"/a": "changed"}
    assert not (run.path / "later.jsonl").exists()


def test_a_report_is_taken_once(run: SavedRun) -> None:
    """Its last part ends it."""
    recall = LostEvents("web1")
    recall.take(past(turn(1), state=""))
    recall.take(past(turn(2)))
    with pytest.raises(ProtocolError):
        recall.take(past(turn(2)))
    assert statuses(run) == {"/a": "changed", "/b": "changed", "/c": "changed"}


def test_parts_without_anything_new_are_no_progress(run: SavedRun) -> None:
    """A host that answers for ever with empty parts runs into the bounds on what is no progress."""
    recall = LostEvents("web1")
    assert not recall.take(past(state=""))
    assert recall.take(past(turn(1), state=""))
    assert recall.take(past())


def test_texts_of_a_report_are_plain(run: SavedRun) -> None:
    """What acts on a terminal does not get into the record."""
    LostEvents("web1").take(past(turn(1, "failed", error="\x1b[2Jno\u202e")))
    told = event_of(run, "/b")
    assert told["error"] == ["no"]


def test_two_reports_in_one_process(run: SavedRun) -> None:
    """An outcome that was reported while the run went on is not added again."""
    LostEvents("web1").take(past(turn(1), state="running"))
    LostEvents("web1").take(past(turn(1), turn(2)))
    assert sum(1 for e, _ in run.events() if (e["host"], e["name"]) == ("web1", "/b")) == 1


def test_a_run_that_is_still_at_work(run: SavedRun) -> None:
    """What it came to so far is told; the rest stays unknown, and is asked again."""
    LostEvents("web1").take(past(turn(1), state="running"))
    assert statuses(run) == {"/a": "changed", "/b": "changed"}
    assert unfinished_resources(run, run.results()).unknown == {"web1": ("file#/c",)}
    lost_runs._lost.cache_clear()
    LostEvents("web1").take(past(turn(1), turn(2)))
    assert unfinished_resources(run, run.results()).unknown == {}
    assert list(statuses(run)) == ["/a", "/b", "/c"]


def test_a_resource_at_work_when_the_runtime_was_killed(run: SavedRun) -> None:
    """It failed, and what it did is said not to be known."""
    LostEvents("web1").take(past(state="cut", started=[1]))
    told = event_of(run, "/b")
    assert (told["status"], told["changed"]) == ("failed", False)
    expect_text(told["error"][0])


def test_a_run_that_ended_between_begin_and_outcome(run: SavedRun) -> None:
    """A resource that began and has no outcome is never said to have not run, and several may
    have begun together."""
    LostEvents("web1").take(past(state="ended", started=[1, 2]))
    assert statuses(run) == {"/a": "changed", "/b": "failed", "/c": "failed"}
    assert not unfinished_resources(run, run.results()).left


def test_another_user(run: SavedRun) -> None:
    """A runtime of another user, which has a state directory of its own, is not asked."""
    receipts.note(RUN_ID, "web1", 0)
    lost_runs._lost.cache_clear()
    assert LostEvents("web1", 1000).wish() == {}
    assert LostEvents("web1", 0).wish() == {"recall": [receipt()]}
    assert LostEvents("web1").wish() == {"recall": [receipt()]}


def test_a_note_of_a_run_that_is_over(run: SavedRun) -> None:
    """It does not mark the run again."""
    receipts.forget(RUN_ID)
    receipts.note(RUN_ID, "web1", 0)
    assert LostEvents("web1").wish() == {}


def test_a_host_without_a_record(run: SavedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once no plan can be on its way any more, that says that nothing was changed; a host that
    cannot tell says nothing."""
    lost = lost_runs_on("web1")[receipt()]
    for state, seconds in (("none", 1), ("unusable", 1000)):
        monkeypatch.setattr(
            "orchestrator.fleet.store.lost_runs.time.time", lambda s=seconds: lost.until + s
        )
        lost_runs._lost.cache_clear()
        LostEvents("web1").take(past(state=state))
        assert unfinished_resources(run, run.results()).unknown
    monkeypatch.setattr(
        "orchestrator.fleet.store.lost_runs.time.time", lambda: lost.until + lost_runs.GRACE + 1
    )
    lost_runs._lost.cache_clear()
    LostEvents("web1").take(past(state="none"))
    assert not unfinished_resources(run, run.results()).unknown
    assert [notice.text for notice in run.notices()] == [NO_RECORD]


def test_a_run_that_was_removed(run: SavedRun) -> None:
    """Nothing is asked of it, and its mark goes."""
    (run.path / "run.json").unlink()
    assert lost_runs_on("web1") == {}
    assert not (run.path.parents[1] / "lost" / RUN_ID).exists()
