"""Files that are being fetched, and those that a killed fetch has left."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.fleet.host.partial_files import PartialFile, sweep

LEFT = ".ccm-0123456789ab.part"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    handle = os.open(tmp_path, os.O_RDONLY)
    yield handle
    os.close(handle)


def names(directory: int) -> list[str]:
    return sorted(os.listdir(directory))


def left(path: Path, rights: int = 0o200) -> None:
    """What a killed fetch leaves."""
    path.write_bytes(b"half")
    path.chmod(rights)


def test_what_a_killed_fetch_left_is_swept(tmp_path: Path, directory: int) -> None:
    """Nobody writes it any more, however large it is."""
    left(tmp_path / LEFT)
    sweep(directory)
    assert names(directory) == []


def test_what_is_being_written_stays(directory: int) -> None:
    """A fetch that runs beside loses nothing."""
    part = PartialFile(directory)
    part.out.write(b"whole")
    assert len(names(directory)) == 1
    sweep(directory)
    part.finish("x")
    sweep(directory)
    assert names(directory) == ["x"]
    found = os.stat("x", dir_fd=directory)
    assert (found.st_size, stat.S_IMODE(found.st_mode)) == (5, 0o600)


def test_what_is_dropped_leaves_nothing(directory: int) -> None:
    """Half a file has no name."""
    part = PartialFile(directory)
    part.out.write(b"half")
    part.drop()
    assert names(directory) == []


def test_only_our_own_are_swept(tmp_path: Path, directory: int) -> None:
    """A file of a host that is called so, a link, a directory and a pipe stay where they are."""
    left(tmp_path / ".ccm-00000000000a.part", 0o600)
    left(tmp_path / ".ccm-short.part")
    left(tmp_path / "x.part")
    left(tmp_path / "target")
    (tmp_path / ".ccm-00000000000b.part").symlink_to("target")
    (tmp_path / ".ccm-00000000000c.part").mkdir()
    os.mkfifo(tmp_path / ".ccm-00000000000d.part", 0o200)
    before = names(directory)
    sweep(directory)
    assert names(directory) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_those_of_another_user_stay(tmp_path: Path, directory: int) -> None:
    """They are not ours to judge."""
    left(tmp_path / LEFT)
    os.chown(tmp_path / LEFT, 4321, 4321)
    sweep(directory)
    assert names(directory) == [LEFT]
