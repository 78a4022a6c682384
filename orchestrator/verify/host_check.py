"""Verifies one host: connects, gathers facts, makes the plan and runs all queries (controller)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.sliding_window import Window
from orchestrator.support.plain_text import one_line
from orchestrator.verify.derivation import Check, derive
from orchestrator.verify.expectation import Expectation, Observation, judge, look
from orchestrator.verify.pytest_run.backend import (
    LiveBackend,
    PendingCommand,
    RecordingBackend,
    as_host,
)
from orchestrator.verify.shell import Answer
from orchestrator.verify.user_commands import answers
from orchestrator.verify.verify_hosts import Member
from remote_runtime.errors import CcmError, ResourceError
from remote_runtime.reporting.masking import MASKED, Mask

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

    testinfra's modules run one command per property, and wait for each. Here, a query that needs an
    unanswered command waits: the commands of all such queries run in one batch, then the queries
    run again with the answers, which exist for this call only.

    ``read_all`` runs commands that only read on the host; ``mask`` hides secrets in actual values.
    UnreachableError.
    """
    observations: list[list[Observation | None]] = [[None] * len(check) for check in checks]
    waiting = [(i, j) for i, check in enumerate(checks) for j in range(len(check))]
    backend = RecordingBackend(name, _OPENING if waiting else ())
    host = as_host(backend)
    for _ in range(MAX_ROUNDS):
        backend.ask(read_all)
        left = []
        for i, j in waiting:
            try:
                observations[i][j] = look(checks[i][j], host, mask)
            except PendingCommand:
                left.append((i, j))
        waiting = left
        if not waiting:
            return [
                [answer for answer in answers if answer is not None] for answers in observations
            ]
    raise CcmError(f"the checks of {name} never finish", kind="defect")


SHOWN = "was not run: it would show a secret to other users of the host"
GRACE = 2.0  # seconds that an interrupted verify waits for its hosts


class ResourceOutcome(NamedTuple):
    """One resource: its ``type#name``, and a line for each difference from the expectations."""

    label: str
    lines: Sequence[str]


class HostOutcome(NamedTuple):
    """The result of a host; ``error`` is the reason if there are no checks. ``secrets`` are strings
    to mask in the output of the user's own tests.
    """

    name: str
    verdicts: Sequence[ResourceOutcome] = ()
    left_out: Counter[str] = Counter()
    secrets: Sequence[str] = ()
    warnings: Sequence[str] = ()
    error: CcmError | None = None


class HostCheck(HostTask[HostOutcome]):
    """Checks one member; with ``keep``, the connection stays open for later tests."""

    def __init__(self, member: Member, keep: bool) -> None:
        super().__init__(member.name)
        self._member = member
        self._kept = False
        self._keep = keep

    def abandon(self) -> None:
        """Give up on this host."""
        self._member.abandon()

    def _leave(self) -> None:
        if not self._kept:
            self._member.close()
            self._member.forget()

    def _during(self) -> str:
        return f"verify of {self.name}"

    def _ended(self, error: CcmError) -> HostOutcome:
        return HostOutcome(self.name, error=error)

    def _work(self) -> HostOutcome:
        plan = self._member.plan()
        self._secrets = plan.secrets
        mask = Mask(plan.secrets)
        derived = derive(plan, self._read, self._member.expectations)
        checks = derived.checks
        commanded = self._commanded(checks, mask)
        questions = [[one for one in c.expectations if not one.commands] for c in checks]
        read_all = _without_secrets(self._member.shell().read_all, mask)
        observed = observe(self.name, questions, read_all, mask)
        verdicts = [
            _verdict(*found, mask) for found in zip(checks, observed, commanded, strict=True)
        ]
        warnings = [one_line(mask.text(text)) for text in plan.warnings]
        self._kept = self._keep
        return HostOutcome(
            self.name, verdicts, left_out=derived.left_out, secrets=plan.secrets, warnings=warnings
        )

    def _commanded(self, checks: Sequence[Check], mask: Mask) -> list[list[Observation]]:
        """The results of the user's own commands, for each check."""
        asked = [check.commands for check in checks if check.commands is not None]
        events = iter(self._member.run_commands(asked) if asked else ())
        return [
            answers(check.expectations, next(events), mask) if check.commands else []
            for check in checks
        ]

    def _read(self, path: str) -> bytes:
        """A file of the host for a template; ResourceError, which fails that resource's check."""
        host = as_host(LiveBackend(self.name, self._member))
        try:
            content: bytes = host.file(path).content
        except (RuntimeError, AssertionError) as error:  # what testinfra raises
            output = host.backend.last.stderr.strip() or "no output"
            message = f"file({path!r}) cannot be read on the host: {one_line(output, 200)}"
            raise ResourceError(message, kind="template.file") from error
        return content


def _without_secrets(read_all: ReadAll, mask: Mask) -> ReadAll:
    """Do not run commands that contain a secret: every user of the host can see them."""

    def ask(commands: Sequence[bytes]) -> list[Answer]:
        """Run the commands without secrets, and skip the others."""
        texts = [command.decode("utf-8", "replace") for command in commands]
        shown = [mask.text(text) == text for text in texts]
        told = iter(read_all([c for c, may in zip(commands, shown, strict=True) if may]))
        return [next(told) if may else Answer(0, b"", b"", SHOWN) for may in shown]

    return ask


def _verdict(
    check: Check, observed: Sequence[Observation], commanded: Sequence[Observation], mask: Mask
) -> ResourceOutcome:
    label, hidden = one_line(mask.text(check.id)), check.item.sensitive
    if check.broken:
        return ResourceOutcome(label, [MASKED if hidden else one_line(mask.text(check.broken))])
    # Templates that are rendered on demand were not searched.
    mask = mask.extended((), check.item.redact_hash or check.item.deferred_render)
    told, said = iter(observed), iter(commanded)
    observations = [next(said if one.commands else told) for one in check.expectations]
    return ResourceOutcome(
        label, list(map(str, judge(check.expectations, observations, mask, hidden)))
    )


def verify_all(
    members: Iterable[Member],
    forks: int,
    *,
    keep: bool,
    watch: Callable[[Window[Any]], None] = lambda window: None,
    asked: Callable[[int], None] = lambda hosts: None,
) -> dict[str, HostOutcome]:
    """Check many hosts concurrently; return the results by host name.

    ``watch`` receives the window before it starts, so that a signal can interrupt it; this function
    then ends with KeyboardInterrupt. ``asked`` receives the number of hosts checked, each time one
    is done.
    """
    result: dict[str, HostOutcome] = {}

    def take(name: str, visited: HostOutcome) -> None:
        """Store the result of a host, and report the progress."""
        result[name] = visited
        asked(len(result))

    window = Window(
        (HostCheck(member, keep) for member in members), forks, finished=take, grace=GRACE
    )
    watch(window)
    window.run()
    if window.interrupted:
        # Messages of hosts whose connection was closed by the interruption are not results.
        raise KeyboardInterrupt
    return result
