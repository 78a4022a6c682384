"""The index of runs: what it derives, that it can be thrown away, and that it keeps up."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.matrix import Grid
from orchestrator.studio.index import host_state
from orchestrator.studio.index.host_slice import HostSlice
from orchestrator.studio.index.host_state import PastResult, state_of
from orchestrator.studio.index.reader import IndexReader
from orchestrator.studio.index.run_reader import read_run, stamp_of
from orchestrator.studio.index.store import IndexStore, run_number
from orchestrator.studio.index.updater import MAX_WAIT, IndexKeeper
from orchestrator.studio.pages.page_context import place_of
from tests.orchestrator.fleet.fakes import unchanged
from tests.orchestrator.report.runs import Kept, held_run, mixed_run
from tests.orchestrator.studio.history import FIRST, SECOND, THIRD, RunningRun, three_runs


def index(state: Path) -> tuple[IndexKeeper, IndexReader]:
    """An index that is up to date."""
    keeper = IndexKeeper(state)
    keeper.refresh()
    return keeper, IndexReader(keeper.path)


def ids(reader: IndexReader) -> list[str]:
    return [row["id"] for row in reader.rows("SELECT id FROM runs ORDER BY run")]


def test_numbers_of_runs_sort_as_their_ids() -> None:
    """By time; what is not an ID of a run has no number."""
    names = ["20260921T133640Z-4f1c09e", "20260921T133640Z-4f1c0a0", "20260921T133641Z-0000000"]
    numbers = [run_number(name) for name in names]
    assert None not in numbers
    assert numbers == sorted(numbers, key=lambda number: number or 0)
    for name in ("", "..", "x", "20260921T133640Z", "20269921T133640Z-0", "20260921T133640Z-4F"):
        assert run_number(name) is None


@pytest.mark.parametrize("damage", ["version", "garbage", "gone"])
def test_an_index_of_another_kind_is_built_again(state: Path, damage: str) -> None:
    """One of another version, a damaged one and none give the same pages."""
    three_runs()
    keeper, reader = index(state)
    before = ids(reader)
    keeper.stop()
    if damage == "version":
        with sqlite3.connect(keeper.path) as database:
            database.execute("UPDATE about SET version = 'other'")
            database.execute("DELETE FROM runs")
        database.close()
    elif damage == "garbage":
        keeper.path.write_bytes(b"no database" * 1000)
    else:
        shutil.rmtree(keeper.path.parent)
    keeper, reader = index(state)
    assert ids(reader) == before == [FIRST, SECOND, THIRD]
    keeper.stop()


def test_the_index_follows_the_run_directories(state: Path) -> None:
    """A new run is added, a removed one is gone, and a look without news changes nothing."""
    three_runs()
    keeper, reader = index(state)
    assert not keeper.refresh()
    mixed_run()
    shutil.rmtree(state / "runs" / SECOND)
    assert keeper.refresh()
    assert ids(reader) == ["20260921T133640Z-aaaaaa", FIRST, THIRD]
    assert reader.value("SELECT count(*) FROM host_runs WHERE run = ?", [run_number(SECOND)]) == 0
    rows = reader.rows("SELECT name, rank FROM hosts WHERE name IN ('web2', 'web8')")
    hosts = {row["name"]: row["rank"] for row in rows}
    assert hosts == {"web2": host_state.TROUBLE, "web8": host_state.NEVER_REACHED}
    keeper.stop()


def test_a_run_is_waited_for(state: Path) -> None:
    """Until the index has it, but not for ever."""
    three_runs()
    keeper = IndexKeeper(state)
    assert keeper.version_of(THIRD) == 0
    keeper.start()
    keeper.wait_for(THIRD)
    assert keeper.version_of(THIRD) > 0
    begun = time.monotonic()
    keeper.wait_for("20260921T133640Z-4f1c09e")
    keeper.stop()
    assert time.monotonic() - begun >= MAX_WAIT


def test_states_of_hosts_survive_a_killed_studio(state: Path) -> None:
    """One that was killed after it had stored a run leaves what is to be derived to the next."""
    three_runs()
    store = IndexStore(state)
    store.store(read_run(state / "runs" / SECOND), stamp_of(state / "runs" / SECOND))
    store.close()
    for name in (FIRST, THIRD):
        shutil.rmtree(state / "runs" / name)
    keeper, reader = index(state)
    assert reader.value("SELECT outcome FROM hosts WHERE name = 'web2'") == "failed"
    assert reader.value("SELECT count(*) FROM stale") == 0
    keeper.stop()


def test_a_killed_run_is_not_running_any_more(state: Path) -> None:
    """Its files do not change; its lock is free."""
    running = RunningRun("20260922T133640Z-bbbbbbb", "web1")
    running.enter("web1", Phase.RUNNING)
    keeper, reader = index(state)
    assert reader.value("SELECT state FROM runs") == "running"
    running.directory.close()
    keeper.forget_pauses()
    keeper.refresh()
    assert reader.value("SELECT state FROM runs") == "cut"
    assert reader.value("SELECT outcome FROM host_runs") == "interrupted"
    keeper.stop()


def test_hosts_that_did_not_start_keep_their_state(state: Path) -> None:
    """A rollout that stopped before them says nothing of them."""
    run = held_run()
    keeper, reader = index(state)
    rows = {row["name"]: row["outcome"] for row in reader.rows("SELECT name, outcome FROM hosts")}
    assert rows == {"web1": "failed", "web2": "", "web3": ""}
    assert reader.value("SELECT outcomes FROM runs") == '{"failed": 1, "waiting": 2}'
    assert run.about["hosts"] == list(rows)
    keeper.stop()


def test_a_slice_is_the_part_of_the_run(state: Path) -> None:
    """The cells and results of its hosts are those of the report."""
    run = mixed_run(hosts=6, resources=9)
    keeper, reader = index(state)
    whole = Grid(run, 1 << 20)
    rows = list(
        reader.rows("SELECT hosts.name, host_runs.* FROM host_runs JOIN hosts USING (host)")
    )
    assert len(rows) == 6
    for row in rows:
        part = Grid(HostSlice(run, [place_of(row, row["name"])]), 1 << 20)
        assert part.cells == {row["name"]: whole.cells[row["name"]]}
        one, other = part.results[row["name"]], whole.results[row["name"]]
        assert one.record() == other.record()
    keeper.stop()


def test_a_slice_has_the_batches_of_unchanged_resources(state: Path) -> None:
    """Also of a host that was lost, of which the index reads them for what it does not know."""
    running = RunningRun("20260314T091502Z-aaaaaa", "web1")
    handle = running.directory.handle
    handle(run_events.HostPlanned("web1", ("file#/a", "file#/b", "file#/c")))
    handle(run_events.ResourcesStable("web1", unchanged("web1", "/a", "/b")))
    handle(run_events.HostFinished(HostResult("web1", Tally(), "unreachable", message="lost")))
    running.end()
    keeper, reader = index(state)
    (row,) = reader.rows("SELECT hosts.name, host_runs.* FROM host_runs JOIN hosts USING (host)")
    run = SavedRun(state / "runs" / "20260314T091502Z-aaaaaa")
    grid = Grid(HostSlice(run, [place_of(row, "web1")]), 1 << 20)
    assert list(grid.cells["web1"]) == ["file#/a", "file#/b"]
    told = json.loads(reader.value("SELECT sections FROM runs"))
    assert [one["resources"] for one in told["unknown"]] == ["file#/c"]
    keeper.stop()


def test_the_plan_of_a_host_and_its_stages(state: Path) -> None:
    """A host in several stages is one host, with the worst of its results."""
    kept = Kept("db/web1", "web/web1", run_id=FIRST)
    kept.changed("db/web1", "/etc/a")
    kept.event("web/web1", "/etc/b", "failed", error=["no"])
    kept.end()
    keeper, reader = index(state)
    (row,) = reader.rows("SELECT hosts.name, host_runs.* FROM host_runs JOIN hosts USING (host)")
    assert (row["name"], row["outcome"], row["changed"], row["failed"]) == ("web1", "failed", 1, 1)
    grid = Grid(HostSlice(SavedRun(state / "runs" / FIRST), [place_of(row, "web1")]), 1 << 20)
    assert {host: list(cells) for host, cells in grid.cells.items()} == {
        "db/web1": ["file#/etc/a"],
        "web/web1": ["file#/etc/b"],
    }
    keeper.stop()


def results(*fates: str, is_push: bool = True, started: bool = True) -> list[PastResult]:
    """Results of runs, the newest first."""
    last = len(fates)
    return [PastResult(last - at, fate, started, is_push) for at, fate in enumerate(fates)]


@pytest.mark.parametrize(
    ("fates", "outcome", "since", "rank"),
    [
        ([], "", None, host_state.NO_RUN),
        (["ok", "changed", "failed"], "ok", 2, host_state.FINE),
        (["failed", "failed", "ok"], "failed", 2, host_state.TROUBLE),
        (["failed", "refused", "ok"], "failed", 3, host_state.TROUBLE),
        (["running", "waiting", "failed"], "failed", 1, host_state.TROUBLE),
        (["unreachable", "unreachable"], "unreachable", 1, host_state.NEVER_REACHED),
        (["unreachable", "ok"], "unreachable", 2, host_state.TROUBLE),
        (["ok", "failed", "ok", "failed"], "ok", 4, host_state.FLAPPING),
    ],
)
def test_the_state_of_a_host_follows_from_its_results(
    fates: list[str], outcome: str, since: int | None, rank: int
) -> None:
    """Its outcome, the first run in a row with it, and whether it was reached or flaps."""
    state = state_of(results(*fates))
    assert (state.outcome, state.since, state.rank) == (outcome, since, rank)


def test_previews_count_only_without_a_push() -> None:
    """A preview that went well does not mend a host that a push left broken."""
    preview = [PastResult(9, "ok", True, is_push=False)]
    assert state_of([*preview, *results("failed")]).outcome == "failed"
    assert state_of(preview).outcome == "ok"


def test_two_studios_over_the_same_runs(state: Path) -> None:
    """Each may store what the other has not read yet."""
    first, reader = index(state)
    second = IndexKeeper(state)
    three_runs()
    first.refresh()
    mixed_run()
    second.refresh()
    first.refresh()
    assert len(ids(reader)) == 4
    assert reader.value("SELECT count(*) FROM hosts") == 8
    first.stop()
    second.stop()
