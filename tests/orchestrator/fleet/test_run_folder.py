"""The folder that keeps a run."""

import json
import stat
import time
from pathlib import Path

import pytest

from orchestrator.fleet import events as happening
from orchestrator.fleet.kept_runs import kept_run, kept_runs, last_failed
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_folder import MAX_NOTICES, RunFolder, new_run_id, prune, runs_folder
from remote_runtime.errors import InputError
from tests.orchestrator.fleet.fakes import make_event


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def keep(run_id: str, failed: tuple[str, ...] = ()) -> RunFolder:
    folder = RunFolder(run_id, {"forks": 5})
    folder.handle(
        happening.RunStarted(run_id, time.time(), ("web1", "web2"), False, "/s/site.yaml")
    )
    event = {**make_event(), "host": "web1", "run_id": run_id}
    folder.handle(happening.ResourceEvent("web1", event, json.dumps(event)))
    for host in ("web1", "web2"):
        result = HostResult(host, Tally(), "failed" if host in failed else "ok", seconds=1.5)
        result.tally.add(event, again=False)
        folder.handle(happening.HostFinished(result))
    folder.handle(happening.RunFinished(time.time(), False))
    folder.close()
    return folder


def test_a_run_is_read_back_as_it_was() -> None:
    """What subscribers were told is told again from the folder."""
    keep("20260314T091502Z-aaaaaa", ("web2",))
    told = list(kept_run().replay())
    started, event, first, second, ended = told
    assert isinstance(started, happening.RunStarted)
    assert started.hosts == ("web1", "web2")
    assert isinstance(event, happening.ResourceEvent)
    assert event.event["name"] == "/etc/motd"
    assert isinstance(first, happening.HostFinished)
    assert isinstance(second, happening.HostFinished)
    assert (first.result.outcome, second.result.outcome) == ("ok", "failed")
    assert first.result.tally.stable == 1
    assert isinstance(ended, happening.RunFinished)
    assert last_failed() == ["web2"]


def test_folders_and_files_are_private() -> None:
    """Nobody else can read a run, and nothing unfinished is left beside it."""
    folder = keep(new_run_id())
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(runs_folder().stat().st_mode) == 0o700
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in folder.path.iterdir()}
    assert modes == dict.fromkeys(("run.json", "events.jsonl", "hosts.jsonl"), 0o600)


@pytest.mark.parametrize(
    ("command", "options", "failed"),
    [
        ("apply", {}, ["web2"]),
        ("apply", {"inventory": ["hosts.yaml"]}, ["localhost"]),
        ("ensure", {"inventory": ["hosts.yaml"]}, ["localhost"]),
    ],
)
def test_failed_hosts_are_those_of_an_inventory(
    command: str, options: dict[str, list[str]], failed: list[str]
) -> None:
    """A later run of this machine alone does not hide what failed on the fleet."""
    keep("20260314T091502Z-aaaaaa", ("web2",))
    folder = RunFolder("20260315T091502Z-aaaaaa", options)
    run = happening.RunStarted(folder.path.name, 1.0, ("localhost",), False, "x", command)
    folder.handle(run)
    folder.handle(happening.HostFinished(HostResult("localhost", Tally(), "failed")))
    folder.handle(happening.RunFinished(2.0, False))
    folder.close()
    assert last_failed() == failed


def test_a_run_beside_the_kept_ones_is_not_listed(tmp_path: Path) -> None:
    """A run that only makes a document has its folder elsewhere, and pushes out no other run."""
    folder = RunFolder("20260314T091502Z-aaaaaa", {}, tmp_path)
    assert folder.path.parent == tmp_path
    folder.handle(happening.RunStarted(folder.path.name, 1.0, ("web1",), False))
    folder.handle(happening.RunFinished(2.0, False))
    folder.close()
    assert list(kept_runs()) == []


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
    assert [run.run_id for run in kept_runs()] == [names[4], names[3]]


def test_a_run_is_found_by_the_beginning_of_its_id() -> None:
    """A unique beginning is enough; one of two runs, or of none, is refused with what to do."""
    keep("20260314T091502Z-aaaaaa")
    keep("20260315T091502Z-bbbbbb")
    assert kept_run("20260314").run_id == "20260314T091502Z-aaaaaa"
    assert kept_run().run_id == "20260315T091502Z-bbbbbb"
    with pytest.raises(InputError, match="2 runs begin"):
        kept_run("2026")
    with pytest.raises(InputError, match="no run"):
        kept_run("../../etc")


def test_a_run_that_was_cut_off_is_shown_as_far_as_it_came() -> None:
    """Half an event and half a result at the end do not keep the rest from being read."""
    folder = keep("20260314T091502Z-aaaaaa")
    results = (folder.path / "hosts.jsonl").read_text(encoding="utf-8")
    (folder.path / "hosts.jsonl").write_text(results[: results.index("\n") + 20], encoding="utf-8")
    with open(folder.path / "events.jsonl", "a", encoding="utf-8") as events:
        events.write('{"half": ')
    kinds = [type(event).__name__ for event in kept_run().replay()]
    assert kinds == ["RunStarted", "ResourceEvent", "HostFinished", "RunFinished"]
    assert last_failed() == ["web2"]


