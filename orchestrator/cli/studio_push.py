"""The process in which ``ccm studio`` pushes a plan (controller).

It reads its order from standard input, and writes JSON lines to standard output: the run that has
started, and errors. Settings come from the environment and the project, like those of ``ccm push``.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.studio.plans.pushes import PushOrder
from orchestrator.studio.quiet_reporter import QuietReporter

if TYPE_CHECKING:
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult

_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from {0} import main; sys.exit(main())"
_OTHERS = "did not finish successfully; the run shows why"


def push_command() -> tuple[str, ...]:
    """The command that starts such a process."""
    return (sys.executable, "-c", _PROGRAM.format(__name__), *map(os.path.abspath, sys.path))


class PushReporter(QuietReporter):
    """Reports the run that has started. SIGTERM stops the push gracefully, as for ``ccm push``."""

    def interruptible(self, interrupt: Callable[[], None]) -> AbstractContextManager[object]:
        """Within this context, the first signal calls ``interrupt``, and a second one exits."""
        from orchestrator.cli.signals import Interrupts

        return Interrupts(interrupt)


def main() -> int:
    """Execute the order; the exit status is not 0 for an error that was not reported."""
    from orchestrator.cli.signals import programs_end_with_it
    from orchestrator.runs.push import push
    from orchestrator.studio.plans.plan_cache import problem_of
    from orchestrator.support.crash_report import describe_crash
    from remote_runtime.errors import CcmError

    order = PushOrder.read(sys.stdin.buffer.readline())
    _leave_stderr()
    try:
        with _only_push_of(order), programs_end_with_it():
            result = push(_request(order), PushReporter(lambda run_id: _say(run=run_id)))
    except CcmError as error:
        _say(problem=problem_of(error))
    except Exception as error:  # a defect: the page links to its report
        path = describe_crash(error, "ccm studio")
        _say(problem=f"internal error: {type(error).__name__}, see {path}")
    else:
        _say(problem=_problem(result))
    return 0


@contextlib.contextmanager
def _only_push_of(order: PushOrder) -> Iterator[None]:
    """Hold the lock of the plan, so that no other studio pushes it. UsageError, OSError."""
    from orchestrator.support.state_directory import make_private

    path = make_private(Path(order.runs).parent / "studio" / "pushes") / order.digest
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        _lock(handle, path)
        yield
        os.unlink(path)
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    from remote_runtime.errors import UsageError

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), os.lstat(path)):
            return
    except (BlockingIOError, FileNotFoundError):
        pass  # it is pushed, or that push has just removed its lock
    raise UsageError("the plan is being pushed", hint="wait until that push has ended")


def _request(order: PushOrder) -> RunRequest:
    """The request of ``ccm push`` for the plan. UsageError, InputError."""
    from orchestrator.cli.command_lookup import build_parser, find_command
    from orchestrator.cli.run_request import read_request
    from orchestrator.support.state_directory import state_directory

    words = [f"--signers={order.signers}", f"--approvals={order.approvals}", "--", order.plan]
    name, command, rest = find_command(["push", *words])
    request = read_request(build_parser(name, command).parse(rest), "push")
    request = request._replace(plan=request.plan._replace(digest=order.digest))
    runs = Path(order.runs)
    return request if runs == state_directory() / "runs" else request._replace(runs=runs)


def _leave_stderr() -> None:
    """Stop using the studio's stderr, because the studio may end first; errors are sent to it as
    lines.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _problem(result: RunResult) -> str:
    if result.is_good:
        return ""
    bad = [one.host for one in result.results if one.outcome != "ok"]
    if bad:
        hosts = len(result.results)
        return f"{len(bad)} of {hosts} host{'s' * (hosts != 1)} {_OTHERS}"
    return f"the push {_OTHERS}"


def _say(**members: str) -> None:
    """Write a line for the studio, which may have ended."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(members).encode("ascii") + b"\n")
