"""The directory that keeps a run."""

import contextlib
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.store import event_lines, run_directory
from orchestrator.fleet.store.run_directory import (
    MAX_NOTICES,
    RunDirectory,
    new_run_id,
    prune,
    runs_directory,
)
from orchestrator.fleet.store.stored_runs import SavedRun, saved_run, saved_runs
from remote_runtime.errors import InputError
from tests.orchestrator.fleet.fakes import make_event, unchanged
from tests.texts import expect_text


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def begin(run_id: str = "20260314T091502Z-aaaaaa", parent: Path | None = None) -> RunDirectory:
    """A run of two hosts that has begun."""
    hosts = ("web1", "web2")
    return RunDirectory(
        run_events.RunStarted(run_id, time.time(), hosts, False, "/s/site.yaml"), {}, parent=parent
    )


def keep(run_id: str, failed: tuple[str, ...] = ()) -> RunDirectory:
    directory = begin(run_id)
    event = {**make_event(), "host": "web1", "run_id": run_id}
    directory.handle(run_events.ResourceEvent("web1", event, json.dumps(event)))
    for host in ("web1", "web2"):
        result = HostResult(host, Tally(), "failed" if host in failed else "ok", seconds=1.5)
        result.tally.add(event, again=False)
        directory.handle(run_events.HostFinished(result))
    directory.handle(run_events.RunFinished(time.time(), False))
    directory.close()
    return directory


def test_a_run_is_read_back_as_it_was() -> None:
    """What subscribers were told is told again from the directory."""
    keep("20260314T091502Z-aaaaaa", ("web2",))
    told = list(saved_run().replay())
    started, event, first, second, ended = told
    assert isinstance(started, run_events.RunStarted)
    assert started.hosts == ("web1", "web2")
    assert isinstance(event, run_events.ResourceEvent)
    assert event.event["name"] == "/etc/motd"
    assert isinstance(first, run_events.HostFinished)
    assert isinstance(second, run_events.HostFinished)
    assert (first.result.outcome, second.result.outcome) == ("ok", "failed")
    assert first.result.tally.stable == 1
    assert isinstance(ended, run_events.RunFinished)


def test_stable_resources_are_kept_short_and_read_back_whole() -> None:
    """What the plans of two hosts say is kept once; the events of each are those that were told."""
    directory = begin()
    told = [unchanged(host, "/a", "/b") for host in ("web1", "web2")]
    for host_progress in told:
        directory.handle(run_events.ResourcesStable(host_progress.host, host_progress))
    directory.handle(run_events.RunFinished(time.time(), False))
    directory.close()
    kept, whole = saved_run(), [one for host_progress in told for one in host_progress.events()]
    assert list(kept.events()) == whole
    assert list(kept.lines()) == [line for _, line in whole]
    for replayed in (kept.replay(), kept.replay(whole=True)):
        assert [one for e in replayed for one in run_events.transaction_events(e)] == whole
    short = [e for e in kept.replay() if isinstance(e, run_events.ResourcesStable)]
    assert [(e.host, e.unchanged.total, e.unchanged.indices) for e in short] == [
        ("web1", 2, [0, 1]),
        ("web2", 2, [0, 1]),
    ]
    assert not any(isinstance(e, run_events.ResourcesStable) for e in kept.replay(whole=True))
    assert len((directory.path / "resources.jsonl").read_text().splitlines()) == 2
    assert len((directory.path / "events.jsonl").read_text().splitlines()) == 2
    assert [(r.host, r.tally.stable, r.tally.unique) for r in kept.results()] == [
        ("web1", 2, 2),
        ("web2", 2, 2),
    ]


def test_what_only_one_host_has_is_kept_beside_what_all_have() -> None:
    """What is the same is kept once, whatever stands between."""
    directory = begin()
    told = [
        unchanged(host, f"/own/{host}", "/a", "/\u263a", f"/{host}") for host in ("web1", "web2")
    ]
    for host_progress in told:
        directory.handle(run_events.ResourcesStable(host_progress.host, host_progress))
    directory.close()
    kept, whole = saved_run(), [one for host_progress in told for one in host_progress.events()]
    assert list(kept.events()) == whole
    lines = (directory.path / "resources.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines] == [
        "/own/web1", "/a", "/\u263a", "/web1", "/own/web2", "/web2"
    ]  # fmt: skip


