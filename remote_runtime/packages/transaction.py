"""Runs a package manager to its end, once no other process holds its lock (target)."""

import time
from typing import TYPE_CHECKING, Callable, Mapping, NamedTuple, Sequence

from remote_runtime.packages import locks

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.errors import ResourceError
    from remote_runtime.system.process.commands import Result


class Manager(NamedTuple):
    """Runs one package manager.

    ``look`` finds the process that holds a required lock, ``explain(what, result)`` returns the
    error of a failed command, and output lines that begin with one of ``steps`` are shown while it
    runs.
    """

    environment: Mapping[str, str]
    look: locks.Look
    explain: Callable[[str, "Result"], "ResourceError"]
    steps: Sequence[str]


def carry_out(
    context: "Context", manager: Manager, *, what: str, argv: Sequence[str], lock_timeout: float
) -> "Result":
    """Run one transaction. Waiting for a lock can be cancelled, the transaction cannot.

    ``lock_timeout`` in seconds; the error of ``manager.explain`` if it fails.
    """

    def run() -> "Result":
        locks.wait(context, manager.look, deadline)
        context.progress(what)
        with context.unkillable():
            return context.commands.run(argv, env=manager.environment, on_output=show)

    def show(stream: str, line: str) -> None:
        step = line.strip()
        if stream == "stdout" and step.startswith(tuple(manager.steps)):
            context.progress("%s: %s" % (what, step))

    deadline = time.monotonic() + lock_timeout
    return _again_while_locked(context, manager, what=what, deadline=deadline, run=run)


def ask(context: "Context", manager: Manager, *, what: str, argv: Sequence[str], limit: int) -> str:
    """Run a query, which changes nothing but may need a lock; return its output.

    ``limit`` in bytes; the error of ``manager.explain`` if it fails.
    """

    def run() -> "Result":
        return context.commands.run(argv, env=manager.environment, limit=limit)

    deadline = time.monotonic() + context.options.lock_timeout
    return _again_while_locked(context, manager, what=what, deadline=deadline, run=run).stdout


def _again_while_locked(
    context: "Context", manager: Manager, *, what: str, deadline: float, run: Callable[[], "Result"]
) -> "Result":
    """Run again if another process takes the lock between the check and the start of the package
    manager.
    """
    while True:
        result = run()
        if result.code == 0:
            return result
        error = manager.explain(what, result)
        if error.kind != locks.LOCKED or time.monotonic() >= deadline:
            raise error
        context.sleep(locks.PAUSE)
        locks.wait(context, manager.look, deadline)
