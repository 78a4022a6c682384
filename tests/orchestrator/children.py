"""The processes that a test starts."""

import time
from collections.abc import Callable
from pathlib import Path


def children() -> set[int]:
    """The processes that this one has started and that have not ended."""
    lists = [_read(task / "children") for task in Path("/proc/self/task").iterdir()]
    pids = {int(pid) for entry in lists for pid in entry.split()}
    states = {pid: _read(Path(f"/proc/{pid}/stat")).rpartition(") ")[2][:1] for pid in pids}
    return {pid for pid, state in states.items() if state not in ("", "Z")}


def _read(path: Path) -> str:
    """A file of a process or thread; "" once that has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def expect_soon(condition: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until, "it takes too long"
        time.sleep(0.01)


def assert_over(pids: set[int]) -> None:
    """Wait until processes have ended."""
    expect_soon(lambda: not pids & children())
