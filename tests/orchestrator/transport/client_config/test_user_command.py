"""Commands that the user names in a setting or in ~/.ssh/config."""

from pathlib import Path

from orchestrator.transport.client_config.user_command import run_shell
from tests.push.test_rollout import running as still_runs


def test_output_and_exit_code() -> None:
    """Both outputs are read, and the command gets no input."""
    done = run_shell("cat; echo out; echo err >&2; exit 3", 10)
    assert done is not None
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_a_command_without_end(tmp_path: Path) -> None:
    """After the timeout, no process that it started is left."""
    noted = tmp_path / "child"
    assert run_shell(f"sleep 600 & echo $! > {noted}; wait", 0.5) is None
    assert not still_runs(noted)


def test_output_without_end() -> None:
    """A command that never stops writing ends at a limit, like one that runs too long."""
    assert run_shell("exec cat /dev/zero", 20) is None


def test_a_command_that_leaves_a_process_behind(tmp_path: Path) -> None:
    """Its answer counts, and the process ends."""
    noted = tmp_path / "child"
    done = run_shell(f"sleep 600 & echo $! > {noted}; echo s3cret", 10)
    assert done is not None
    assert done.stdout == b"s3cret\n"
    assert not still_runs(noted)
