"""A file that lines are appended to."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.support.line_file import LineFile, is_held


def test_a_line_outlives_the_process_that_wrote_it(tmp_path: Path) -> None:
    """What was written is there although nothing was closed or flushed."""
    path = tmp_path / "lines"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from orchestrator.support.line_file import LineFile\n"
        "file = LineFile(Path(sys.argv[1])); file.hold(); file.write('one\\ntwo\\n')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert path.read_text() == "one\ntwo\n"
    assert not is_held(path)


def test_private_files_are_new_and_others_are_replaced(tmp_path: Path) -> None:
    """A private one is never somebody else's file."""
    path = tmp_path / "lines"
    LineFile(path, private=True).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        LineFile(path, private=True)
    path.write_text("before\n")
    LineFile(path).write("after\n")
    assert path.read_text() == "after\n"


def test_half_a_line_is_taken_back(tmp_path: Path) -> None:
    """What a limit cuts off in the middle of a line leaves the lines before it, and is told."""
    path = tmp_path / "lines"
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from orchestrator.support.line_file import LineFile\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "file = LineFile(Path(sys.argv[1])); file.write('x' * 80 + '\\n')\n"
        "try:\n    file.write('y' * 80 + '\\n')\n"
        "except OSError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"[Errno 27] File too large: '{path}'\n"
    assert path.read_text() == "x" * 80 + "\n"


def test_a_pipe_takes_lines(tmp_path: Path) -> None:
    """A named pipe is written to; one that nobody reads any more is an error that names it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    file = LineFile(path)
    file.write("one\n")
    assert os.read(reader, 100) == b"one\n"
    os.close(reader)
    with pytest.raises(BrokenPipeError, match="pipe"):
        file.write("two\n")


def test_a_file_that_is_being_written_is_held(tmp_path: Path) -> None:
    """It is as long as its writer has it open."""
    path = tmp_path / "lines"
    file = LineFile(path)
    assert not is_held(path)
    file.hold()
    assert is_held(path)
    file.close()
    assert not is_held(path)
    assert not is_held(tmp_path / "nothing")
