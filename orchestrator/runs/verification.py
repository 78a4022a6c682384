"""Verifies hosts: ``ccm verify`` and ``ccm push --verify`` (controller). Changes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet import outcome
from orchestrator.verify.assessment import Assessment, Outcome
from orchestrator.verify.pytest_run.runner import VerifyJob, check_tests, verify
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.fleet.sliding_window import Window
    from orchestrator.planning import PlanOptions
    from orchestrator.runs.push_job import VerifyAfterPush
    from orchestrator.runs.reporter import Reporter, VerifyReporter
    from orchestrator.runs.request import ConnectionOptions, HostChoice
    from remote_runtime.options import RunOptions

Keep = Callable[[Outcome], None]


class VerifyRequest(NamedTuple):
    """A verify request: manifest, data, hosts and options.

    ``timeout`` is the limit for one command on a host, in seconds. ``tests`` are the user's own,
    ``options`` are pytest's.
    """

    manifest: str
    hosts: HostChoice
    data: PlanOptions
    connection: ConnectionOptions
    timeout: float
    tests: Sequence[str] = ()
    options: Sequence[str] = ()


def verify_hosts(request: VerifyRequest, reporter: Reporter, view: VerifyReporter) -> Assessment:
    """Check everything that needs no host, then check the hosts. UsageError, InputError."""
    from orchestrator.fleet.open_file_limit import raise_limit
    from orchestrator.runs import wiring
    from orchestrator.runs.fleet_facts import show_hosts

    check_tests(request.tests)
    chosen = wiring.select_targets(request.hosts, reporter.warn, request.manifest)
    forks = request.connection.forks
    # With tests of the user's own every connection stays open for them.
    raise_limit(max(forks, len(chosen.hosts)) if request.tests else forks)
    site, planner = wiring.planner(request.manifest, request.data)
    show_hosts([planner], chosen.inventory)
    connector = wiring.connector(
        chosen,
        request.connection,
        ask=reporter.ask_secret if reporter.is_terminal else None,
        own_types=site.types.sources(),
    )
    for text in site.warnings:
        reporter.warn(str(text))
    checkup = VerifyJob(
        manifest=site.path,
        inventory=chosen.inventory,
        hosts=chosen.hosts,
        connector=connector,
        planner=planner,
        forks=forks,
        timeout=request.timeout,
        tests=request.tests,
        options=request.options,
    )
    with connector:
        assessment = run_verify(checkup, reporter, view)
    for unmatched in planner.unmatched():
        reporter.warn(unmatched)
    return assessment


def run_verify(
    checkup: VerifyJob, reporter: Reporter, view: VerifyReporter, keep: Keep | None = None
) -> Assessment:
    """Run all checks; ``view`` and ``keep`` receive each outcome. An interrupt stops them
    gracefully.
    """
    view.begin(checkup.manifest.name, len(checkup.hosts))
    start = time.monotonic()
    active: list[Window[Any] | None] = [None]

    def take(result: Outcome) -> None:
        """Store and show an outcome."""
        if keep is not None:
            keep(result)
        view.take(result)

    def watch(window: Window[Any] | None) -> None:
        """Set the window that an interrupt stops."""
        active[0] = window

    def interrupt() -> None:
        """Stop the current window or the running tests."""
        if active[0] is None:
            raise KeyboardInterrupt  # pytest ends the running test and its fixtures
        active[0].interrupt()

    with reporter.interruptible(interrupt):
        assessment = verify(checkup, take, watch, view.answered)
    view.finish(assessment, time.monotonic() - start)
    return assessment


def check_options(run: RunOptions) -> None:
    """Refuse ``--verify`` for a run that changes nothing, before anything is read. UsageError."""
    for option, is_set in (("--noop", run.noop), ("--monitor-only", run.monitor_only)):
        if is_set:
            raise UsageError(
                f"--verify and {option} are mutually exclusive: with {option}, nothing is changed",
                hint="use ccm verify to check the current state of hosts",
            )


def verify_after_push(checkup: VerifyJob) -> VerifyAfterPush:
    """Return a function that verifies the hosts that a push reached."""

    def check(results: Sequence[HostResult], reporter: Reporter, keep: Keep) -> Assessment:
        """Verify the hosts that finished their plan."""
        done = (outcome.OK, outcome.FAILED)
        reached = {one.host for one in results if one.outcome in done and not one.kind}
        hosts = [host for host in checkup.hosts if host.name in reached]
        if not hosts:
            return Assessment()
        return run_verify(checkup._replace(hosts=hosts), reporter, reporter.verifying(), keep)

    return check
