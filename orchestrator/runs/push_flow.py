"""The steps that all commands share, from a job and its hosts to a result (controller)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, cast

from orchestrator.fleet.open_file_limit import raise_limit
from orchestrator.fleet.run_origin import local_user, origin_of
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.fleet.store.receipts import key_of
from orchestrator.fleet.store.run_directory import new_run_id
from orchestrator.runs import run_loop, wiring
from orchestrator.runs.engine_choice import DASK, THREADS, EngineChoice
from orchestrator.runs.push_job import PushConfig, PushJob, Targets
from orchestrator.runs.retry_command import retry_failed_words, retry_words
from remote_runtime.errors import UsageError
from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.fleet.sliding_window import Window
    from orchestrator.planning import Planner
    from orchestrator.runs.fleet_facts import FactReads
    from orchestrator.runs.push_job import VerifyAfterPush
    from orchestrator.runs.remote_work import RemoteWork
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult
    from orchestrator.runs.wiring import TargetSelection
    from orchestrator.transport import Connector
    from orchestrator.transport.local import WaitingInterpreter


def check_request(request: RunRequest) -> None:
    """Refuse contradictory options, before anything is read. UsageError."""
    if request.run.noop and request.run.monitor_only:
        raise UsageError(
            "--noop with --monitor-only would do nothing: a preview runs no health checks",
            hint="use only one; --monitor-only alone changes nothing either",
        )
    if request.verify:
        from orchestrator.runs.verification import check_options

        check_options(request.run)
    if request.history:
        from orchestrator.history.factory import check_history
        from orchestrator.history.location import HistoryError

        # One that is away costs a warning at the end of the run.
        with contextlib.suppress(HistoryError):
            check_history(request.history)
    raise_limit(request.connection.forks)
    if request.data.registration:
        from orchestrator.registration.store import open_store

        open_store(request.data.registration)  # contacts nothing yet


class PushFlow:
    """Runs a job on the chosen hosts of a request, and returns the result.

    The interpreter that ``prepare`` starts waits until the job runs; a flow without a job ends it.
    """

    def __init__(
        self,
        request: RunRequest,
        chosen: TargetSelection,
        reporter: Reporter,
        waiting: WaitingInterpreter | None = None,
    ) -> None:
        self.request = request
        self.chosen = chosen
        self.reporter = reporter
        self._waiting = waiting

    @classmethod
    def prepare(cls, request: RunRequest, reporter: Reporter) -> PushFlow:
        """Check a request, read its data from URLs, and choose its hosts.

        UsageError, InputError. No host is contacted. On this machine, an interpreter starts while
        the manifest is read.
        """
        check_request(request)
        request = wiring.with_sources(request)
        chosen = wiring.select_targets(request.hosts, reporter.warn, request.manifest)
        is_remote = request.engine is not None and request.engine.word == DASK
        waiting = None if is_remote else wiring.start_interpreter(chosen, request.connection)
        return cls(request, chosen, reporter, waiting)

    def __enter__(self) -> PushFlow:
        return self

    def __exit__(self, *_: object) -> None:
        if self._waiting is not None:
            self._waiting.close()

    def run(self, push: PushJob) -> RunResult:
        """Push to the chosen hosts; everything that can be checked without a host was checked
        before.
        """
        request, chosen, reporter = self.request, self.chosen, self.reporter
        self.require_terminal(push)
        # The name of a resource may contain a login, as with ccm ensure exec.
        mask = Mask().text
        masked = push._replace(what=mask(push.what), words=tuple(map(mask, push.words)))
        reporter.prepare()
        if request.hosts.inventory is None:
            reporter.on_this_machine()
        for warning in self._hosts_without_share(push):
            reporter.say_warning(warning)
        types = own_types(push)
        remote = self._remote_work(push)
        read = self._shown_hosts(push)
        connector = wiring.connector(
            chosen._replace(hosts=[*chosen.hosts, *read.stale]) if read and not remote else chosen,
            request.connection,
            ask=reporter.ask_secret if reporter.is_terminal else None,
            own_types=types,
            reaches=remote is None or request.verify,
            waiting=self._waiting,
        )
        self._waiting = None  # the connector ends it
        with connector:
            for site in push.sites:
                for text in site.warnings:
                    reporter.say_warning(str(text))
            for message in dict.fromkeys(site.pre_message for site in push.sites):
                reporter.say(message)
            verify = self._verification(push, connector) if request.verify else None
            hosts = [host for stage in push.stages for host in stage.hosts] or chosen.hosts
            if read is not None:
                self._know_facts(read, connector, by_workers=remote is not None)
            targets = Targets(hosts, connector, request.connection.forks)
            if not (request.rollout.given or push.stages):
                connector.begin(chosen.hosts[: targets.forks])
            config = self._config(masked, verify, remote)
            result = run_loop.run_push(masked, targets, config, reporter)
        if result.is_good:
            for message in dict.fromkeys(site.post_message for site in push.sites):
                reporter.say(message)
        return result

    def require_terminal(self, push: PushJob) -> None:
        """UsageError if a rollout needs a person to confirm its waves, but none can be asked."""
        rollouts = [self.request.rollout, *(stage.rollout for stage in push.stages)]
        confirms = any(rollout.confirm for rollout in rollouts) and not self.request.run.noop
        if confirms and not self.reporter.is_terminal:
            raise UsageError(
                "--confirm requires a terminal",
                kind="usage.terminal",
                hint="use --gate COMMAND, which passes or stops a wave without a prompt",
            )

    def _shown_hosts(self, push: PushJob) -> FactReads | None:
        """The hosts that the templates of all stages can read: the complete inventory, not only the
        selection, except for hosts that are not ``visible`` in the request.
        """
        if not push.sites:
            return None  # a command, which has no templates
        from orchestrator.runs.fleet_facts import max_age, show_hosts

        planners = [cast("Planner", one.planner) for one in push.pushes if one.site is not None]
        inventory, visible = self.chosen.inventory, self.request.hosts.visible
        if visible is not None:
            inventory = inventory.among(visible)
        return show_hosts(planners, inventory, max_age(self.request.data.facts_max_age))

    def _know_facts(self, read: FactReads, connector: Connector, *, by_workers: bool) -> None:
        """Gather the facts of other hosts that templates read, before the first change. A preview
        reports the facts that it uses. ``by_workers``: the workers of the engine gather them.
        """
        if read.stale:
            self._gather(read, connector, by_workers=by_workers)
        if self.request.run.noop and read.summary():
            self.reporter.say(read.summary())

    def _gather(self, read: FactReads, connector: Connector, *, by_workers: bool) -> None:
        from orchestrator.runs.fleet_facts import take_answers

        count = len(read.stale)
        self.reporter.note(
            f"gathering the facts of {count} host{'' if count == 1 else 's'} for templates"
        )
        windows: list[Window[Any]] = []

        def interrupt() -> None:
            """Interrupt the hosts that are running."""
            for window in windows:
                window.interrupt()

        with self.reporter.interruptible(interrupt):
            if by_workers:
                from orchestrator.runs.remote_facts import gather_by_workers

                answers = gather_by_workers(
                    self.chosen._replace(hosts=list(read.stale)),
                    connector,
                    request=self.request,
                    warn=self.reporter.warn,
                    watch=windows.append,
                )
            else:
                from orchestrator.fleet.host.fact_run import gather_facts

                forks = self.request.connection.forks
                answers = gather_facts(read.stale, connector, forks=forks, watch=windows.append)
        if any(window.interrupted for window in windows):
            raise KeyboardInterrupt
        take_answers(read, answers, self.reporter.warn)

    def _config(
        self, masked: PushJob, verify: VerifyAfterPush | None, remote: RemoteWork | None
    ) -> PushConfig:
        request = self.request
        origin = origin_of(masked.what if masked.site is not None or masked.stages else "")
        run_id, run = new_run_id(), request.run
        reads_only = run.noop or run.monitor_only or run.status_only or run.adhoc
        return PushConfig(
            settings=RunSettings(
                run_id=run_id,
                user=f"{origin.user}@{origin.machine}",
                options=run,
                manifest=masked.identity,
                origin=origin,
                key="" if reads_only or not masked.stored else key_of(run_id),
            ),
            record=request.record(),
            registration=request.data.registration,
            verify=verify,
            rollout=request.rollout,
            again=retry_words(masked, request),
            retry=retry_failed_words(masked, request),
            keep=request.keep,
            engine=request.engine or EngineChoice(THREADS),
            remote=remote,
            history=request.history if masked.stored else None,
            runs=request.runs,
        )

    def _remote_work(self, push: PushJob) -> RemoteWork | None:
        """The work for the workers of a Dask scheduler; None for another engine. UsageError."""
        engine = self.request.engine
        if engine is None or engine.word != DASK:
            return None
        from orchestrator.runs.remote_work import RemoteWork

        remote = RemoteWork(push, self.request, self.chosen, self.reporter.warn)
        remote.check()
        return remote

    def _hosts_without_share(self, push: PushJob) -> Iterator[str]:
        """Warnings about hosts without the variable of ``--per``; UsageError if no host has it."""
        whole = self.request.rollout.per  # some stages may have their own
        if not whole and not any(stage.rollout.per for stage in push.stages):
            return
        from orchestrator.rollout.shared_limits import check_sharing

        alike = [
            host for stage in push.stages if stage.rollout.per == whole for host in stage.hosts
        ]
        if alike or not push.stages:
            yield from check_sharing(whole, alike or self.chosen.hosts)
        for stage in push.stages:
            if stage.rollout.per != whole:
                yield from check_sharing(stage.rollout.per, stage.hosts)

    def _verification(self, push: PushJob, connector: Connector) -> VerifyAfterPush:
        from orchestrator.runs.verification import verify_after_push
        from orchestrator.verify.pytest_run.runner import VerifyJob

        return verify_after_push(
            VerifyJob(
                manifest=cast("Planner", push.planner).site.path,
                inventory=self.chosen.inventory,
                hosts=self.chosen.hosts,
                connector=connector,
                planner=cast("Planner", push.planner),  # only a manifest is verified
                forks=self.request.connection.forks,
            )
        )


def own_types(push: PushJob) -> dict[str, bytes]:
    """The files of custom types, which are sent with the runtime; UsageError if two sites have
    different types with the same name."""
    files: dict[str, bytes] = {}
    for site in push.sites:
        for path, text in site.types.sources().items():
            if files.setdefault(path, text) != text:
                raise UsageError(
                    f"two stages use different types from {path}",
                    hint="put their manifests next to the same types/, or push them separately",
                )
    return files


def user_at_host() -> str:
    """The user and controller, as shown in the lock of a host."""
    return f"{local_user()}@{os.uname().nodename}"
