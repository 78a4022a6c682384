"""The directory of a session: made, checked, reported and removed."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.session import export
from tests.texts import expect_text

EVENT: dict[str, Any] = {
    "protocol": "io.choria.ccm.v1.transaction.event",
    "event_id": "01ARZ3NDEKTSV4RRFFQ69G5FA0",
    "timestamp": "2026-01-02T03:04:05.5Z",
    "type": "exec",
    "name": "x",
    "provider": "posix",
    "requested_ensure": "present",
    "final_ensure": "present",
    "duration": 500_000_000,
    "properties": {},
    "status": "changed",
    "changes": [],
    "error": [],
    "changed": True,
    "refreshed": False,
    "failed": False,
    "skipped": False,
    "noop": False,
    "unmet_requirements": [],
    "host": "web1",
    "run_id": "r",
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a session that is under way."""
    path = tmp_path / "session"
    path.mkdir(mode=0o700)
    monkeypatch.setenv("CCM_SESSION_STORE", str(path))
    return path


def add(store: Path, number: int = 0, **members: Any) -> Path:
    """Put one event into a session."""
    event = {**EVENT, "event_id": EVENT["event_id"][:-1] + str(number), **members}
    path = store / f"{event['event_id']}.event"
    path.write_text(json.dumps(event))
    return path


def test_new_makes_a_private_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``session new`` prints what the shell evaluates; the directory is the user's alone."""
    directory = tmp_path / "it's here"
    directory.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    assert main(["session", "new"]) == 0
    line = capsys.readouterr().out
    done = subprocess.run(
        ["sh", "-c", f'{line}\nprintf %s "$CCM_SESSION_STORE"'], capture_output=True, check=True
    )
    made = Path(done.stdout.decode())
    assert (made.parent, made.stat().st_mode & 0o777) == (directory, 0o700)