def test_very_many_resources_are_read_by_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is found, in whatever order, though few of them are held."""
    monkeypatch.setattr(event_lines, "_BLOCK", 3)
    monkeypatch.setattr(event_lines, "_MAX_BLOCKS", 1)
    directory = begin()
    told = [unchanged(f"web{n}", f"/{n}", f"/{(n * 7) % 20}", "/a") for n in range(20)]
    for host_progress in told:
        directory.handle(run_events.ResourcesStable(host_progress.host, host_progress))
    directory.close()
    assert list(saved_run().events()) == [
        one for host_progress in told for one in host_progress.events()
    ]


def test_a_run_that_goes_on_is_read_with_what_came_since() -> None:
    """A resource that the run met after the reader began is known to the reader."""
    directory = begin()
    directory.handle(run_events.ResourcesStable("web1", unchanged("web1", "/a")))
    events = saved_run().events()
    assert next(events)[0]["name"] == "/a"
    directory.handle(run_events.ResourcesStable("web2", unchanged("web2", "/b")))
    assert next(events)[0]["name"] == "/b"
    directory.close()


def test_a_line_that_nests_too_deep_is_told_as_damaged() -> None:
    """However it is read, and whatever the directory holds."""
    keep("20260314T091502Z-aaaaaa")
    path = saved_run().path / "events.jsonl"
    path.write_text('{"stable":' + "[" * 200_000 + "\n", encoding="utf-8")
    for read in (saved_run().events, saved_run().lines, saved_run().replay):
        with pytest.raises(InputError, match=r"events\.jsonl cannot be read: "):
            list(read())


@pytest.mark.parametrize(("planned", "written"), [(1, 4), (2, 3)])
def test_texts_of_resources_are_at_hand_for_twice_the_largest_plan(
    planned: int, written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each host has of its own is not held to the end of a run of very many hosts."""
    monkeypatch.setattr(run_directory, "MIN_NUMBERED", 2)
    directory = begin()
    directory.handle(run_events.HostPlanned("web1", ("file#/a", "file#/b")[:planned]))
    for host, own in (("web1", "/1"), ("web2", "/2")):
        directory.handle(run_events.ResourcesStable(host, unchanged(host, "/shared", own)))
    directory.close()
    (path,) = directory.path.glob("resources*")
    assert len(path.read_text().splitlines()) == written


def test_stable_resources_that_are_not_known_are_told_with_their_line() -> None:
    """Where the record of the resources is damaged, the line is named that cannot be told."""
    directory = begin()
    directory.handle(run_events.ResourcesStable("web1", unchanged("web1", "/a")))
    directory.close()
    for text in ("", "7\n", "{}\n"):
        (directory.path / "resources.jsonl").write_text(text, encoding="utf-8")
        whole = partial(saved_run().replay, whole=True)
        for read in (saved_run().events, saved_run().lines, whole):
            with pytest.raises(InputError, match=r"events\.jsonl cannot be read: line 1: "):
                list(read())


def test_directories_and_files_are_private() -> None:
    """Nobody else can read a run, and nothing unfinished is left beside it."""
    directory = keep(new_run_id())
    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(runs_directory().stat().st_mode) == 0o700
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in directory.path.iterdir()}
    assert modes == dict.fromkeys(("run.json", "events.jsonl", "hosts.jsonl"), 0o600)


def test_a_run_beside_the_kept_ones_is_not_listed(tmp_path: Path) -> None:
    """A run that only makes a document has its directory elsewhere, and pushes out no other run."""
    directory = begin(parent=tmp_path)
    assert directory.path.parent == tmp_path
    directory.handle(run_events.RunFinished(2.0, False))
    directory.close()
    assert list(saved_runs()) == []


def test_ids_sort_by_time_within_a_second() -> None:
    """The run that began later is the newer one, also where both began in one second."""
    times = [1_773_479_702.0, 1_773_479_702.25, 1_773_479_702.999, 1_773_479_703.0]
    ids = [new_run_id(at) for at in times]
    assert ids == sorted(ids)
    assert ids[1].startswith("20260314T091502Z-400")


def test_the_oldest_runs_are_removed() -> None:
    """Only the newest runs are kept."""
    names = [f"20260314T09150{n}Z-aaaaaa" for n in range(5)]
    for name in names:
        keep(name)
    prune(2)
    assert [run.run_id for run in saved_runs()] == [names[4], names[3]]