def test_what_hosts_came_to_outlives_a_killed_controller() -> None:
    """A host's result is on the disk once the host ended, whatever becomes of the process."""
    folder = RunFolder("20260314T091502Z-aaaaaa", {})
    folder.handle(happening.RunStarted(folder.path.name, 1.0, ("web1", "web2"), False))
    folder.handle(happening.HostFinished(HostResult("web1", Tally())))
    assert [result.host for result in kept_run().results()] == ["web1"]
    assert last_failed() == ["web2"]


def test_results_that_an_older_ccm_kept_are_read() -> None:
    """A run whose results stand in one object is read, and one without any has none."""
    folder = keep("20260314T091502Z-aaaaaa")
    (folder.path / "hosts.jsonl").unlink()
    assert kept_run().results() == []
    record = {"format": 1, "hosts": [HostResult("web1", Tally()).record()]}
    (folder.path / "hosts.json").write_text(json.dumps(record), encoding="utf-8")
    assert [result.host for result in kept_run().results()] == ["web1"]


@pytest.mark.parametrize("text", ["{\n", '{"host": "web1", "colour": "red"}\n', "[]\n"])
def test_results_that_cannot_be_read_are_told_with_their_file(text: str) -> None:
    """A file that a full disk cut off, or another version wrote, is no defect of ccm."""
    folder = keep("20260314T091502Z-aaaa")
    (folder.path / "hosts.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"hosts\.jsonl cannot be read"):
        last_failed()
    assert [run.run_id for run in kept_runs()] == ["20260314T091502Z-aaaa"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"run_id": 1}'])
def test_a_run_whose_description_is_damaged_is_told_with_its_file(text: str) -> None:
    """Asked for by its id it is an error that names the file; lists pass it over."""
    folder = keep("20260314T091502Z-aaaa")
    (folder.path / "run.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json cannot be read"):
        kept_run("20260314")
    assert list(kept_runs()) == []


@pytest.mark.parametrize("line", ["{]", "[]", '{"host": "web1"}', '{"host": 1}', "\xff"])
def test_an_event_that_is_damaged_is_told_with_its_line(line: str) -> None:
    """A report is not made of what is not an event: the file and the line are named."""
    folder = keep("20260314T091502Z-aaaa")
    with open(folder.path / "events.jsonl", "ab") as events:
        events.write(line.encode("latin-1") + b"\n")
    with pytest.raises(InputError, match=r"events\.jsonl cannot be read"):
        list(kept_run().replay())


def _noticed(*notices: happening.HostNotice) -> list[happening.HostNotice]:
    folder = RunFolder("20260314T091502Z-aaaaaa", {})
    folder.handle(happening.RunStarted(folder.path.name, 1.0, ("web1",), False))
    for notice in notices:
        folder.handle(notice)
    folder.handle(happening.RunFinished(2.0, False))
    folder.close()
    return [event for event in kept_run().replay() if isinstance(event, happening.HostNotice)]


def test_warnings_are_kept_with_the_run() -> None:
    """Warnings and errors of hosts are told again; the output of commands is not kept."""
    warning = happening.HostNotice("web1", "warning", "the clock is wrong — by far")
    error = happening.HostNotice("web1", "error", "no")
    told = _noticed(warning, happening.HostNotice("web1", "info", "Reading lists"), error)
    assert told == [warning, error]
    mode = (runs_folder() / kept_run().run_id / "notices.jsonl").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_fleet_that_warns_without_end_does_not_fill_the_disk() -> None:
    """Notices beyond the bound are not kept, and the report says that some were left out."""
    text = "x" * 400
    many = (happening.HostNotice("web1", "warning", text) for _ in range(MAX_NOTICES // 300))
    told = _noticed(*many)
    kept = runs_folder() / kept_run().run_id / "notices.jsonl"
    assert kept.stat().st_size < MAX_NOTICES + 1_000
    assert told[0].text == text
    assert told[-1].text == "more warnings than a run keeps, the rest is left out"
    assert sum("left out" in notice.text for notice in told) == 1


def test_half_a_notice_does_not_keep_a_run_from_being_read() -> None:
    """A line that a crash or a full disk cut off is passed over."""
    _noticed(happening.HostNotice("web1", "warning", "w"))
    path = runs_folder() / kept_run().run_id / "notices.jsonl"
    path.write_text(path.read_text(encoding="utf-8") + '{"host": ', encoding="utf-8")
    kinds = [type(event).__name__ for event in kept_run().replay()]
    assert kinds == ["RunStarted", "HostNotice", "RunFinished"]


def test_a_run_that_could_not_be_written_is_not_called_kept() -> None:
    """A run counts as kept once it is whole on the disk, not when the disk was full at its end."""
    assert keep("20260314T091502Z-aaaaaa").whole
    folder = RunFolder("20260314T091502Z-bbbbbb", {})
    folder.handle(happening.RunStarted("20260314T091502Z-bbbbbb", 1.0, ("web1",), False))
    (folder.path / "run.json.new").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        folder.handle(happening.RunFinished(2.0, False))
    assert not folder.whole
