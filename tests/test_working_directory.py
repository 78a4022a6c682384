"""A test leaves the process of the suite in the working directory that it began in."""

import subprocess
import sys
from pathlib import Path

CONFTEST = "from tests.conftest import pytest_runtest_teardown\n"
TESTS = """\
import os

def test_leaves():
    os.chdir("/")

def test_goes_back(monkeypatch):
    monkeypatch.chdir("/")

def test_begins_at_home():
    assert os.getcwd() != "/"
"""


def test_a_test_that_leaves_it_fails(tmp_path: Path) -> None:
    """It is named, and those after it begin where they should."""
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, *words], cwd=root, capture_output=True, text=True, timeout=120
    )
    assert "3 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "the working directory was / after the test" in done.stdout
    assert "test_it.py::test_leaves" in done.stdout.splitlines()[-2]