def test_the_rest_of_a_killed_start_is_removed(state: Path) -> None:
    """A run that was killed before it had its first file goes like others; other files stay."""
    other = runs_directory() / "notes"
    killed = keep("20260310T091502Z-aaaaaa").path
    (killed / "run.json").unlink()
    other.mkdir()
    keep("20260312T091502Z-cccccc")
    prune(2)
    assert not killed.exists()
    assert other.is_dir()


def test_a_run_goes_with_whatever_was_put_there(state: Path) -> None:
    """A link in the place of a run is let be, and so is what it leads to."""
    old = keep("20260310T091502Z-aaaaaa").path
    (old / "notes").mkdir()
    (old / "notes" / "a").write_text("mine")
    elsewhere = state / "elsewhere"
    keep("20260311T091502Z-bbbbbb").path.rename(elsewhere)
    (runs_directory() / "20260311T091502Z-bbbbbb").symlink_to(elsewhere)
    keep("20260312T091502Z-cccccc")
    prune(1)
    assert not old.exists()
    assert (elsewhere / "run.json").is_file()


def test_a_run_is_found_by_the_beginning_of_its_id() -> None:
    """A unique beginning is enough; one of two runs, or of none, is refused with what to do."""
    keep("20260314T091502Z-aaaaaa")
    keep("20260315T091502Z-bbbbbb")
    assert saved_run("20260314").run_id == "20260314T091502Z-aaaaaa"
    assert saved_run().run_id == "20260315T091502Z-bbbbbb"
    with pytest.raises(InputError, match="2 runs start"):
        saved_run("2026")
    with pytest.raises(InputError, match="no run"):
        saved_run("../../etc")


def test_a_run_that_was_cut_off_is_shown_as_far_as_it_came() -> None:
    """Half an event and half a result at the end do not keep the rest from being read."""
    directory = keep("20260314T091502Z-aaaaaa")
    results = (directory.path / "hosts.jsonl").read_text(encoding="utf-8")
    (directory.path / "hosts.jsonl").write_text(
        results[: results.index("\n") + 20], encoding="utf-8"
    )
    with open(directory.path / "events.jsonl", "a", encoding="utf-8") as events:
        events.write('{"half": ')
    told = list(saved_run().replay())
    assert [type(event).__name__ for event in told] == [
        "RunStarted", "ResourceEvent", *["HostNotice"] * 2, *["HostFinished"] * 2, "RunFinished",
    ]  # fmt: skip
    notices = [event.text for event in told if isinstance(event, run_events.HostNotice)]
    expect_text(notices)


def tell(directory: RunDirectory, host: str, phase: Phase, names: tuple[str, ...] = ()) -> None:
    """A host enters a phase, maybe with a plan."""
    directory.handle(run_events.HostPhase(host, phase, 5.0))
    if names:
        directory.handle(run_events.HostPlanned(host, names))


def test_phases_that_are_told_together_are_kept_one_by_one() -> None:
    started = run_events.RunStarted("run-1", 1.0, ("web1",), False)
    directory = RunDirectory(started, {})
    directory.handle(run_events.HostPhase("web1", Phase.RUNNING, 3.0, ((Phase.PLANNING, 2.0),)))
    assert list(SavedRun(directory.path).host_progress()) == [
        run_events.HostPhase("web1", Phase.PLANNING, 2.0),
        run_events.HostPhase("web1", Phase.RUNNING, 3.0),
    ]
    directory.close()


def test_events_that_come_together_are_written_with_one_write_to_each_file() -> None:
    """They are the same lines as one by one, and what a line names stands in its file before it."""
    told: list[run_events.Event] = [
        run_events.HostPhase("web1", Phase.RUNNING, 1.5),
        run_events.ResourcesStable("web1", unchanged("web1", "/a", "/b")),
        run_events.HostPlanned("web2", ("file#/a",)),
        run_events.ResourcesStable("web2", unchanged("web2", "/b", "/c")),
    ]
    alone, together = begin(), begin("20260314T091502Z-bbbbbb")
    for event in told:
        alone.handle(event)
    written: list[str] = []
    for name in ("resources", "phases", "events"):
        file: Any = together._file(name)
        file.write = partial(_noted, written, name, file.write)
    together.handle_all(told)
    assert written == ["resources", "phases", "events"]
    for name in ("resources.jsonl", "phases.jsonl", "events.jsonl"):
        assert (together.path / name).read_text() == (alone.path / name).read_text()


