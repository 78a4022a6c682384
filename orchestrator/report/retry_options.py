"""How to repeat a run on some of its hosts (controller)."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.fleet import outcome
from orchestrator.fleet.host.stage_host import host_in, stage_in
from orchestrator.report.host_names import fold

MAX_LIMIT_LENGTH = 200  # characters of what picks the hosts


class RetryOptions(NamedTuple):
    """How to repeat a run: the ``run_id`` for patterns, "" for none, and ``again``, the words of
    the command without ``-l``, empty if unknown.
    """

    run_id: str = ""
    again: Sequence[str] = ()

    @property
    def anew(self) -> bool:
        """Whether failed hosts need a new plan."""
        return tuple(self.again[1:2]) == ("plan",)

    def on(self, limit: str, stage: str = "") -> str:
        """The command for these hosts, starting with their ``stage``; "" if unknown.

        A preview includes earlier stages anyway, because it shows their effects.
        """
        alone = {"--noop", "--stage"} & set(self.again)
        begin = ["--from", stage] if stage and not alone else []
        command = [*self.again[:2], "-l", limit, *self.again[2:], *begin]
        return shlex.join(command) if self.again else ""


def limit_of(outcome_name: str, hosts: list[str], run_id: str = "") -> str:
    """Return the argument of ``-l`` that selects hosts with that outcome.

    A long list of names would fill the screen. It is replaced by the word for all hosts with that
    outcome in the run. Without a run, the names are kept.
    """
    names = ",".join(fold(dict.fromkeys(map(host_in, hosts))))
    if not run_id or len(names) <= MAX_LIMIT_LENGTH:
        return names
    word = outcome.UNREACHABLE if outcome_name == outcome.UNREACHABLE else outcome.FAILED
    return f"run:{run_id}:{word}"


def retry_line(outcome: str, hosts: list[str], options: RetryOptions) -> tuple[str, str]:
    """Return how to continue with failed hosts: a title, and the command, or at least the option
    that selects the hosts.
    """
    limit = limit_of(outcome, hosts, options.run_id)
    alone = limit == limit_of(outcome, hosts)
    if not options.again:
        which = "these" if alone else "all failed"
        return f"→ select {which} hosts with:", f"-l {shlex.quote(limit)}"
    what = "→ create a new plan" if options.anew else "→ retry"
    words = f"{what} with" if alone else f"{what} all failed hosts with"
    stages = {stage_in(host) for host in hosts} if alone else set()
    stage = stages.pop() if len(stages) == 1 else ""
    return f"{words}:", options.on(limit, stage)
