"""Files that are being fetched, and those that a killed fetch has left."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.fleet.host.part_files import PartFile, sweep

LEFT = ".ccm-0123456789ab.part"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    handle = os.open(tmp_path, os.O_RDONLY)
    yield handle
    os.close(handle)


def names(folder: int) -> list[str]:
    return sorted(os.listdir(folder))


def left(path: Path, rights: int = 0o200) -> None:
    """What a killed fetch leaves."""
    path.write_bytes(b"half")
    path.chmod(rights)


def test_what_a_killed_fetch_left_is_swept(tmp_path: Path, folder: int) -> None:
    """Nobody writes it any more, however large it is."""
    left(tmp_path / LEFT)
    sweep(folder)
    assert names(folder) == []


def test_what_is_being_written_stays(folder: int) -> None:
    """A fetch that runs beside loses nothing."""
    part = PartFile(folder)
    part.out.write(b"whole")
    assert len(names(folder)) == 1
    sweep(folder)
    part.finish("x")
    sweep(folder)
    assert names(folder) == ["x"]
    found = os.stat("x", dir_fd=folder)
    assert (found.st_size, stat.S_IMODE(found.st_mode)) == (5, 0o600)


def test_what_is_dropped_leaves_nothing(folder: int) -> None:
    """Half a file has no name."""
    part = PartFile(folder)
    part.out.write(b"half")
    part.drop()
    assert names(folder) == []


def test_only_our_own_are_swept(tmp_path: Path, folder: int) -> None:
    """A file of a host that is called so, a link, a folder and a pipe stay where they are."""
    left(tmp_path / ".ccm-00000000000a.part", 0o600)
    left(tmp_path / ".ccm-short.part")
    left(tmp_path / "x.part")
    left(tmp_path / "target")
    (tmp_path / ".ccm-00000000000b.part").symlink_to("target")
    (tmp_path / ".ccm-00000000000c.part").mkdir()
    os.mkfifo(tmp_path / ".ccm-00000000000d.part", 0o200)
    before = names(folder)
    sweep(folder)
    assert names(folder) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_those_of_another_user_stay(tmp_path: Path, folder: int) -> None:
    """They are not ours to judge."""
    left(tmp_path / LEFT)
    os.chown(tmp_path / LEFT, 4321, 4321)
    sweep(folder)
    assert names(folder) == [LEFT]