def _noted(written: list[str], name: str, write: Callable[[str], None], text: str) -> None:
    written.append(name)
    write(text)


def test_what_was_told_outlives_a_killed_controller() -> None:
    """Nothing waits in memory: who ended how, who was in the middle of what, who had no turn."""
    started = run_events.RunStarted("run-1", 1.0, ("web1", "web2", "web3"), False)
    directory = RunDirectory(started, {})
    for host in ("web1", "web2"):
        tell(directory, host, Phase.CONNECTING)
        tell(directory, host, Phase.RUNNING, ("file#/etc/motd", "exec#later"))
    event = {**make_event(), "host": "web2", "run_id": "run-1"}
    directory.handle(run_events.ResourceEvent("web2", event, json.dumps(event)))
    directory.handle(run_events.HostFinished(HostResult("web1", Tally())))
    shutil.copytree(directory.path, runs_directory() / "run-2")  # as the disk is at that moment
    kept = saved_run("run-2")
    ok, cut, waiting = kept.results()
    assert (ok.host, ok.outcome) == ("web1", "ok")
    assert (cut.host, cut.outcome, cut.kind) == ("web2", "interrupted", "run.cut")
    assert (cut.phase, cut.planned, cut.tally.stable) == (Phase.RUNNING, 2, 1)
    assert (waiting.host, waiting.was_started) == ("web3", False)
    names = [
        turn.resources for turn in kept.host_progress() if isinstance(turn, run_events.HostPlanned)
    ]
    assert names == [("file#/etc/motd", "exec#later")] * 2


def test_a_run_that_is_at_work_is_told_as_such() -> None:
    """Hosts that are being pushed to have come to no end yet, and the report says why."""
    directory = begin()
    assert saved_run().running
    assert saved_run().results() == []
    (notice,) = saved_run().notices()
    expect_text(notice.text)
    directory.close()
    assert not saved_run().running
    assert len(saved_run().results()) == 2


def test_a_run_without_results_has_none() -> None:
    """Of a run that ended before any host did only the end is known."""
    directory = keep("20260314T091502Z-aaaaaa")
    (directory.path / "hosts.jsonl").unlink()
    assert {result.outcome for result in saved_run().results()} == {"interrupted"}


