"""Where fetched files come to lie, whatever a host calls them."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.fetch_destination import (
    MAX_DIRECTORIES,
    MAX_FILES,
    FetchTarget,
    HostFetchTarget,
    TransferAbortedError,
)
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.outcome import HostResult
from remote_runtime.errors import PlanError, ProtocolError
from remote_runtime.protocol import wire
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakePlanner,
    FarEnd,
    make_event,
)
from tests.texts import expect_text


def taking(directory: Path, file: int = 100, total: int = 1000) -> HostFetchTarget:
    """What takes the files of web1, which was asked for /srv/a and /srv/d."""
    return FetchTarget(directory, file, total).of("web1", ["/srv/a", "/srv/d/"])


def file(*name: Any, path: Any = 1) -> dict[str, Any]:
    return {"t": "file", "path": path, "name": list(name)}


def below(directory: Path) -> list[str]:
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir())


def test_files_lie_below_their_host(tmp_path: Path) -> None:
    """A file has the name that was asked for, and nobody else may read it."""
    landing = taking(tmp_path)
    landing.take(file(path=0), iter([b"one", b"two"]))
    landing.take(file("x", "y"), iter([]))
    assert below(tmp_path) == ["web1/srv/a", "web1/srv/d/x/y"]
    path = tmp_path / "web1/srv/a"
    assert path.read_bytes() == b"onetwo"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "web1").stat().st_mode) == 0o700


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """A second fetch replaces it; one that breaks off leaves it as it was, and nothing beside."""
    landing = taking(tmp_path)
    landing.take(file("x"), iter([b"first"]))
    landing.take(file("x"), iter([b"second"]))

    def breaking() -> Iterator[bytes]:
        yield b"half"
        raise TransferAbortedError

    landing.take(file("x"), breaking())
    assert below(tmp_path) == ["web1/srv/d/x"]
    assert (tmp_path / "web1/srv/d/x").read_bytes() == b"second"


def test_what_a_killed_fetch_left_is_swept(tmp_path: Path) -> None:
    """In each directory that is written to, and not what another file of this fetch is."""
    for name in ("web1/srv/d", "web1/srv/d/x", "web2/srv/d"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / ".ccm-0123456789ab.part").touch(0o200)
    landing = taking(tmp_path)
    landing.take(file("y"), iter([b"1"]))
    landing.take(file("x", "y"), iter([b"1"]))
    left = "web2/srv/d/.ccm-0123456789ab.part"  # nothing was fetched from there
    assert below(tmp_path) == ["web1/srv/d/x/y", "web1/srv/d/y", left]


@pytest.mark.parametrize(
    "message",
    [
        file(".."),
        file("..", "..", "etc", "passwd"),
        file("."),
        file(""),
        file("/etc/passwd"),
        file("a/../../b"),
        file("a\0b"),
        file("e\x1b[2J"),
        file("a\nb"),
        file("a\u202eb"),
        file("\udcff"),
        file("x" * 256),
        file(*["d"] * 201),
        file(7),
        file(["x"]),
        file(path=2),
        file(path=-1),
        file(path=True),
        file(path="0"),
        {"t": "file", "path": 0, "name": "x"},
        {"t": "file"},
    ],
)
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, message: dict[str, Any]) -> None:
    """A host that makes up names has broken the protocol, and nothing was written."""
    with pytest.raises(ProtocolError):
        taking(tmp_path).take(message, iter([b"x"]))
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A link in the place of a directory is refused, one in the place of a file is replaced."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    directory = tmp_path / "out"
    (directory / "web1/srv").mkdir(parents=True)
    (directory / "web1/srv/d").symlink_to(outside)
    (directory / "web1/srv/a").symlink_to(outside / "kept")
    landing = taking(directory)
    with pytest.raises(PlanError) as refused:
        landing.take(file("x"), iter([b"x"]))
    expect_text(refused.value)
    landing.take(file(path=0), iter([b"mine"]))
    assert below(outside) == ["kept"]
    assert (outside / "kept").read_text() == "kept"
    assert not (directory / "web1/srv/a").is_symlink()


def test_bounds_hold_whatever_a_host_sends(tmp_path: Path) -> None:
    """A file, all of them and their number are bounded; what is too much leaves nothing."""
    with pytest.raises(ProtocolError):
        taking(tmp_path).take(file("x"), iter([b"x" * 60] * 2))
    landing = FetchTarget(tmp_path, 100, 150)
    landing.of("web1", ["/a"]).take(file(path=0), iter([b"x" * 100]))
    with pytest.raises(PlanError, match="--max-total"):
        landing.of("web2", ["/a"]).take(file(path=0), iter([b"x" * 100]))
    assert below(tmp_path) == ["web1/a"]
    many = taking(tmp_path)
    many._files = MAX_FILES
    with pytest.raises(ProtocolError):
        many.take(file("x"), iter([]))


def test_directories_without_a_byte_are_bounded(tmp_path: Path) -> None:
    """Each takes room here, however little is sent."""
    landing = taking(tmp_path)
    landing.take(file("deep", "deeper", "x"), iter([]))
    landing._directories = MAX_DIRECTORIES - 1
    landing.take(file("deep", "one", "x"), iter([]))
    landing.take(file("deep", "one", "y"), iter([]))
    with pytest.raises(ProtocolError):
        landing.take(file("deep", "two", "x"), iter([]))


def sending(*frames: Any) -> Callable[[FarEnd], None]:
    """A host that sends these, bytes as they are, and then carries its plan out."""

    def script(end: FarEnd) -> None:
        end.greet()
        end.await_message("plan")
        for frame in frames:
            end.raw(wire.encode_binary(frame) if type(frame) is bytes else wire.encode(frame))
        end.say("event", seq=1, event=make_event(name="/srv/a"))
        end.say("done", events=1, cancelled=False)

    return script


def run_of(script: Callable[[FarEnd], None], incoming: HostFetchTarget | None) -> HostResult:
    """What a host comes to that is asked for files, or is not."""
    return HostRun(
        FakeHost("web1"),
        FakeConnector(script),
        planner=FakePlanner(["/srv/a"], incoming=incoming),
        bus=Bus([]),
        settings=SETTINGS,
    ).run()


WHOLE = {"t": "file_end", "whole": True}


def test_a_host_sends_files_before_its_event(tmp_path: Path) -> None:
    """What else it tells meanwhile is heard; what breaks off is not there."""
    progress = {"t": "progress", "index": 0, "action": "fetching"}
    frames = [file(path=0), b"on", progress, b"e", WHOLE]
    frames += [file("x"), b"half", {"t": "file_end", "whole": False}]
    assert run_of(sending(*frames), taking(tmp_path)).outcome == "ok"
    assert below(tmp_path) == ["web1/srv/a"]
    assert (tmp_path / "web1/srv/a").read_bytes() == b"one"


@pytest.mark.parametrize(
    "frames",
    [
        [file(".."), b"x", WHOLE],
        [file("x"), b"x"],
        [file("x"), b"x" * 101, WHOLE],
        [file("x"), file("y"), WHOLE, WHOLE],
        [WHOLE],
        [b"x"],
    ],
)
def test_a_host_that_sends_something_else_is_let_go(tmp_path: Path, frames: list[Any]) -> None:
    """It has broken the protocol, and no file of it is left half written."""
    result = run_of(sending(*frames), taking(tmp_path))
    assert (result.outcome, result.message[:21]) == ("unreachable", "violated the protocol")
    assert below(tmp_path) == []


def test_nobody_sends_files_unasked() -> None:
    """A file in a push is no part of the conversation."""
    result = run_of(sending(file(path=0), b"x", WHOLE), None)
    assert result.outcome == "unreachable"


def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The path and the reason are named."""
    (tmp_path / "web1").write_text("a file")
    with pytest.raises(PlanError) as refused:
        taking(tmp_path).take(file(path=0), iter([]))
    expect_text(refused.value)
    assert os.listdir(tmp_path) == ["web1"]
