"""Files that take the place of others, whole or not at all."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.support.atomic_file import error_text, replacing, unwritable

REPOSITORY = Path(__file__).resolve().parents[3]


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


def test_a_killed_writer_leaves_nothing(tmp_path: Path) -> None:
    """Even a signal that cannot be handled leaves the old file alone in its directory."""
    path = tmp_path / "a"
    path.write_text("old")
    kill = """
import os, pathlib, signal, sys
from orchestrator.support.atomic_file import replacing
with replacing(pathlib.Path(sys.argv[1])) as out:
    out.write(b"new")
    out.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", kill, path], cwd=REPOSITORY, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("named", [False, True])
def test_a_file_that_must_be_new(
    tmp_path: Path, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of somebody else stays, with and without a file system that has unnamed files."""
    if named:
        monkeypatch.delattr(os, "O_TMPFILE")
    path = tmp_path / "a"
    with replacing(path, 0o640, is_new=True) as out:
        out.write(b"first")
    with pytest.raises(FileExistsError), replacing(path, is_new=True) as out:
        out.write(b"second")
    assert path.read_text() == "first"
    with replacing(path, 0o640) as out:
        out.write(b"third")
    assert path.read_text() == "third"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_an_error_of_the_file(tmp_path: Path) -> None:
    """The error names the file that was to be written, and nothing of it is left."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with (
            pytest.raises(OSError, match="File too large") as caught,
            replacing(tmp_path / "a") as out,
        ):
            out.write(b"x" * 101)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error_text(caught.value) == f"{tmp_path}/a: File too large"
    assert list(tmp_path.iterdir()) == []
