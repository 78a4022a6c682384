"""One run on one target, from the first byte to the last (target).

The bootstrap calls ``serve``. From then on, standard output belongs to the protocol: the original
descriptor points at stderr, so that a stray print cannot break a frame.
"""

import os
import sys
import time
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Type

from remote_runtime.cancellation import Cancellation, Cancelled, HostRebooting, end_on_signals
from remote_runtime.context import Context
from remote_runtime.errors import CcmError
from remote_runtime.execution.lifecycle import Lifecycle, defect
from remote_runtime.execution.plan_executor import Engine, ItemResult
from remote_runtime.plan_item import Item, each_of
from remote_runtime.plans import plan as plans
from remote_runtime.protocol import wire
from remote_runtime.protocol.blob_receiver import Transfer, announce_blobs
from remote_runtime.protocol.blobs import Blobs
from remote_runtime.protocol.channel import Channel
from remote_runtime.registry import Registry
from remote_runtime.reporting.event_reporter import EventReporter
from remote_runtime.reporting.events import EventMaker, Outcome, secrets_of
from remote_runtime.reporting.masking import Mask
from remote_runtime.state.durability import DirectorySync
from remote_runtime.state.run_state import RunState
from remote_runtime.system.accounts import Accounts
from remote_runtime.system.files import Files
from remote_runtime.system.process.commands import Commands
from remote_runtime.system.process.process_identity import boot

if TYPE_CHECKING:
    from remote_runtime.lookups import Known


def serve(nonce: str, runtime_sha: str, lock: str = "", state: str = "") -> int:
    """Speak the protocol on this process's standard input and output; return the exit code.

    ``lock`` is the lock file and ``state`` the directory with the state of the host, if they are
    not those of this user.
    """
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    # The directory in which commands start; it also prevents no unmount.
    os.umask(0o022)
    os.chdir("/")
    cancellation = Cancellation()
    end_on_signals(cancellation)
    return Session(
        reading,
        writing,
        nonce=nonce,
        runtime_sha=runtime_sha,
        cancellation=cancellation,
        lock=lock,
        state=state,
    ).serve()


def load_for_plan() -> None:
    """Load what almost every plan needs, while the controller creates it: saves 1.5 ms."""
    import remote_runtime.host.host_reader
    import remote_runtime.managed_resources.task_resource
    import remote_runtime.state.run_record
    import remote_runtime.system.push_lock  # noqa: F401 - they are used when the plan arrives


