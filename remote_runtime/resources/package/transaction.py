"""Runs a package manager once nobody else does, and to its end (target)."""

import time
from typing import TYPE_CHECKING, Callable, Mapping, NamedTuple, Sequence

from . import locks

if TYPE_CHECKING:
    from ...context import Context
    from ...errors import ResourceError
    from ...system.commands import Result


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
    context: "Context", manager: Manager, what: str, argv: Sequence[str], lock_timeout: float
) -> "Result":
    """Run one transaction. Waiting for a lock can be cancelled, the transaction cannot.

    ``lock_timeout`` in seconds; the error of ``manager.explain`` when it fails.
    """
    deadline = time.monotonic() + lock_timeout
    while True:
        locks.wait(context, manager.look, deadline)
        context.progress(what)
        result = _run_to_the_end(context, manager, what, argv)
        if result.code == 0:
            return result
        error = manager.explain(what, result)
        # Somebody was faster between the look at the locks and the package manager's own.
        if error.kind != locks.LOCKED or time.monotonic() >= deadline:
            raise error
        context.sleep(locks.PAUSE)


def _run_to_the_end(
    context: "Context", manager: Manager, what: str, argv: Sequence[str]
) -> "Result":
    def show(stream: str, line: str) -> None:
        step = line.strip()
        if stream == "stdout" and step.startswith(tuple(manager.steps)):
            context.progress("%s: %s" % (what, step))

    with context.unkillable():
        return context.commands.run(argv, env=manager.environment, on_output=show)
