"""Pushes approved plans, each in its own process (controller).

The process is ``ccm push PLAN`` in the directory of the project: it checks the bytes of the file,
the signatures and everything else again. It has no terminal, and no password from the studio's
environment. Its failures do not affect the studio, and it continues when the studio ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from orchestrator.fleet.run_origin import ACTOR
from orchestrator.studio.plans.plan_cache import OpenPlan, StoredPlans
from orchestrator.support.plain_text import one_line
from orchestrator.transport.credentials import BECOME_PASSWORD, COMMAND_SUFFIX, SSH_PASSWORD
from remote_runtime.errors import UsageError

MAX_AT_ONCE = 4
MAX_LENGTH = 1_000  # characters of a problem
_MAX_LINE_LENGTH = 64 << 10  # of the output of the process
_MAX_START_WAIT = 20.0  # seconds that a browser waits for the run to begin
_PASSWORDS = {
    name + suffix for name in (SSH_PASSWORD, BECOME_PASSWORD) for suffix in ("", COMMAND_SUFFIX)
}


class PushOrder(NamedTuple):
    """The input of a push process: the path of the plan in the project, the SHA-256 of its bytes,
    the policy, and the directory of the runs.
    """

    plan: str
    digest: str
    signers: str
    approvals: int
    runs: str

    def line(self) -> bytes:
        """The order on the standard input of the process."""
        return json.dumps(self._asdict()).encode("ascii") + b"\n"

    @classmethod
    def read(cls, line: bytes) -> PushOrder:
        """Read the result of ``line``."""
        return cls(**json.loads(line))


class PlanPush:
    """A push of a plan that ``user`` has started; ``run`` is its run, "" before the run begins.

    ``problem`` is the reason why there is no run, or why it failed.
    """

    def __init__(self, user: str) -> None:
        self.user = user
        self.run = ""
        self.problem = ""
        self.began = threading.Event()
        self.done = threading.Event()

    @property
    def is_running(self) -> bool:
        """Whether its process has not ended."""
        return not self.done.is_set()


Tell = Callable[[str, PlanPush], None]
"""Called with an action for the audit log."""


class Pushes:
    """The pushes of this studio. ``command`` starts the process of one, and ``wait_for`` returns
    once a run has a page.
    """

    def __init__(
        self,
        stored_plans: StoredPlans,
        command: Sequence[str],
        runs: Path,
        wait_for: Callable[[str], None] = lambda run_id: None,
    ) -> None:
        self._stored_plans = stored_plans
        self._command = list(command)
        self._runs = runs
        self._wait_for = wait_for
        self._lock = threading.Lock()
        self._latest: dict[str, PlanPush] = {}

    def of(self, plan_id: str) -> PlanPush | None:
        """The latest push of a plan."""
        return self._latest.get(plan_id)

    def obstacles(self, plan: OpenPlan) -> list[str]:
        """The reasons why a plan may not be pushed now; empty if it may."""
        short, policy = plan.summary, self._stored_plans.policy
        found = []
        if short.state != "valid":
            found.append(f"The plan is {short.state}.")
        approvals = self._stored_plans.approvals(plan.stored, short.manifest)
        if not approvals.are_enough:
            number = f"{len(approvals.people)} of {policy.wanted} approvals"
            found.append(approvals.problem or f"The plan has {number}.")
        found += [f"The plan is denied: {one}." for one in self._stored_plans.verdict(short).denied]
        if short.given:
            given = ", ".join(short.given)
            found.append(
                f"A push of this plan needs the values of {given}: push the plan from the "
                "command line."
            )
        running = self.of(short.id)
        if running is not None and running.is_running:
            found.append(f"{running.user} is pushing the plan now.")
        return found

    def start(self, plan: OpenPlan, user: str, tell: Tell) -> PlanPush:
        """Push a plan that has no obstacle.

        Returns once the run has a page or the push has failed. UsageError while this plan or too
        many others are being pushed.
        """
        push = PlanPush(user)
        with self._lock:
            running = [name for name, one in self._latest.items() if one.is_running]
            if plan.summary.id in running:
                raise UsageError("the plan is being pushed", hint="wait until that push has ended")
            if len(running) >= MAX_AT_ONCE:
                number = len(running)
                raise UsageError(
                    f"{number} plan{' is' if number == 1 else 's are'} being pushed",
                    hint="wait until a push has ended",
                )
            self._latest[plan.summary.id] = push
        policy = self._stored_plans.policy
        order = PushOrder(
            plan.summary.name,
            plan.summary.digest,
            policy.signers,
            approvals=policy.wanted,
            runs=str(self._runs),
        )
        threading.Thread(
            target=self._run, args=(push, order, tell), name="studio-push", daemon=True
        ).start()
        push.began.wait(_MAX_START_WAIT)
        if push.run:
            self._wait_for(push.run)
        return push

    def _run(self, push: PlanPush, order: PushOrder, tell: Tell) -> None:
        try:
            status = self._follow(push, order, tell)
            if status and not push.problem:
                push.problem = f"the push process exited with {status}"
        except OSError as error:
            push.problem = f"the push cannot be started: {error.strerror}"
        finally:
            push.done.set()
            push.began.set()
            tell("push failed" if push.problem else "push ended", push)

    def _follow(self, push: PlanPush, order: PushOrder, tell: Tell) -> int:
        """Start the process, and read its output until it ends; returns its exit status."""
        with subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._stored_plans.folder.root,
            env=environment_of(push.user, os.environ),
            start_new_session=True,  # Ctrl-C ends the studio, and no push
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(order.line())
            process.stdin.close()
            for said in _said(process.stdout):
                push.problem = one_line(str(said.get("problem", "")), MAX_LENGTH) or push.problem
                if run := str(said.get("run", "")):
                    push.run = run
                    push.began.set()
                    tell("push started", push)
        return process.returncode


def environment_of(user: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a push, with the user of the studio as its actor and without passwords."""
    kept = {name: text for name, text in environ.items() if name not in _PASSWORDS}
    return {**kept, ACTOR: user}


def _said(source: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The output of the process, with one object per line."""
    while line := source.readline(_MAX_LINE_LENGTH):
        with contextlib.suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict):
                yield told
