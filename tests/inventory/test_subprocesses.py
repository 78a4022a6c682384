"""Programs that ccm runs on this machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from inventory.subprocesses import end_programs, running
from tests.push.test_rollout import running as still_runs

LEAVES_A_CHILD = ["/bin/sh", "-c", "sleep 600 & echo $!; wait"]


def test_a_program_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """At the end of the block nothing of its group is left."""
    noted = tmp_path / "child"
    with running(LEAVES_A_CHILD) as process:
        assert process.stdout is not None
        noted.write_bytes(process.stdout.readline())
    assert process.returncode == -9
    assert not still_runs(noted)


def test_all_programs_are_ended_at_once(tmp_path: Path) -> None:
    """What still runs ends before its block does."""
    with running(LEAVES_A_CHILD) as first, running(LEAVES_A_CHILD) as second:
        for process in (first, second):
            assert process.stdout is not None
            process.stdout.readline()
        end_programs()
        assert [first.wait(10), second.wait(10)] == [-9, -9]


def test_a_program_that_is_missing_is_an_error_of_the_system() -> None:
    """Nothing is left to end."""
    with pytest.raises(FileNotFoundError), running(["/nowhere/program"], stderr=subprocess.DEVNULL):
        sys.exit("it cannot have started")


def test_the_end_of_a_run_ends_its_own_programs() -> None:
    """Those that serve others, such as a page of the studio, continue."""
    with running(["sleep", "600"], ends_with_run=True) as own, running(["sleep", "600"]) as other:
        end_programs(of_run=True)
        assert own.wait(10) == -9
        assert other.poll() is None
