import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.registration.entry import Query, Registration
from orchestrator.registration.errors import RegistrationError
from orchestrator.registration.json_file import JsonFile
from orchestrator.registration.store import open_store
from remote_runtime.errors import UsageError
from tests.texts import expect_text

WRITER = """
import sys
from pathlib import Path
from orchestrator.registration.entry import Registration
from orchestrator.registration.json_file import JsonFile
store = JsonFile(Path(sys.argv[1]))
for port in range(1, 26):
    store.publish([Registration("c", "s", "p", sys.argv[2], port)])
"""


def web(port: int = 80, **fields: object) -> Registration:
    known = {"cluster": "prod", "service": "web", "protocol": "http", "address": "10.0.0.1"}
    return Registration.of({**known, "port": port, **fields}, now=1000)


def test_round_trip(tmp_path: Path) -> None:
    """What is published is found; an endpoint that is announced again takes its own place."""
    path = tmp_path / "r.json"
    store = JsonFile(path, clock=lambda: 1000)
    assert store.lookup(Query()) == []
    store.publish([web(81), web()])
    store.publish([web(priority=7)])
    assert store.lookup(Query("prod", "http")) == [web(priority=7), web(81)]
    assert store.lookup(Query("test")) == []
    store.remove([web()])
    assert store.lookup(Query()) == [web(81)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {p.name for p in tmp_path.iterdir()} == {"r.json", ".r.json.lock"}


def test_expiry(tmp_path: Path) -> None:
    """An entry whose time is up is not found, and the next writer drops it."""
    path, now = tmp_path / "r.json", [1000.0]
    store = JsonFile(path, clock=lambda: now[0])
    store.publish([web(ttl="10s"), web(81), web(82, ttl="never")])
    now[0] = 1011
    assert [e.port for e in store.lookup(Query())] == [81, 82]
    assert len(json.loads(path.read_text())["registrations"]) == 3
    store.publish([])
    kept = json.loads(path.read_text())["registrations"]
    assert {entry["port"] for entry in kept} == {81, 82}


def test_several_writers(tmp_path: Path) -> None:
    """Runs that write at the same time lose nothing, and readers always find a whole file."""
    path = tmp_path / "r.json"
    store = JsonFile(path)
    argv = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*argv, f"host{number}"]) for number in range(4)]
    while any(writer.poll() is None for writer in writers):
        store.lookup(Query())
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    assert len(store.lookup(Query())) == 100


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 2}', "x", '{"format": 1}', "[" * 100_000]
)
def test_a_foreign_file(tmp_path: Path, text: str) -> None:
    """A file that is something else is neither read nor overwritten."""
    path = tmp_path / "r.json"
    path.write_text(text)
    for use in (lambda: JsonFile(path).lookup(Query()), lambda: JsonFile(path).publish([web()])):
        with pytest.raises(RegistrationError) as refused:
            use()
        expect_text(refused.value)
    assert path.read_text() == text


def test_no_directory(tmp_path: Path) -> None:
    """A file that cannot be written is told with its path and what to do."""
    with pytest.raises(RegistrationError) as caught:
        JsonFile(tmp_path / "none" / "r.json").publish([web()])
    expect_text(caught.value)
    assert "--registration" in caught.value.hint


def test_a_lock_that_is_held(tmp_path: Path) -> None:
    """A lock is waited for, and not for ever."""
    path = tmp_path / "r.json"
    store = JsonFile(path, patience=0.05)
    with store._locked(), pytest.raises(RegistrationError, match="another run kept"):
        store.publish([web()])
    store.publish([web()])


def test_a_link_and_a_mode_are_kept(tmp_path: Path) -> None:
    """A symlink stays one, and the mode that the user gave stays too."""
    real = tmp_path / "real.json"
    JsonFile(real).publish([web()])
    real.chmod(0o644)
    link = tmp_path / "link.json"
    link.symlink_to(real)
    JsonFile(link).publish([web(81)])
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o644
    assert len(JsonFile(real).lookup(Query())) == 2


def test_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word it is a file in ccm's private state directory; another one has to be there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = open_store()
    assert store.lookup(Query()) == []
    assert not (tmp_path / "state").exists()
    store.publish([web()])
    assert (tmp_path / "state" / "ccm" / "registrations.json").is_file()
    mine = str(tmp_path / "mine.json")
    with pytest.raises(UsageError, match=r"registry .*mine\.json does not exist"):
        open_store(mine)
    assert open_store(mine, new=True).shown == mine
    (tmp_path / "given.json").touch()
    assert open_store(str(tmp_path / "given.json")).shown == str(tmp_path / "given.json")


def test_unknown_url() -> None:
    """Only NATS and files are known."""
    with pytest.raises(UsageError, match="redis://") as caught:
        open_store("redis://:secret@host")
    assert "secret" not in str(caught.value)
