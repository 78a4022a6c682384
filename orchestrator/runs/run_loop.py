"""Runs a push over the hosts, from the first one to the result (controller)."""

import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from inventory.subprocesses import end_programs
from orchestrator.fleet import events as run_events
from orchestrator.fleet.engine import Engine, EngineContext, Job, Maker
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.fleet.sliding_window import INTERRUPT_GRACE, Window
from orchestrator.fleet.store import receipts
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.registration.publisher import CLOSE_TIMEOUT, Publisher
from orchestrator.runs.engine_choice import EngineSpec, start_engine
from orchestrator.runs.push_job import PushConfig, PushJob, Targets
from orchestrator.runs.result import RunResult
from orchestrator.support.atomic_file import error_text
from orchestrator.support.state_directory import state_directory
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.host.host_task import HostTask
    from orchestrator.history.background_copier import RunCopier
    from orchestrator.registration.store import Store
    from orchestrator.rollout.scheduler import RolloutScheduler, StagePosition
    from orchestrator.rollout.staged_scheduler import StagedScheduler
    from orchestrator.runs.engine_choice import Engage
    from orchestrator.runs.reporter import Reporter

INTERRUPTED_CLOSING = 3.0  # seconds
AFTER_HOST_GRACE = 60.0  # seconds that --after-host has once the run is interrupted


def run_push(
    push: PushJob, targets: Targets, config: PushConfig, reporter: "Reporter"
) -> RunResult:
    """Push to the targets; everything was checked before. UsageError if the run directory cannot be
    created.
    """
    begin = _begin(push, targets, config)
    with contextlib.ExitStack() as stack:
        # Processes start before any thread, and before files are open that they would inherit.
        engage = stack.enter_context(
            start_engine(config.engine, _engine_spec(push, targets, config))
        )
        directory = copier = None
        if push.stored:
            directory = _directory(begin, config, config.runs)
            copier = _copier(config, directory)
        elif reporter.needs_record:
            import tempfile  # loads a dozen modules that most pushes do not need

            parent = stack.enter_context(tempfile.TemporaryDirectory(prefix="ccm-"))
            directory = _directory(begin, config, Path(parent))
        start = _Start(begin, directory, engage)
        result = _run(push, targets, config=config, reporter=reporter, start=start)
        reporter.summary(result)
        if config.verify is not None and directory is not None and not result.interrupted:
            result = _verified(config, result, reporter, directory)
        if copier is not None and (warning := copier.finish()):
            reporter.warn(warning)
        reporter.finished(result)
        return result


def _copier(config: PushConfig, directory: RunDirectory) -> "RunCopier | None":
    """The active copier of the run to its history; None without a history."""
    if config.history is None:
        return None
    from orchestrator.history.background_copier import RunCopier

    copier = RunCopier(config.history, directory.path, config.keep)
    copier.start()
    return copier


def _engine_spec(push: PushJob, targets: Targets, config: PushConfig) -> EngineSpec:
    """The description of the work for the engine."""
    parts = _parts(push, targets, config)
    connector: Any = targets.connector
    return EngineSpec(
        hosts=targets.hosts,
        connector=connector,
        forks=targets.forks,
        jobs=[_job(part) for part in parts],
        planners=[part.push.planner for part in parts],
        remote=config.remote,
    )


class _Start(NamedTuple):
    """The start of a run: its first event, its record, and the factory of its engine."""

    event: run_events.RunStarted
    directory: RunDirectory | None
    engage: "Engage"