@pytest.mark.parametrize("text", ["{\n", '{"host": "web1", "colour": "red"}\n', "[]\n"])
def test_results_that_cannot_be_read_are_told_with_their_file(text: str) -> None:
    """A file that a full disk cut off, or another version wrote, is no defect of ccm."""
    directory = keep("20260314T091502Z-aaaa")
    (directory.path / "hosts.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"hosts\.jsonl cannot be read"):
        saved_run().results()
    assert [run.run_id for run in saved_runs()] == ["20260314T091502Z-aaaa"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"run_id": 1}'])
def test_a_run_whose_description_is_damaged_is_told_with_its_file(text: str) -> None:
    """Asked for by its id it is an error that names the file; lists pass it over."""
    directory = keep("20260314T091502Z-aaaa")
    (directory.path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json cannot be read"):
        saved_run("20260314")
    assert list(saved_runs()) == []


@pytest.mark.parametrize("line", ["{]", "[]", '{"host": "web1"}', '{"host": 1}', "\xff"])
def test_an_event_that_is_damaged_is_told_with_its_line(line: str) -> None:
    """A report is not made of what is not an event: the file and the line are named."""
    directory = keep("20260314T091502Z-aaaa")
    with open(directory.path / "events.jsonl", "ab") as events:
        events.write(line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=r"events\.jsonl cannot be read"):
        list(saved_run().replay())


def _noticed(*notices: run_events.HostNotice) -> list[run_events.HostNotice]:
    directory = begin()
    for notice in notices:
        directory.handle(notice)
    directory.handle(run_events.RunFinished(2.0, False))
    directory.close()
    return [event for event in saved_run().replay() if isinstance(event, run_events.HostNotice)]


def test_warnings_are_kept_with_the_run() -> None:
    """Warnings and errors of hosts are told again; the output of commands is not kept."""
    warning = run_events.HostNotice("web1", "warning", "the clock is wrong — by far")
    error = run_events.HostNotice("web1", "error", "no")
    told = _noticed(warning, run_events.HostNotice("web1", "info", "Reading lists"), error)
    assert told == [warning, error]
    mode = (runs_directory() / saved_run().run_id / "notices.jsonl").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_fleet_that_warns_without_end_does_not_fill_the_disk() -> None:
    """Notices beyond the bound are not kept, and the report says that some were left out."""
    text = "x" * 400
    many = (run_events.HostNotice("web1", "warning", text) for _ in range(MAX_NOTICES // 300))
    told = _noticed(*many)
    kept = runs_directory() / saved_run().run_id / "notices.jsonl"
    assert kept.stat().st_size < MAX_NOTICES + 1_000
    assert told[0].text == text
    expect_text(told[-1].text)
    assert sum("omitted" in notice.text for notice in told) == 1


def test_a_fleet_that_prints_without_end_does_not_fill_the_disk() -> None:
    """What commands print beyond the bound is not kept, and their events say how much that was."""
    directory = RunDirectory(
        run_events.RunStarted("run-1", 100.0, ("web1",), False), {}, max_output=900
    )
    for number in range(4):
        event = make_event(name=f"/{number}", output="x" * 400)
        event |= {"event_id": f"{number:026d}", "host": "web1", "run_id": "run-1"}
        directory.handle(run_events.ResourceEvent("web1", event, json.dumps(event)))
    directory.close()
    kept = [event["output"] for event, _ in saved_run().events()]
    assert kept[:2] == ["x" * 400] * 2
    assert all(text.startswith("[... 400 characters omitted") for text in kept[2:])


def test_half_a_notice_does_not_keep_a_run_from_being_read() -> None:
    """A line that a crash cut off is passed over, and the report says so."""
    _noticed(run_events.HostNotice("web1", "warning", "w"))
    path = runs_directory() / saved_run().run_id / "notices.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + '{"host": ', encoding="utf-8")
    texts = [notice.text for notice in saved_run().notices()]
    assert texts == ["w", "the last line of notices.jsonl is incomplete and omitted"]


def test_a_run_that_could_not_be_written_is_not_called_whole() -> None:
    """The end of a run that cannot be written is an error, and the run did not come to its end."""
    directory = begin()
    about = directory.path / "run.json"
    aside = about.rename(directory.path / "aside")
    about.mkdir()
    directory.handle(run_events.RunFinished(2.0, False))
    assert not directory.whole
    with pytest.raises(OSError, match="Is a directory"):
        directory.close()
    about.rmdir()
    aside.rename(about)
    assert saved_run().about["end"] is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small file system")
@pytest.mark.parametrize("together", [1, 12])
def test_a_full_disk_costs_events_only(tmp_path: Path, together: int) -> None:
    """What hosts came to and the end are kept, no line is half, and what lacks is told."""
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small], check=True)
    try:
        directory = begin(parent=small)
        event = {**make_event(output="x" * 5_000), "host": "web1", "run_id": "run-1"}
        told = run_events.ResourceEvent("web1", event, json.dumps(event))
        ended = [run_events.HostFinished(HostResult(host, Tally())) for host in ("web1", "web2")]
        events: list[run_events.Event] = [*[told] * 97, ended[0], *[told] * 2, ended[1], told]
        for at in range(0, len(events), together):
            directory.handle_all(events[at : at + together])
        directory.handle(run_events.RunFinished(time.time(), False))
        with pytest.raises(OSError, match=r"No space left on device: .*events\.jsonl"):
            directory.close()
        kept = SavedRun(directory.path)
        assert [result.outcome for result in kept.results()] == ["ok", "ok"]
        assert 0 < len(list(kept.events())) < 100
        assert kept.about["end"]
        (notice,) = kept.notices()
        lacks = "events are missing from the record of this run: No space left on device"
        assert notice.text == lacks
        with contextlib.suppress(OSError):
            (small / "rest").write_bytes(b"x" * (1 << 20))
        with pytest.raises(OSError, match="No space left"):
            begin("20260315T091502Z-bbbbbb", small)
        assert {path.name for path in small.iterdir()} == {directory.path.name, "rest"}
    finally:
        subprocess.run(["umount", small], check=True)
