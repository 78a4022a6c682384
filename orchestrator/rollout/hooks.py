"""Commands on the controller before and after each host, for example to drain it (controller)."""

import threading
import time
from collections.abc import Callable
from typing import Any

from orchestrator.fleet import outcome
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.outcome import HostResult
from orchestrator.rollout.gates import failed_result
from orchestrator.rollout.local_command import failure_text, run_command
from remote_runtime.errors import CcmError

SECONDS = 600.0  # that a command may take
BEFORE, AFTER = "rollout.before_host", "rollout.after_host"


class HookedTask(HostTask[HostResult]):
    """A host's task between two commands, each of which may be "".

    If the first one fails, the host is not contacted. The second one runs whenever the first one
    started, even if the user ends the run; if it fails, its host has failed. ``message`` is their
    standard input. The host uses a fork even if it is unresponsive, because it may be drained.
    """

    def __init__(
        self, task: HostTask[HostResult], before: str, after: str, message: dict[str, Any]
    ) -> None:
        super().__init__(task.name)
        self._task = task
        self._before = before
        self._after = after
        self._message = message
        self._cancelled = threading.Event()

    def _work(self) -> HostResult:
        try:
            result = self._prepared() or self._task.run()
        except BaseException:
            self._finish({})
            raise
        wrong = self._finish(result.record())
        if wrong and result.outcome == outcome.OK:
            return failed_result(result, AFTER, wrong)
        return result

    def _prepared(self) -> HostResult | None:
        """The result of a host whose first command failed; None if it starts."""
        if not self._before:
            return None
        wrong = _run("before-host", self._before, self._message, self._cancelled.is_set)
        if self._cancelled.is_set():
            return self._task.interrupted()
        return failed_result(self._task.held(), BEFORE, wrong) if wrong else None

    def _finish(self, result: dict[str, Any]) -> str:
        """Run the command after the host; return the problem, or "" for success."""
        if not self._after:
            return ""
        return _run("after-host", self._after, {**self._message, "result": result}, lambda: False)

    def _during(self) -> str:
        return f"host {self.name}"

    def _ended(self, error: CcmError) -> HostResult:
        return self._task._ended(error)

    def interrupted(self) -> HostResult:
        """Return the result of the task itself."""
        return self._task.interrupted()

    def held(self) -> HostResult:
        """Return the result of the task itself."""
        return self._task.held()

    def cancel(self) -> None:
        """Cancel the task; the second command runs anyway."""
        self._cancelled.set()
        self._task.cancel()

    def abandon(self) -> None:
        """Abandon the host."""
        self._task.abandon()

    def tend(self, now: float) -> None:
        """Keep the host's connection alive."""
        self._task.tend(now)

    def _leave(self) -> None:
        """Do nothing, because the task has already released its connection."""


def _run(what: str, command: str, message: dict[str, Any], is_over: Callable[[], bool]) -> str:
    """Run a command; return the problem, or "" for success."""
    end = time.monotonic() + SECONDS

    def left() -> float:
        """The number of seconds until the time limit."""
        return 0.0 if is_over() else end - time.monotonic()

    try:
        ran = run_command(command, message, left)
    except OSError as error:
        return f"{what} could not be started: {error.strerror}"
    if ran.code == 0:
        return ""
    return f"{what} {failure_text(ran, SECONDS)}"
