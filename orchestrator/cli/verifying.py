"""Runs a verify and writes what it found: what ``ccm verify`` and ``ccm push --verify`` share."""

import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TextIO

from orchestrator.cli.signals import Interrupts
from orchestrator.fleet import outcome
from orchestrator.report.style import Style
from orchestrator.report.verification import Progress, Verification
from orchestrator.verify.assessment import Assessment, Outcome
from orchestrator.verify.running import Checkup, verify
from remote_runtime.errors import UsageError
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.fleet.window import Window

Keep = Callable[[Outcome], None]
AfterPush = Callable[[Iterable["HostResult"], TextIO, Keep], Assessment]


def carry_out(
    job: Checkup,
    out: TextIO,
    *,
    verbose: bool,
    quiet: bool,
    blocks: bool = True,
    silent_if_good: bool = False,
    keep: Keep = lambda outcome: None,
) -> Assessment:
    """Verify; a signal ends it in order. ``blocks`` as for the report, ``keep`` for outcomes."""
    report = Verification(out, Style.of(out), verbose=verbose, quiet=quiet, blocks=blocks)
    report.begin(job.manifest.name, len(job.hosts))
    began = time.monotonic()
    asking: list[Window[Any] | None] = [None]
    progress = Progress(sys.stderr, len(job.hosts), quiet)

    def told(one: Outcome) -> None:
        keep(one)
        report.take(one)

    def watch(window: "Window[Any] | None") -> None:
        asking[0] = window

    def interrupt() -> None:
        if asking[0] is None:
            raise KeyboardInterrupt  # pytest ends the test in hand and its fixtures
        asking[0].interrupt()

    with Interrupts(interrupt):
        tally = verify(job, told, watch, progress)
    if tally.exit_code or not silent_if_good:
        report.finish(tally, time.monotonic() - began)
    return tally


def check_options(run: RunOptions) -> None:
    """UsageError for a ``--verify`` that could tell nothing, before anything is read."""
    for option, given in (("--noop", run.noop), ("--monitor-only", run.monitor_only)):
        if given:
            raise UsageError(
                f"--verify and {option} exclude each other: nothing is changed that could be"
                " verified",
                hint="use ccm verify for a look at the hosts as they are",
            )


def after_push(job: Checkup, verbose: bool, quiet: bool) -> AfterPush:
    """What a push calls with its results: a verify of the hosts that it was carried out on."""

    def check(results: Iterable["HostResult"], out: TextIO, keep: Keep) -> Assessment:
        done = (outcome.OK, outcome.FAILED)
        reached = {one.host for one in results if one.outcome in done and not one.kind}
        chosen = [host for host in job.hosts if host.name in reached]
        if not chosen:
            return Assessment()
        if not quiet:
            out.write("\n")
        chosen_job = job._replace(hosts=chosen)
        return carry_out(
            chosen_job, out, verbose=verbose, quiet=quiet, silent_if_good=quiet, keep=keep
        )

    return check
