"""Files that take the place of others, whole or not at all."""

import os
from pathlib import Path

import pytest

from orchestrator.support.atomic_file import replacing, unwritable


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """The old content stands until all of the new one is written; the mode is the one asked for."""
    path = tmp_path / "a"
    path.write_text("old")
    with replacing(path, 0o640, durable=True) as out:
        out.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    """A report to /dev/null as root leaves the device, and a pipe gets what is written."""
    pipe, null = tmp_path / "pipe", tmp_path / "null"
    os.mkfifo(pipe)
    null.symlink_to("/dev/null")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path in (pipe, null):
        with replacing(path, durable=True) as out:
            out.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert null.is_symlink()
    assert sorted(tmp_path.iterdir()) == [null, pipe]


def test_nothing_is_left_of_a_file_that_is_not_finished(tmp_path: Path) -> None:
    """Whatever ends the writing, the old file stays and the new one goes."""
    path = tmp_path / "a"
    path.write_text("old")

    def interrupted() -> None:
        with replacing(path) as out:
            out.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    """A directory, and a file in a directory that is missing; a device can always be written."""
    assert unwritable(str(tmp_path / "new")) == ""
    assert unwritable(str(tmp_path)) == "it is a directory"
    assert unwritable(str(tmp_path / "a/b")) == f"the directory {tmp_path}/a does not exist"
    assert unwritable(os.devnull) == ""