def _run(
    push: PushJob, targets: Targets, *, config: PushConfig, reporter: "Reporter", start: _Start
) -> RunResult:
    started, directory, engage = start
    subscribers = reporter.subscribers(push.command, push.what)
    bus = Bus([*([directory] if directory else []), *push.subscribers, *subscribers])
    ended: dict[str, HostResult] = {}

    def publish(event: run_events.Event) -> None:
        """Publish an event, and record the result of a host."""
        if isinstance(event, run_events.HostFinished):
            ended[event.result.host] = event.result
        bus.publish(event)

    def finished(_: str, result: HostResult) -> None:
        """Publish the result of a host."""
        publish(run_events.HostFinished(result))

    publisher = Publisher(lambda: _registry(config))
    package_metadata = PackageMetadataCache(state_directory() / "packages")
    engine = engage(EngineContext(targets.connector, bus, publisher, package_metadata))
    context = _RunContext(engine=engine, publish=publish, reporter=reporter)
    planned = config.rollout.given or bool(push.stages)
    scheduler = _scheduler(push, targets, config, context) if planned else None
    limited = scheduler is not None and not config.settings.options.noop
    tasks = scheduler if scheduler and limited else _in_order(push, targets, config, context)
    grace = AFTER_HOST_GRACE if config.rollout.after_host else INTERRUPT_GRACE
    window = Window(tasks, targets.forks, finished=finished, tick=reporter.tick, grace=grace)
    with reporter.interruptible(window.interrupt):
        bus.publish(started)
        if scheduler is not None:
            bus.publish(_planned(scheduler, started, config, bool(push.stages)))
        reporter.start()
        try:
            window.run()
        finally:
            end_programs(of_run=True)
            engine.close()
            unpublished = _announced(publisher, bus, window.interrupted)
            _publish_remarks(push.remarks(), bus)
            bus.publish(run_events.RunFinished(time.time(), window.interrupted))
            bus.close()
            reporter.close()
    results = list(ended.values())
    if config.settings.key and all(one.is_end_known or not one.planned for one in results):
        receipts.forget(started.run_id)
    return RunResult(
        run_id=started.run_id,
        results=results,
        interrupted=window.interrupted,
        incomplete=unpublished or (scheduler is not None and scheduler.held),
        faults=list(bus.faults),
        directory=directory,
        stored=push.stored and directory is not None and directory.path.is_dir(),
    )


def _verified(
    config: PushConfig, result: RunResult, reporter: "Reporter", directory: RunDirectory
) -> RunResult:
    """The result with a verify of the hosts that the push reached; the directory stores it."""
    from orchestrator.verify.stored_results import VerifyFile

    assert config.verify is not None
    file = VerifyFile(directory.path)
    assessment = config.verify(result.results, reporter, file.take)
    try:
        file.finish(assessment)
    except OSError as error:
        result = result._replace(faults=[*result.faults, error])
    return result._replace(assessment=assessment)


class _RunContext(NamedTuple):
    """The objects that the parts of a push share: the engine, the bus and the reporter."""

    engine: Engine
    publish: Callable[[run_events.Event], None]
    reporter: "Reporter"


class _Part(NamedTuple):
    """A push, or a stage of it, with its hosts and limits."""

    push: PushJob
    targets: Targets
    config: PushConfig


def _parts(push: PushJob, targets: Targets, config: PushConfig) -> list[_Part]:
    """The stages of a push, or the complete push if it has none."""
    if not push.stages:
        return [_Part(push, targets, config)]
    return [
        _Part(
            stage.push,
            targets._replace(hosts=stage.hosts),
            config._replace(
                rollout=stage.rollout,
                settings=config.settings._replace(manifest=stage.push.identity),
            ),
        )
        for stage in push.stages
    ]


def _registry(config: PushConfig) -> "Store":
    from orchestrator.registration.store import open_store

    return open_store(config.registration)


def _scheduler(
    push: PushJob, targets: Targets, config: PushConfig, context: _RunContext
) -> "RolloutScheduler | StagedScheduler":
    """The scheduler of hosts with the options of the rollout."""
    from orchestrator.rollout.scheduler import ALONE
    from orchestrator.rollout.staged_scheduler import StagedScheduler, StageRun

    parts = _parts(push, targets, config)
    if not push.stages:
        return _rollout_scheduler(parts[0], context, ALONE)
    runs = [
        StageRun(
            stage.name,
            stage.hosts,
            stage.rollout,
            functools.partial(_rollout_scheduler, part, context),
        )
        for stage, part in zip(push.stages, parts, strict=True)
    ]
    return StagedScheduler(runs, config.rollout)


