"""A process of the suite that the system ends loses its one test, and nobody waits."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("xdist")
from tests.whole_files import WholeFiles

CONFTEST = "from tests.conftest import pytest_xdist_make_scheduler\n"
ENDS = """\
import os
from pathlib import Path

def test_ends():
    flag = Path(__file__).with_name("flag")
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), 9)
"""


def test_a_process_that_is_killed(tmp_path: Path) -> None:
    """The others do the rest; many files were done by then, and each has but one test."""
    for number in range(100):
        body = ENDS if number == 90 else "def test_passes():\n    pass\n"
        (tmp_path / f"test_{number:03}.py").write_text(body)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    root = Path(__file__).parents[1]
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(settings)]
    words += ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *words], cwd=root, capture_output=True, text=True, timeout=120
    )
    assert "1 failed, 100 passed" in done.stdout, done.stdout + done.stderr


def test_the_files_of_some_directories_stay_together() -> None:
    """Others are given to processes one by one."""
    place = WholeFiles._split_scope
    scheduler = object.__new__(WholeFiles)
    names = ["tests/architecture/test_a.py::test_x", "tests/architecture/test_b.py::test_y[1]"]
    assert {place(scheduler, name) for name in names} == {"tests/architecture/"}
    assert place(scheduler, "tests/lab/test_host.py::test_x[a::b]") == "tests/lab/test_host.py"
