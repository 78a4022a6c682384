"""Runs that several people keep in one directory."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from orchestrator.fleet.store.outcome_selection import PastRuns
from orchestrator.fleet.store.stored_runs import saved_run, saved_runs
from orchestrator.history.factory import copy_of, run_source_of
from orchestrator.history.location import HistoryError, HistoryLocation, HistoryUnreachableError
from orchestrator.history.run_copy import MARK, is_pending
from orchestrator.history.shared_directory import SharedDirectory
from remote_runtime.errors import InputError, UsageError
from tests.orchestrator.report.runs import Kept
from tests.texts import expect_text


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A directory that a group shares."""
    directory = tmp_path / "shared"
    directory.mkdir()
    directory.chmod(0o3770)
    return directory


def kept(run_id: str, *hosts: str) -> Path:
    """A run of this user that has ended; each of its hosts failed at one resource."""
    run = Kept(*hosts, run_id=run_id)
    for host in hosts:
        run.event(host, "/etc/a", "changed")
        run.event(host, "/etc/b", "failed", error=["no"])
    return run.end().path


def push(source: Path, shared: Path) -> None:
    copy = copy_of(HistoryLocation(str(shared)), source)
    copy.mark()
    copy.finish()
    copy.close()


def test_a_copy_is_the_run(shared: Path) -> None:
    """All files are copied byte for byte; reports of the copy equal those of the run."""
    source = kept("20260921T133640Z-aaaaaa", "web1", "web2")
    push(source, shared)
    copy = shared / "runs" / source.name
    names = {path.name for path in copy.iterdir()}
    assert names == {path.name for path in source.iterdir()} - {MARK, "room"}
    assert all((copy / name).read_bytes() == (source / name).read_bytes() for name in names)
    folder = run_source_of(HistoryLocation(str(shared)))
    assert list(saved_run("", folder).events()) == list(saved_run().events())
    assert PastRuns(folder=folder).named("failed", source.name, ["web1", "web9"]) == {"web1"}


def test_modes_are_those_of_the_group(shared: Path) -> None:
    """The group reads the runs of a directory that it shares, and nobody else does."""
    source = kept("20260921T133640Z-aaaaaa", "web1")
    push(source, shared)
    copy = shared / "runs" / source.name
    assert stat.S_IMODE(copy.stat().st_mode) == 0o750
    assert {stat.S_IMODE(path.stat().st_mode) for path in copy.iterdir()} == {0o640}
    shared.chmod(0o700)
    other = kept("20260921T133641Z-aaaaaa", "web1")
    push(other, shared)
    copy = shared / "runs" / other.name
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in copy.iterdir()} == {0o600}


@pytest.mark.parametrize(
    ("mode", "words"),
    [(0o777, "every user can write"), (0o1777, "every user can write"), (0o770, "can remove")],
)
def test_unsafe_modes_are_refused(shared: Path, mode: int, words: str) -> None:
    """A directory in which others could replace runs is refused; the hint has the fix."""
    source = kept("20260921T133640Z-aaaaaa", "web1")
    shared.chmod(mode)
    with pytest.raises(UsageError, match=words) as caught:
        push(source, shared)
    assert "chmod" in caught.value.hint
    assert list(shared.iterdir()) == []


def test_a_missing_directory_is_away(tmp_path: Path) -> None:
    """A directory that is not mounted is not created."""
    with pytest.raises(HistoryUnreachableError) as refused:
        push(kept("20260921T133640Z-aaaaaa", "web1"), tmp_path / "none")
    expect_text(refused.value)
    assert not (tmp_path / "none").exists()


def test_a_copy_is_continued(shared: Path) -> None:
    """An interrupted copy continues where it ends, and copying again changes nothing."""
    source = kept("20260921T133640Z-aaaaaa", "web1", "web2")
    push(source, shared)
    copy = shared / "runs" / source.name
    whole = (copy / "events.jsonl").read_bytes()
    os.truncate(copy / "events.jsonl", whole.index(b"\n") + 1)
    (copy / "run.json").unlink()
    push(source, shared)
    assert (copy / "events.jsonl").read_bytes() == whole
    before = {path.name: path.stat().st_mtime_ns for path in copy.glob("*.jsonl")}
    push(source, shared)
    assert before == {path.name: path.stat().st_mtime_ns for path in copy.glob("*.jsonl")}


def test_half_a_line_waits(shared: Path) -> None:
    """Only complete lines are copied while a run is written."""
    source = kept("20260921T133640Z-aaaaaa", "web1")
    with open(source / "events.jsonl", "a", encoding="utf-8") as file:
        file.write('{"half"')
    copy = copy_of(HistoryLocation(str(shared)), source)
    copy.advance()
    copied = (shared / "runs" / source.name / "events.jsonl").read_bytes()
    assert copied.endswith(b"}\n")
    assert b"half" not in copied
    copy.close()