def _rollout_scheduler(
    part: _Part, context: _RunContext, place: "StagePosition"
) -> "RolloutScheduler":
    from orchestrator.rollout.scheduler import RolloutScheduler
    from orchestrator.runs.gates import gates_of, with_hooks

    push, targets, config = part
    return RolloutScheduler(
        targets.hosts,
        config.rollout,
        make=with_hooks(_maker(part, context), config),
        publish=context.publish,
        gates=gates_of(
            push, targets, config=config, reporter=context.reporter, publish=context.publish
        ),
        clusters=push.clusters,
        stage=place,
    )


def _planned(
    scheduler: "RolloutScheduler | StagedScheduler",
    begin: run_events.RunStarted,
    config: PushConfig,
    staged: bool,
) -> run_events.RolloutPlanned:
    """Return the order in which hosts start, with the command for hosts that were not started."""
    from orchestrator.fleet.store.outcome_selection import REMAINING, UNDONE
    from orchestrator.report.retry_options import RetryOptions

    # The failed hosts of a stage must be healthy before the next stage.
    word, words = (UNDONE, config.retry) if staged else (REMAINING, config.again)
    return scheduler.planned(RetryOptions(again=words).on(f"run:{begin.run_id}:{word}"))


def _in_order(
    push: PushJob, targets: Targets, config: PushConfig, context: _RunContext
) -> Iterator["HostTask[HostResult]"]:
    """The scheduler of hosts without limits."""
    for part in _parts(push, targets, config):
        yield from map(_maker(part, context), part.targets.hosts)


def _maker(part: _Part, context: _RunContext) -> Maker:
    """The factory of the run of a host."""
    return context.engine.maker(_job(part))


def _job(part: _Part) -> Job:
    return Job(part.push.binder or part.push.planner, part.config.settings)


def _begin(push: PushJob, targets: Targets, config: PushConfig) -> run_events.RunStarted:
    return run_events.RunStarted(
        run_id=config.settings.run_id,
        at=time.time(),
        hosts=tuple(host.name for host in targets.hosts),
        noop=config.settings.options.noop,
        manifest=push.what,
        command=push.command,
        identity=push.identity,
        again=config.retry,
        origin=config.settings.origin,
    )


def _publish_remarks(remarks: Iterable[str], bus: Bus) -> None:
    """Report notices of the run that do not belong to a host."""
    for text in remarks:
        bus.publish(run_events.HostNotice("", "warning", text))


def _announced(publisher: Publisher, bus: Bus, interrupted: bool) -> bool:
    """Publish the remaining registrations, and report failures to each affected host; return
    whether there were any.
    """
    failure = publisher.close(INTERRUPTED_CLOSING if interrupted else CLOSE_TIMEOUT)
    _publish_remarks(filter(None, [publisher.warning]), bus)
    if failure is None:
        return False
    for host, count in failure.hosts.items():
        what = "1 registration was" if count == 1 else f"{count} registrations were"
        text = f"{what} not published: {failure.reason}"
        bus.publish(run_events.HostNotice(host, "error", text))
    return True


def _directory(
    begin: run_events.RunStarted, config: PushConfig, parent: Path | None = None
) -> RunDirectory:
    try:
        directory = RunDirectory(begin, config.record, parent=parent, keep=config.keep)
        if parent is None and config.settings.key:
            receipts.begin(begin.run_id)
        return directory
    except OSError as error:
        raise UsageError(
            f"cannot create the run directory: {error_text(error)}",
            kind="usage.state",
            hint="free some space, or set XDG_STATE_HOME to a writable directory",
        ) from error