class Session(object):
    """The conversation with the controller: facts, the plan, its events, the end."""

    def __init__(
        self,
        reading: int,
        writing: int,
        *,
        nonce: str,
        runtime_sha: str,
        cancellation: Cancellation,
        lock: str = "",
        state: str = "",
    ) -> None:
        self._nonce = nonce
        self._runtime_sha = runtime_sha
        self._writing = writing
        self._cancellation = cancellation
        self._files = Files()
        self._accounts = Accounts()
        self._mask = Mask()
        self._settling = DirectorySync(self._files)
        self._channel = Channel(
            reading,
            writing,
            cancellation=cancellation,
            on_stuck=self._give_up,
            before_write=self._settling.settle,
        )
        self._lock_path = lock
        self._state = state
        self._home = ""  # the user that the runtime runs as
        self._reporter = EventReporter(self._channel, EventMaker(self._mask))
        self._answers: "Known" = []  # for the lookups before the plan
        self._record: Any = None  # of this run, for a controller that loses the connection

    def serve(self) -> int:
        """Run to the end. Returns 0 for a valid conversation, otherwise 1."""
        os.write(self._writing, ("%s %s ready \n" % (wire.PROTOCOL, self._nonce)).encode())
        self._channel.start()
        error: Optional[CcmError] = None
        try:
            self._greet()
            load_for_plan()
            self._converse()
        except (Cancelled, HostRebooting):
            pass
        except CcmError as failed:
            error = failed
        except Exception as failed:  # never a traceback instead of a frame
            error = CcmError(defect(failed), kind="runtime.defect")
        finally:
            self._files.discard_temporary()
        self._finish(error)
        return 0 if error is None and not self._cancellation.is_set() else 1

    def _give_up(self) -> None:
        """Exit without partial writes, because the run does not end by itself."""
        self._files.discard_temporary()
        if self._record is not None:
            self._record.keep()
        os._exit(1)

    def _greet(self) -> None:
        identity = self._accounts.identity()
        self._home = identity.home
        self._channel.send(
            {
                "t": "hello",
                "protocol": wire.PROTOCOL,
                "nonce": self._nonce,
                "runtime": self._runtime_sha,
                "python": "%d.%d.%d" % sys.version_info[:3],
                "pid": os.getpid(),
                "user": identity.name,
                "uid": identity.uid,
                "boot": boot(),
            }
        )
        from remote_runtime.facts import gather

        found = gather()
        self._channel.send(
            {
                "t": "facts",
                "facts": found.facts,
                "unavailable": found.unavailable,
                "custom": found.custom,
                "warnings": found.warnings,
            },
            now=True,
        )

    def _converse(self) -> None:
        message = self._channel.expect("ask", "plan", "bye")
        while message["t"] == "ask":
            self._look_up(message)
            message = self._channel.expect("ask", "plan", "bye")
        if message["t"] == "plan":
            self._run(plans.parse(message))
        else:
            self._tell_past(plans.recall_of(message), alone=False)

    def _look_up(self, message: wire.Message) -> None:
        """Answer the lookups of a manifest before its plan is made."""
        from remote_runtime.lookups import exchange
        from remote_runtime.options import RunOptions

        options = RunOptions(noop=True)

        def context_for(items: Sequence[Item]) -> Context:
            none = plans.Plan(run_id="", user="", options=options, fail_on_error=False,
                              secrets=(), items=tuple(items), earlier={})  # fmt: skip
            return self._context(none, None)

        exchange.reply(message, self._channel, self._answers, context_for)

    def _finish(self, error: Optional[CcmError]) -> None:
        done: Dict[str, Any] = {
            "t": "done",
            "events": self._reporter.events,
            "cancelled": self._cancellation.is_set(),
        }
        if error is not None:
            done["error"] = {"kind": error.kind, "message": self._mask.text(str(error))}
        self._channel.send(done, now=True)
        if self._record is not None:
            self._record.settle(self._channel)
        self._channel.close()

    # -- the plan ---------------------------------------------------------------------------------

    def _run(self, plan: plans.Plan) -> None:
        for part in (plan,) + plan.before:
            self._mask.add(part.secrets)
            for item in each_of(part.items, managed=True):
                if item.secrets and not item.sensitive:
                    self._mask.add(secrets_of(item))
        lock = None
        if plan.options.timeout:
            self._cancellation.end_after(plan.options.timeout)
        if not (plan.options.noop or plan.options.monitor_only or plan.options.adhoc):
            lock = self._lock(plan)
        try:
            self._tell_past(plan.recall, alone=lock is not None)
            self._tidy(lock is not None)
            if lock is not None and plan.receipt:
                from remote_runtime.state.run_record import RunRecord

                last = max([item.index for item in each_of(plan.items)], default=0)
                self._record = RunRecord(self._kept(), plan.receipt, last, self._reporter.maker)
            self._walk(plan, lock)
        finally:
            if self._record is not None and sys.exc_info()[0] is not HostRebooting:
                self._record.close()
            if lock is not None:
                lock.release()

    def _tell_past(self, receipts: Sequence[str], alone: bool) -> None:
        """Report earlier runs on this host that their controllers may not know; ``alone``: none of
        them is still active.
        """
        if receipts:
            from remote_runtime.state.run_record import report
            from remote_runtime.system.push_lock import is_held, lock_path

            busy = not alone and is_held(self._lock_path or lock_path())
            report(self._channel, self._kept(), receipts, busy)

    def _lock(self, plan: plans.Plan) -> Any:
        from remote_runtime.reporting.events import timestamp
        from remote_runtime.system.push_lock import Lock, lock_path

        lock = Lock(self._lock_path or lock_path(), self._cancellation)
        holder = {"run_id": plan.run_id, "user": plan.user, "since": timestamp(time.time())}
        lock.acquire(holder, plan.options.lock_timeout, lambda text: self._notice("waiting", text))
        return lock

    def _tidy(self, alone: bool) -> None:
        """Remove the leftovers of killed runs, if this run has the lock; record its own start."""
        from remote_runtime.system import state_directory

        kept = self._kept()
        cache = self._state or state_directory.cache_directory(self._home)
        self._files.note_in(kept if alone else cache, self._warn)
        if not alone:
            return
        removed = []
        for journal in state_directory.journals(kept) + state_directory.journals(cache):
            from remote_runtime.system.temp_journal import sweep

            removed += sweep(journal, self._warn)
        if removed:
            text = "removed leftovers of a killed run: " + ", ".join(removed[:5])
            more = len(removed) - 5
            self._notice("info", text + (" and %d more" % more if more > 0 else ""))

    def _warn(self, text: str) -> None:
        self._notice("warning", text)

    def _walk(self, plan: plans.Plan, lock: Any) -> None:
        self._accounts.login_keys = plan.login_keys
        context = self._context(plan, lock)
        registry = Registry(context)
        self._pass(plan.before, context, registry)
        context.options = plan.options
        if self._record is not None:
            context.before_change = self._record.begin
        maker = self._reporter.maker
        observer = promises = None
        if plan.binding:
            from remote_runtime.plans.plan_file_check import Observer, parse

            binding = parse(plan.binding)
            observer = Observer(binding.salt)
            context.observes = not binding.serial
            if binding.serial:
                promises = self._preflight(plan, binding, observer, maker)
                context.promised = True

        self._reporter.observer = observer if context.observes else None
        options = plan.options
        self._reporter.whole = options.status_only or options.adhoc or observer is not None
        ended = self._record.reporting(self._reporter) if self._record else self._reporter.ended
        self._run_items(plan, context, registry=registry, ended=ended, promises=promises)

    def _pass(self, before: Sequence[plans.Plan], context: Context, registry: Registry) -> None:
        """Preview the plans that precede a plan, so that it sees their effects."""

        def passed(outcome: Outcome, noop: bool, seconds: float) -> None:
            self._channel.send({"t": "passed"})

        context.silent = True
        for plan in before:
            context.options = plan.options
            self._run_items(plan, context, registry=registry, ended=passed)
        context.silent = False

    def _context(self, plan: plans.Plan, lock: Any) -> Context:
        context = Context(
            commands=Commands(
                self._accounts,
                self._cancellation,
                at_root=True,
                lock=lock,
                release=self._settling.release,
            ),
            files=self._files,
            accounts=self._accounts,
            blobs=Blobs(Transfer(self._channel).fetch),
            mask=self._mask,
            cancellation=self._cancellation,
            options=plan.options,
            items=[item for part in (plan,) + plan.before for item in part.items],
            on_progress=self._channel.progress,
            on_notice=self._notice,
            channel=self._channel,
        )
        context.answers = self._answers
        context.memory_directory = self._kept()
        return context

    def _run_items(
        self,
        plan: plans.Plan,
        context: Context,
        *,
        registry: Registry,
        ended: ItemResult,
        promises: Any = None,
    ) -> None:
        recall = RunState(plan, self._kept(), mask=self._mask.text, tell=context.notice)
        if not plan.options.monitor_only:
            context.blobs.look_ahead(lambda: announce_blobs(plan, context, registry))
        results: Dict[str, Any] = {}
        if plan.earlier:
            from remote_runtime.state.earlier_results import earlier_results

            results = earlier_results(plan.earlier, context)
        engine = Engine(
            context=context,
            lifecycle=self._lifecycle(plan)(
                context,
                registry,
                render=lambda item: self._render(item, context),
                promises=promises,
            ),
            ended=ended,
            results=results,
            refreshes=recall.refreshes,
            applied=recall.account,
            done=context.boot and context.boot.done,
        )

        def depart(index: int, seconds: float) -> None:
            from remote_runtime.execution.reboot_resume import announce

            announce(self._channel, index, seconds, engine.record(plan.items))
            recall.pause()
            self._log(plan, "rebooting")

        context.on_depart = depart
        whole = False
        try:
            engine.run(plan.items, plan.fail_on_error)
            whole = True
            if context.outdated_lists:
                from remote_runtime.packages.list_refresh import refresh_at_the_end

                refresh_at_the_end(context)
        finally:
            if sys.exc_info()[0] is not HostRebooting:  # it is reported when the host is back
                recall.close(whole)
                self._log(plan, "interrupted" if self._cancellation.is_set() else "whole")

    @staticmethod
    def _lifecycle(plan: plans.Plan) -> Type[Lifecycle]:
        if not plan.options.adhoc:
            return Lifecycle
        from remote_runtime.execution.fleet_commands import AdhocLifecycle

        return AdhocLifecycle

    def _log(self, plan: plans.Plan, ended: str) -> None:
        """Write a line to the system log if something changed or failed."""
        if self._reporter.tally.get("changed") or self._reporter.tally.get("failed"):
            from remote_runtime.reporting import log_summary

            log_summary.write(plan, self._reporter.tally, ended, self._mask.text)

    def _kept(self) -> str:
        """Return the directory of the state of this host."""
        from remote_runtime.system import state_directory

        return self._state or state_directory.state_directory(self._home)

    def _preflight(
        self, plan: plans.Plan, binding: Any, observer: Any, event_builder: EventMaker
    ) -> Any:
        """Return the predictions that bind the run. ``HostError`` for a host that does not match
        the plan file.
        """
        from remote_runtime.plans.plan_file_check import PushPreview
        from remote_runtime.plans.replay_guard import mark_used, require_own
        from remote_runtime.system.state_store import StateStore

        before = plan.earlier.get("reboot")
        trial = PushPreview(
            binding, observer, event_builder, seen=len(before["done"]) if before else 0
        )
        preview = plan._replace(options=plan.options._replace(noop=True))
        context = self._context(preview, None)
        context.observes = True
        self._run_items(preview, context, registry=Registry(context), ended=trial.ended)
        memory = StateStore(self._kept())
        # Certain predictions for the part after the reboot are binding.
        if before:
            require_own(memory, binding, plan.run_id)
        else:
            trial.require_no_drift()
            mark_used(memory, binding, run_id=plan.run_id, user=plan.user, now=time.time())
        return trial.promises

    def _notice(self, level: str, text: str) -> None:
        self._channel.send({"t": "notice", "level": level, "text": self._mask.text(text)})

    # -- deferred templates -----------------------------------------------------------------------

    def _render(self, item: Item, context: Context) -> Dict[str, Any]:
        from remote_runtime.protocol.template_reads import rendered

        return rendered(item, self._channel, context)