def test_a_directory_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``session start --directory`` makes that directory, and takes none that is there."""
    directory = tmp_path / "session"
    assert main(["session", "start", "--directory", str(directory)]) == 0
    assert str(directory) in capsys.readouterr().out
    assert directory.stat().st_mode & 0o777 == 0o700
    assert main(["session", "start", "--directory", str(directory)]) == 2
    assert "specify a new directory" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh", "fish", "csh", "tcsh"])
@pytest.mark.parametrize("value", ["/tmp/plain", "/tmp/it's $HOME !1 \\ `id`/é"])
def test_each_shell_exports_the_directory(shell: str, value: str) -> None:
    """What is printed is one command of the shell, whatever the directory is called."""
    if shutil.which(shell) is None:
        pytest.skip(f"this machine has no {shell}")
    line = export(shell, "CCM_SESSION_STORE", value)
    done = subprocess.run(
        [shell, "-c", f"{line}\nprintenv CCM_SESSION_STORE"], capture_output=True, check=True
    )
    assert done.stdout.decode() == value + "\n"


def test_a_report_adds_up(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report counts every event once, per host, with start, end and duration."""
    failed = {"status": "failed", "failed": True, "changed": False, "error": ["no"]}
    add(store, 0)
    add(store, 1, timestamp="2026-01-02T03:04:07Z", **failed)
    add(store, 2, host="web2", name="y", status="stable", changed=False)
    assert main(["session", "report", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["protocol"] == "io.choria.ccm.v1.session"
    assert document["duration"] == 2.0
    summary = document["summary"]
    assert (summary["hosts"], summary["total"], summary["unique"]) == (2, 3, 2)
    assert (summary["changed"], summary["failed"], summary["stable"]) == (1, 1, 1)
    assert [event["host"] for event in document["events"]] == ["web1", "web1", "web2"]
    add(store, 3)
    assert main(["session", "report"]) == 0  # the latest event of each is good
    assert "exec#x" in capsys.readouterr().out


def test_a_time_that_is_none_harms_nobody(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A host may send a time that no calendar has; the session is reported all the same."""
    add(store, 0, timestamp="2026-13-41T25:61:61Z")
    add(store, 1, timestamp="0000-00-00T00:00:00Z", duration=10**18)
    for words in ((), ("--json",)):
        assert main(["session", "report", *words]) == 0
        assert "exec" in capsys.readouterr().out


def test_a_report_removes_the_session_when_asked(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--remove`` removes the events and the directory, and nothing that is not of a session."""
    add(store)
    (store / "precious.txt").write_text("x")
    assert main(["session", "report", "--remove"]) == 2
    expect_text(capsys.readouterr().err)
    assert len(list(store.iterdir())) == 2
    (store / "precious.txt").unlink()
    assert main(["session", "report", "--remove"]) == 0
    assert not store.exists()


def damaged(store: Path) -> None:
    add(store).write_text('{"half": ')


def incomplete(store: Path) -> None:
    add(store, changed="yes")


def gone(store: Path) -> None:
    store.rmdir()


def open_to_others(store: Path) -> None:
    store.chmod(0o755)


def linked(store: Path) -> None:
    store.rename(store.with_name("real"))
    store.symlink_to(store.with_name("real"))


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (damaged, "is not a transaction event: Expecting value"),
        (incomplete, "is not a transaction event: changed has the wrong type"),
        (gone, "cannot be used: No such file or directory"),
        (open_to_others, "is accessible to other users"),
        (linked, "is not a directory"),
    ],
)
@pytest.mark.parametrize(
    "words", [["session", "report"], ["ensure", "exec", "true", "--require", "exec#x"]]
)
def test_a_session_that_cannot_be_used_is_told(
    store: Path, harm: Any, told: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged event, a missing directory, one of another user: exit 2 before anything is done."""
    harm(store)
    assert main(words) == 2
    assert told in capsys.readouterr().err


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to somebody else")
def test_a_directory_of_somebody_else_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Events of another user are not believed."""
    os.chown(store, 65534, -1)
    assert main(["session", "report"]) == 2
    expect_text(capsys.readouterr().err)


def test_without_a_session_there_is_nothing_to_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``session report`` says how to begin one."""
    monkeypatch.delenv("CCM_SESSION_STORE", raising=False)
    assert main(["session", "report"]) == 2
    assert 'eval "$(ccm session new)"' in capsys.readouterr().err


def test_a_run_adds_whole_events_only(store: Path) -> None:
    """Each event becomes one file that nobody else may read, under its own name."""
    from orchestrator.fleet import events as run_events
    from orchestrator.fleet.store.session_store import opened

    opened(store).handle(run_events.ResourceEvent("web1", EVENT, json.dumps(EVENT)))
    (path,) = store.iterdir()
    assert (path.name, path.stat().st_mode & 0o777) == (f"{EVENT['event_id']}.event", 0o600)
    assert json.loads(path.read_text()) == EVENT


def test_what_a_plan_is_told(store: Path) -> None:
    """It is the latest event of a resource on that host that counts, by name and by alias."""
    from orchestrator.fleet.store.session_store import opened

    failed = {"status": "failed", "failed": True, "changed": False}
    add(store, 0, alias="a", **failed)
    add(store, 1, alias="a")
    add(store, 2, host="web2", noop=True)
    skipped = {"status": "skipped", "skipped": True, "changed": False}
    add(store, 3, name="z", unmet_requirements=["exec#x"], **skipped)
    found = opened(store)
    assert found.names() == {"exec#x", "exec#a", "exec#z"}
    met = {"met": True, "changed": True, "noop": False}
    assert found.of("web1", frozenset(["exec#a"])) == {
        "resources": {"exec#a": met},
        "pending": False,
    }
    unmet = {"met": False, "changed": False, "noop": False}
    assert found.of("web1", frozenset(["exec#z"]))["resources"] == {"exec#z": unmet}
    assert found.of("web2", frozenset(["exec#z"])) == {"resources": {}, "pending": True}
    assert found.of("web3", frozenset(["exec#x"])) == {"resources": {}, "pending": False}
    assert found.failed()
    assert opened(store, noop=False).of("web2", frozenset()) == {}
