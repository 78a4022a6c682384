"""Carries a push out over the fleet, from the first host to the exit code (controller)."""

import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.cli.exit_code import CHANGED, run_exit_code, stronger
from orchestrator.cli.output import Output
from orchestrator.cli.signals import Interrupts
from orchestrator.fleet import events as happening
from orchestrator.fleet.bus import Bus, Subscriber
from orchestrator.fleet.host_run import HostRun
from orchestrator.fleet.kept_runs import KeptRun
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.ports import Connector, Planner, Target
from orchestrator.fleet.rollout import Rollout
from orchestrator.fleet.run_folder import RunFolder
from orchestrator.fleet.settings import Settings
from orchestrator.registration.publisher import CLOSING, Publisher
from orchestrator.registration.store import open_store
from orchestrator.report.document import write_document
from orchestrator.support.crash import describe_crash
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.cli.verifying import AfterPush

INTERRUPTED_CLOSING = 3.0  # seconds


class Job(NamedTuple):
    """What to push where; ``options`` go into the run folder, without secrets.

    ``kept``: the run's folder stays. ``documented``: something is made of that folder at the end,
    so a run that is not kept has one for as long. ``told`` are subscribers beside the output's.
    ``registration`` is where stable resources are announced, None for the default. ``verify`` looks
    at the hosts once more when all of them are done.
    """

    manifest: str
    hosts: Sequence[Target]
    connector: Connector
    planner: Planner
    settings: Settings
    forks: int
    options: dict[str, Any]
    detailed: bool = False
    json: bool = False
    command: str = "push"
    kept: bool = True
    documented: bool = False
    told: Sequence[Subscriber] = ()
    registration: str | None = None
    verify: "AfterPush | None" = None


def carry_out(job: Job, output: Output) -> int:
    """Run the job and return its exit code; everything has been checked before."""
    if job.kept or not job.documented:
        return _carry_out(job, output, _folder(job) if job.kept else None)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ccm-") as parent:
        return _carry_out(job, output, _folder(job, Path(parent)))


def _carry_out(job: Job, output: Output, folder: RunFolder | None) -> int:
    run_id = job.settings.run_id
    bus = Bus([*([folder] if folder else []), *job.told, *output.subscribers()])
    results: list[HostResult] = []

    def finished(_: str, result: HostResult) -> None:
        results.append(result)
        bus.publish(happening.HostFinished(result))

    publisher = Publisher(lambda: open_store(job.registration))
    runs = (HostRun(h, job.connector, job.planner, bus, job.settings, publisher) for h in job.hosts)
    rollout = Rollout(runs, job.forks, finished, output.tick)

    def interrupt() -> None:
        output.interrupting()
        rollout.interrupt()

    names = tuple(host.name for host in job.hosts)
    begin = happening.RunStarted(
        run_id, time.time(), names, job.settings.options.noop, job.manifest, job.command
    )
    with Interrupts(interrupt):
        bus.publish(begin)
        output.start()
        try:
            rollout.run()
        finally:
            unpublished = _announced(publisher, bus, rollout.interrupted)
            bus.publish(happening.RunFinished(time.time(), rollout.interrupted))
            bus.close()
            output.close()
    code = run_exit_code(results, rollout.interrupted, job.detailed)
    code = _faults(bus, code)
    if unpublished and code in (0, CHANGED):
        code = 1
    with contextlib.suppress(BrokenPipeError):
        output.summary(run_id if job.kept and folder and folder.whole else "")
    if folder and folder.whole:
        code = _metrics(folder, output, code)
    verified = None
    if job.verify is not None and not rollout.interrupted:
        tally = job.verify(results, output.human)
        verified, code = tally.record(), stronger(code, tally.exit_code)
    if folder and job.json:
        write_document(KeptRun(folder.path), code, sys.stdout, verified)
    return code


def _metrics(folder: RunFolder, output: Output, code: int) -> int:
    try:
        output.metrics(KeptRun(folder.path))
    except UsageError as error:  # the run is over: its outcome must not be lost for a file
        print(f"ccm: error: {error.message}", file=sys.stderr)
        return code or 1
    return code


def _announced(publisher: Publisher, bus: Bus, interrupted: bool) -> bool:
    """Publish the registrations that are left; whether some could not be, which each host of them
    is told of."""
    failure = publisher.close(INTERRUPTED_CLOSING if interrupted else CLOSING)
    if failure is None:
        return False
    for host, count in failure.hosts.items():
        what = "1 registration was" if count == 1 else f"{count} registrations were"
        text = f"{what} not published: {failure.reason}"
        bus.publish(happening.HostNotice(host, "error", text))
    return True


def _folder(job: Job, parent: Path | None = None) -> RunFolder:
    try:
        return RunFolder(job.settings.run_id, job.options, parent)
    except OSError as error:
        raise UsageError(
            f"the run's folder cannot be made: {error}",
            kind="usage.state",
            hint="set XDG_STATE_HOME to a folder that can be written",
        ) from error


def _faults(bus: Bus, code: int) -> int:
    """Tell about subscribers that failed; the exit code that this makes of a code."""
    for error in bus.faults:
        if isinstance(error, BrokenPipeError):
            continue
        if isinstance(error, OSError):
            print(f"ccm: error: output could not be written: {error}", file=sys.stderr)
            code = code or 1
        else:
            path = describe_crash(error, "writing the output of a run")
            print(f"ccm: error: a defect in ccm's output, see {path}", file=sys.stderr)
            code = 70 if code != 130 else code
    return code