def test_what_is_pending(shared: Path) -> None:
    """A run is pending from its start until all of it is copied, and for its history only."""
    address = str(shared)
    source = kept("20260921T133640Z-aaaaaa", "web1")
    assert not is_pending(source, address)
    copy = copy_of(HistoryLocation(address), source)
    copy.mark()
    assert is_pending(source, address)
    assert not is_pending(source, "/elsewhere")
    copy.finish()
    copy.close()
    assert not is_pending(source, address)
    (source / "later.jsonl").write_text('{"host": "web1", "state": "ended"}\n')
    assert is_pending(source, address)


def test_a_run_in_progress_is_shown_as_such(shared: Path) -> None:
    """While a run is copied, readers see that it runs; a second copy of it is refused."""
    source = kept("20260921T133640Z-aaaaaa", "web1")
    about = json.loads((source / "run.json").read_text())
    (source / "run.json").write_text(json.dumps({**about, "end": None}))
    choice = HistoryLocation(str(shared))
    copy = copy_of(choice, source)
    copy.advance()
    assert saved_run("", run_source_of(choice)).running
    with pytest.raises(HistoryError, match="by another process"):
        copy_of(choice, source).advance()
    copy.close()
    assert not saved_run("", run_source_of(choice)).running


def test_several_people_copy_at_once(shared: Path) -> None:
    """Runs that are copied at the same time are all complete."""
    sources = [kept(f"20260921T1336{number:02d}Z-aaaaaa", "web1", "web2") for number in range(12)]
    threads = [threading.Thread(target=push, args=(source, shared)) for source in sources]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = list(saved_runs(run_source_of(HistoryLocation(str(shared)))))
    assert [run.run_id for run in found] == sorted((path.name for path in sources), reverse=True)
    assert all(len(list(run.events())) == 4 for run in found)


@pytest.mark.parametrize("kind", ["link", "file in it", "pipe"])
def test_what_is_no_run_is_not_read(shared: Path, tmp_path: Path, kind: str) -> None:
    """Links and pipes that another member of the group puts there are neither read nor followed."""
    push(kept("20260921T133640Z-aaaaaa", "web1"), shared)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "run.json").write_text("{}")
    fake = shared / "runs" / "20260921T133641Z-bbbbbb"
    if kind == "link":
        fake.symlink_to(secret)
    else:
        fake.mkdir()
        (fake / "run.json").symlink_to(secret / "run.json")
        if kind == "pipe":
            (fake / "run.json").unlink()
            os.mkfifo(fake / "run.json")
    folder = run_source_of(HistoryLocation(str(shared)))
    assert [run.run_id for run in saved_runs(folder)] == ["20260921T133640Z-aaaaaa"]
    with pytest.raises(InputError, match="cannot be read"):
        saved_run(fake.name, folder)


@pytest.mark.parametrize("name", ["events.jsonl", "."])
def test_a_copy_is_never_written_through_a_link(shared: Path, tmp_path: Path, name: str) -> None:
    """A link in place of the copy or of its file leads to no write elsewhere."""
    source = kept("20260921T133640Z-aaaaaa", "web1")
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "events.jsonl").write_text("")
    (shared / "runs").mkdir()
    copy = shared / "runs" / source.name
    if name == ".":
        copy.symlink_to(victim)
    else:
        copy.mkdir()
        (copy / name).symlink_to(victim / name)
    with pytest.raises((HistoryUnreachableError, OSError)):
        push(source, shared)
    assert [path.name for path in victim.iterdir()] == ["events.jsonl"]
    assert (victim / "events.jsonl").read_text() == ""


def test_pruning_removes_the_own_runs(shared: Path) -> None:
    """The newest stay; a link is left alone."""
    for second in range(4):
        push(kept(f"20260921T13364{second}Z-aaaaaa", "web1"), shared)
    link = shared / "runs" / "20260921T133600Z-bbbbbb"
    link.symlink_to(shared)
    SharedDirectory(str(shared)).prune(2)
    names = sorted(path.name for path in (shared / "runs").iterdir())
    assert names == [link.name, "20260921T133642Z-aaaaaa", "20260921T133643Z-aaaaaa"]


@pytest.mark.skipif(os.geteuid() != 0, reason="changes the owner of a file")
def test_the_run_of_another_user_stays(shared: Path) -> None:
    """A copy that belongs to another user is neither continued nor removed."""
    source = kept("20260921T133640Z-aaaaaa", "web1")
    push(source, shared)
    os.chown(shared / "runs" / source.name, 12345, -1)
    with pytest.raises(HistoryError, match="belongs to another user"):
        push(source, shared)
    SharedDirectory(str(shared)).prune(0)
    assert (shared / "runs" / source.name).is_dir()
