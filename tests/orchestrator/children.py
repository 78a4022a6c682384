"""The processes that a test starts."""

import time
from collections.abc import Callable
from pathlib import Path


def children() -> set[int]:
    """The processes that this one has started and that have not ended."""
    tasks = Path("/proc/self/task").glob("*/children")
    found = {int(pid) for task in tasks for pid in task.read_text().split()}
    states = {pid: Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] for pid in found}
    return {pid for pid, state in states.items() if state != "Z"}


def expect_soon(condition: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.01)


def assert_over(pids: set[int]) -> None:
    """Wait until processes have ended."""
    expect_soon(lambda: not pids & children())
