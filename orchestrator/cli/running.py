"""Carries a push out over the fleet, from the first host to the exit code (controller)."""

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.exit_code import CHANGED, run_exit_code, stronger
from orchestrator.cli.job import How, Push, Targets
from orchestrator.cli.output import Output
from orchestrator.cli.signals import Interrupts
from orchestrator.fleet import events as happening
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.host_run import HostRun
from orchestrator.fleet.kept_runs import KeptRun
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_lore import PackageLore
from orchestrator.fleet.rollout import Rollout
from orchestrator.fleet.run_folder import RunFolder
from orchestrator.registration.publisher import CLOSING, Publisher
from orchestrator.registration.store import open_store
from orchestrator.report.document import write_document
from orchestrator.support.crash import describe_crash
from orchestrator.support.state_folder import state_folder
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.cli.verifying import AfterPush

INTERRUPTED_CLOSING = 3.0  # seconds


def carry_out(push: Push, targets: Targets, how: How, output: Output) -> int:
    """Push and return the exit code; everything has been checked before."""
    begin = _begin(push, targets, how)
    with contextlib.ExitStack() as stack:
        folder = None
        if push.kept:
            folder = _folder(begin, how)
        elif output.options.documented:  # a run that is not kept has a folder for as long
            import tempfile

            parent = stack.enter_context(tempfile.TemporaryDirectory(prefix="ccm-"))
            folder = _folder(begin, how, Path(parent))
        return _carry_out(push, targets, how=how, output=output, begin=begin, folder=folder)


def _carry_out(
    push: Push,
    targets: Targets,
    *,
    how: How,
    output: Output,
    begin: happening.RunStarted,
    folder: RunFolder | None,
) -> int:
    bus = Bus([*([folder] if folder else []), *push.told, *output.subscribers()])
    results: list[HostResult] = []

    def finished(_: str, result: HostResult) -> None:
        results.append(result)
        bus.publish(happening.HostFinished(result))

    lore = PackageLore(state_folder() / "packages")
    publisher = Publisher(lambda: open_store(how.registration))
    runs = (
        HostRun(
            host,
            targets.connector,
            planner=push.binder or push.planner,
            bus=bus,
            settings=how.settings,
            publisher=publisher,
            lore=lore,
        )
        for host in targets.hosts
    )
    rollout = Rollout(runs, targets.forks, finished=finished, tick=output.tick)

    def interrupt() -> None:
        output.interrupting()
        rollout.interrupt()

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
    code = run_exit_code(results, rollout.interrupted, output.options.detailed_exitcode)
    code = _faults(bus, code)
    if unpublished and code in (0, CHANGED):
        code = 1
    with contextlib.suppress(BrokenPipeError):
        there = push.kept and folder is not None and folder.path.is_dir()
        output.summary(begin.run_id if there else "")
    if folder and folder.whole:
        code = _metrics(folder, output, code)
    if how.verify is not None and folder is not None and not rollout.interrupted:
        code = _verified(how.verify, results, output=output, run=folder.path, code=code)
    if folder and output.options.json:
        write_document(KeptRun(folder.path), code, sys.stdout)
    return code


def _verified(
    verify: "AfterPush", results: list[HostResult], *, output: Output, run: Path, code: int
) -> int:
    """Look at the hosts again; the exit code that this makes of a code."""
    from orchestrator.verify.kept import VerifyFile

    file = VerifyFile(run)
    found = verify(results, output.human, file.take)
    code = stronger(code, found.exit_code)
    try:
        file.finish(found)
    except OSError as error:
        code = _unwritten(error, code)
    return code


def _begin(push: Push, targets: Targets, how: How) -> happening.RunStarted:
    return happening.RunStarted(
        run_id=how.settings.run_id,
        at=time.time(),
        hosts=tuple(host.name for host in targets.hosts),
        noop=how.settings.options.noop,
        manifest=push.what,
        command=push.command,
        identity=push.identity,
    )


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


def _folder(begin: happening.RunStarted, how: How, parent: Path | None = None) -> RunFolder:
    try:
        return RunFolder(begin, how.record, parent)
    except OSError as error:
        raise UsageError(
            f"the run's folder cannot be made: {error}",
            kind="usage.state",
            hint="make room there, or set XDG_STATE_HOME to a folder that can be written",
        ) from error


def _faults(bus: Bus, code: int) -> int:
    """Tell about subscribers that failed; the exit code that this makes of a code."""
    for error in bus.faults:
        if isinstance(error, BrokenPipeError):
            continue
        if isinstance(error, OSError):
            code = _unwritten(error, code)
        else:
            path = describe_crash(error, "writing the output of a run")
            print(f"ccm: error: a defect in ccm's output, see {path}", file=sys.stderr)
            code = 70 if code != 130 else code
    return code


def _unwritten(error: OSError, code: int) -> int:
    what = f"{error.filename}: {error.strerror}" if error.filename else error
    print(f"ccm: error: output could not be written: {what}", file=sys.stderr)
    return code or 1
