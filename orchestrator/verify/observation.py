"""Runs the commands of all checks of a host in a few round trips (controller).

testinfra's modules run one command per property, and wait for each. Here, they use answers that ccm
fetches in advance. A query that needs an unanswered command waits: ccm runs the commands of all
such queries in one batch, then runs the queries again. This code does not depend on the commands of
a module. The answers exist for one call of ``observe``.
"""

from collections.abc import Callable, Sequence

from orchestrator.verify.expectation import Expectation, Observation, look
from orchestrator.verify.pytest_run.backend import PendingCommand, RecordingBackend, as_host
from orchestrator.verify.shell import Answer
from remote_runtime.errors import CcmError
from remote_runtime.reporting.masking import Mask

MAX_ROUNDS = 20
"""The maximum length of a chain of commands in which each depends on the previous answer."""

_NOTHING_HIDDEN = Mask()

# Commands that testinfra runs on every Linux host to choose its modules. They only save round
# trips: any other command also runs, and unused answers are dropped.
_OPENING = (
    b"uname -s",
    b"cat /etc/os-release",
    b"uname -m",
    b"test -d /run/systemd/system/",
)

ReadAll = Callable[[Sequence[bytes]], list[Answer]]


def observe(
    name: str,
    checks: Sequence[Sequence[Expectation]],
    read_all: ReadAll,
    mask: Mask = _NOTHING_HIDDEN,
) -> list[list[Observation]]:
    """The host's answers, one for each expectation of each check, in order.

    ``read_all`` runs commands that only read on the host; ``mask`` hides secrets in actual values.
    UnreachableError.
    """
    found: list[list[Observation | None]] = [[None] * len(check) for check in checks]
    waiting = [(i, j) for i, check in enumerate(checks) for j in range(len(check))]
    backend = RecordingBackend(name, _OPENING if waiting else ())
    host = as_host(backend)
    for _ in range(MAX_ROUNDS):
        backend.ask(read_all)
        left = []
        for i, j in waiting:
            try:
                found[i][j] = look(checks[i][j], host, mask)
            except PendingCommand:
                left.append((i, j))
        waiting = left
        if not waiting:
            return [[answer for answer in answers if answer is not None] for answers in found]
    raise CcmError(f"the checks of {name} never end", kind="defect")
