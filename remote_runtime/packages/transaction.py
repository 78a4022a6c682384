"""Runs a package manager once nobody else does, and to its end (target)."""

import time
from typing import TYPE_CHECKING, Callable, Mapping, NamedTuple, Sequence

from remote_runtime.packages import locks

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.errors import ResourceError
    from remote_runtime.system.process.commands import Result


class Manager(NamedTuple):
    """How one package manager is run.

    ``look`` finds who holds a lock that it needs, ``explain(what, result)`` makes the error of a
    failed command, and lines that begin with one of ``steps`` are told while it runs.
    """

    environment: Mapping[str, str]
    look: locks.Look
    explain: Callable[[str, "Result"], "ResourceError"]
    steps: Sequence[str]


def carry_out(
    context: "Context", manager: Manager, *, what: str, argv: Sequence[str], lock_timeout: float
) -> "Result":
    """Run one transaction. Waiting for a lock can be cancelled, the transaction cannot.

    ``lock_timeout`` in seconds; the error of ``manager.explain`` when it fails.
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
    """Run a query, which changes nothing and may need a lock all the same; return its output.

    ``limit`` in bytes; the error of ``manager.explain`` when it fails.
    """

    def run() -> "Result":
        return context.commands.run(argv, env=manager.environment, limit=limit)

    deadline = time.monotonic() + context.options.lock_timeout
    return _again_while_locked(context, manager, what=what, deadline=deadline, run=run).stdout


def _again_while_locked(
    context: "Context", manager: Manager, *, what: str, deadline: float, run: Callable[[], "Result"]
) -> "Result":
    """Somebody may be faster between the look at the locks and the package manager's own."""
    while True:
        result = run()
        if result.code == 0:
            return result
        error = manager.explain(what, result)
        if error.kind != locks.LOCKED or time.monotonic() >= deadline:
            raise error
        context.sleep(locks.PAUSE)
        locks.wait(context, manager.look, deadline)
