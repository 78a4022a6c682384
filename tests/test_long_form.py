"""What is left out of the short form of the suite."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import long_form

TESTS = """\
import pytest

@pytest.mark.long
def test_slow():
    pass

@pytest.mark.long("b", "c")
@pytest.mark.parametrize("name", ["a", "b", "x-c", "bb"])
def test_of(name):
    pass
"""


@pytest.mark.parametrize(
    ("long", "expected"),
    [
        ("", ["test_of[a]", "test_of[bb]"]),
        ("1", ["test_slow", *(f"test_of[{name}]" for name in ("a", "b", "x-c", "bb"))]),
    ],
)
def test_variants_are_left_out_by_a_part_of_their_name(
    tmp_path: Path, long: str, expected: list[str]
) -> None:
    """The long form has all of them."""
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long: rare\n")
    (tmp_path / "conftest.py").write_text(
        "from tests.long_form import leave_out\n"
        "def pytest_collection_modifyitems(config, items):\n    leave_out(config, items)\n"
    )
    root = str(Path(long_form.__file__).parents[1])
    environ = {**os.environ, long_form.VARIABLE: long, "PYTHONPATH": root, "PYTEST_ADDOPTS": ""}
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line]
    assert found == expected
