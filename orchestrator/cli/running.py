"""Carries a push out over the fleet, from the first host to the exit code (controller)."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.cli.engine_choice import Staff, engaged
from orchestrator.cli.exit_code import CHANGED, run_exit_code, stronger
from orchestrator.cli.job import How, Push, Targets
from orchestrator.cli.output import Output
from orchestrator.cli.signals import Interrupts
from orchestrator.fleet import events as happening
from orchestrator.fleet import lost_runs
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.engine import Engine, Job, Maker, RunMeans
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_lore import PackageLore
from orchestrator.fleet.past_runs import REMAINING, UNDONE
from orchestrator.fleet.run_folder import RunFolder
from orchestrator.fleet.window import INTERRUPT_GRACE, Window
from orchestrator.registration.publisher import CLOSING, Publisher
from orchestrator.support.crash import describe_crash
from orchestrator.support.state_folder import state_folder
from orchestrator.support.stdout import let_go_of_stdout
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orchestrator.cli.engine_choice import Engage
    from orchestrator.cli.verifying import AfterPush
    from orchestrator.fleet.host_task import HostTask
    from orchestrator.registration.store import Store
    from orchestrator.rollout.course import RolloutCourse, StagePlace
    from orchestrator.rollout.staged import StagedCourse

INTERRUPTED_CLOSING = 3.0  # seconds
AFTER_HOST_GRACE = 60.0  # that what comes after a host has once the run is interrupted


def carry_out(push: Push, targets: Targets, how: How, output: Output) -> int:
    """Push and return the exit code; everything has been checked before."""
    begin = _begin(push, targets, how)
    with contextlib.ExitStack() as stack:
        # Before there are threads, and files that a process of ours would hold, too.
        engage = stack.enter_context(engaged(how.engine, _staff(push, targets, how)))
        folder = None
        if push.kept:
            folder = _folder(begin, how)
        elif output.options.documented:  # a run that is not kept has a folder for as long
            import tempfile

            parent = stack.enter_context(tempfile.TemporaryDirectory(prefix="ccm-"))
            folder = _folder(begin, how, Path(parent))
        ground = _Ground(begin, folder, engage)
        return _carry_out(push, targets, how=how, output=output, ground=ground)


class _Ground(NamedTuple):
    """What a run stands on: how it began, where it is kept, and what makes its engine."""

    begin: happening.RunStarted
    folder: RunFolder | None
    engage: Engage


def _staff(push: Push, targets: Targets, how: How) -> Staff:
    """Who is to work on the hosts."""
    parts = _parts(push, targets, how)
    connector: Any = targets.connector
    return Staff(
        hosts=targets.hosts,
        connector=connector,
        forks=targets.forks,
        jobs=[_job(part) for part in parts],
        planners=[part.push.planner for part in parts],
        far=how.far,
    )


def _carry_out(
    push: Push,
    targets: Targets,
    *,
    how: How,
    output: Output,
    ground: _Ground,
) -> int:
    begin, folder, engage = ground
    bus = Bus([*([folder] if folder else []), *push.told, *output.subscribers()])
    ended: dict[str, HostResult] = {}

    def publish(event: happening.Event) -> None:
        if isinstance(event, happening.HostFinished):
            ended[event.result.host] = event.result
        bus.publish(event)

    def finished(_: str, result: HostResult) -> None:
        publish(happening.HostFinished(result))

    publisher = Publisher(lambda: _registry(how))
    lore = PackageLore(state_folder() / "packages")
    engine = engage(RunMeans(targets.connector, bus, publisher, lore))
    floor = _Floor(engine=engine, publish=publish, output=output)
    planned = how.rollout.given or bool(push.stages)
    course = _course(push, targets, how, floor) if planned else None
    braked = course is not None and not how.settings.options.noop
    tasks = course if course and braked else _in_order(push, targets, how, floor)
    end_commands = _end_of_commands(planned)
    grace = AFTER_HOST_GRACE if how.rollout.after_host else INTERRUPT_GRACE
    window = Window(tasks, targets.forks, finished=finished, tick=output.tick, grace=grace)

    def interrupt() -> None:
        output.interrupting()
        window.interrupt()

    with Interrupts(interrupt, end_commands):
        bus.publish(begin)
        if course is not None:
            bus.publish(_planned(course, begin, how, bool(push.stages)))
        output.start()
        try:
            window.run()
        finally:
            end_commands()
            engine.close()
            unpublished = _announced(publisher, bus, window.interrupted)
            _tell(push.remarks(), bus)
            bus.publish(happening.RunFinished(time.time(), window.interrupted))
            bus.close()
            output.close()
    held = unpublished or (course is not None and course.held)
    rolled = _Rolled(begin, list(ended.values()), window.interrupted, held)
    return _conclude(push, how, output=output, rolled=rolled, bus=bus, folder=folder)


class _Rolled(NamedTuple):
    """A run whose last host has ended; ``lacking``: something that was to be done was not."""

    begin: happening.RunStarted
    results: list[HostResult]
    interrupted: bool
    lacking: bool


def _conclude(
    push: Push, how: How, *, output: Output, rolled: _Rolled, bus: Bus, folder: RunFolder | None
) -> int:
    """Tell what the run came to; its exit code."""
    results, interrupted = rolled.results, rolled.interrupted
    if how.settings.key and all(one.is_end_known or not one.planned for one in results):
        lost_runs.forget(rolled.begin.run_id)
    code = run_exit_code(results, interrupted, output.options.detailed_exitcode)
    code = _faults(bus, code)
    if output.human is sys.stdout and any(map(_is_of_a_stream, bus.faults)):
        let_go_of_stdout()  # which has been told; there is no place for a summary
    if rolled.lacking and code in (0, CHANGED):
        code = 1
    with contextlib.suppress(BrokenPipeError):
        there = push.kept and folder is not None and folder.path.is_dir()
        output.summary(rolled.begin.run_id if there else "")
    if folder and folder.whole and output.options.metrics is not None:
        code = _metrics(folder, output, code)
    if how.verify is not None and folder is not None and not interrupted:
        code = _verified(how.verify, results, output=output, run=folder.path, code=code)
    if folder and output.options.json:
        from orchestrator.fleet.kept_runs import KeptRun
        from orchestrator.report.document import write_document

        write_document(KeptRun(folder.path), code, sys.stdout)
    return code


class _Floor(NamedTuple):
    """Where the parts of a push are carried out, and what hears of it."""

    engine: Engine
    publish: Callable[[happening.Event], None]
    output: Output


class _Part(NamedTuple):
    """What is pushed to some hosts, and how: all of a push, or a stage of it."""

    push: Push
    targets: Targets
    how: How


def _parts(push: Push, targets: Targets, how: How) -> list[_Part]:
    """The stages of a push; all of it where it has none."""
    if not push.stages:
        return [_Part(push, targets, how)]
    return [
        _Part(
            stage.push,
            targets._replace(hosts=stage.hosts),
            how._replace(
                rollout=stage.rollout, settings=how.settings._replace(manifest=stage.push.identity)
            ),
        )
        for stage in push.stages
    ]


def _registry(how: How) -> Store:
    from orchestrator.registration.store import open_store

    return open_store(how.registration)


def _end_of_commands(planned: bool) -> Callable[[], None]:
    """What ends the commands of gates and hooks, which only a rollout has."""
    if not planned:
        return lambda: None
    from orchestrator.rollout.asking import end_commands

    return end_commands


def _course(push: Push, targets: Targets, how: How, floor: _Floor) -> RolloutCourse | StagedCourse:
    """The hosts as the options of the rollout let them begin."""
    from orchestrator.rollout.course import ALONE
    from orchestrator.rollout.staged import Leg, StagedCourse

    parts = _parts(push, targets, how)
    if not push.stages:
        return _course_of(parts[0], floor, ALONE)
    legs = [
        Leg(stage.name, stage.hosts, stage.rollout, functools.partial(_course_of, part, floor))
        for stage, part in zip(push.stages, parts, strict=True)
    ]
    return StagedCourse(legs, how.rollout)


def _course_of(part: _Part, floor: _Floor, place: StagePlace) -> RolloutCourse:
    from orchestrator.cli.gating import gates_of, hooked
    from orchestrator.rollout.course import RolloutCourse

    push, targets, how = part
    return RolloutCourse(
        targets.hosts,
        how.rollout,
        make=hooked(_maker(part, floor), how),
        publish=floor.publish,
        gates=gates_of(push, targets, how=how, output=floor.output, publish=floor.publish),
        clusters=push.clusters,
        stage=place,
    )


def _planned(
    course: RolloutCourse | StagedCourse, begin: happening.RunStarted, how: How, staged: bool
) -> happening.RolloutPlanned:
    """How the hosts will begin, and the command that goes on where they did not."""
    from orchestrator.report.paragraphs import Asked

    # Of a stage that did not pass those that failed are to be well before the next one.
    word, words = (UNDONE, how.retry) if staged else (REMAINING, how.again)
    return course.planned(Asked(again=words).on(f"run:{begin.run_id}:{word}"))


def _in_order(
    push: Push, targets: Targets, how: How, floor: _Floor
) -> Iterator[HostTask[HostResult]]:
    """The hosts one after the other, as nothing holds them back."""
    for part in _parts(push, targets, how):
        yield from map(_maker(part, floor), part.targets.hosts)


def _maker(part: _Part, floor: _Floor) -> Maker:
    """What makes the run of a host that begins."""
    return floor.engine.maker(_job(part))


def _job(part: _Part) -> Job:
    return Job(part.push.binder or part.push.planner, part.how.settings)


def _verified(
    verify: AfterPush, results: list[HostResult], *, output: Output, run: Path, code: int
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
        again=how.retry,
        origin=how.settings.origin,
    )


def _metrics(folder: RunFolder, output: Output, code: int) -> int:
    from orchestrator.fleet.kept_runs import KeptRun

    try:
        output.metrics(KeptRun(folder.path))
    except UsageError as error:  # the run is over: its outcome must not be lost for a file
        print(f"ccm: error: {error.message}", file=sys.stderr)
        return code or 1
    return code


def _tell(remarks: Iterable[str], bus: Bus) -> None:
    """Say of the run what is no host's."""
    for text in remarks:
        bus.publish(happening.HostNotice("", "warning", text))


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
        folder = RunFolder(begin, how.record, parent=parent, keep=how.keep)
        if parent is None and how.settings.key:
            lost_runs.begin(begin.run_id)
        return folder
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


def _is_of_a_stream(error: Exception) -> bool:
    """Whether it is of what is printed: one of a file names that."""
    return isinstance(error, OSError) and not error.filename


def _unwritten(error: OSError, code: int) -> int:
    what = f"{error.filename}: {error.strerror}" if error.filename else error
    print(f"ccm: error: output could not be written: {what}", file=sys.stderr)
    return code or 1
