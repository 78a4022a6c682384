"""The state of a manifest from earlier runs, and for the next run (target)."""

import os
from typing import TYPE_CHECKING, Callable, Optional

from remote_runtime.plans.plan import Plan
from remote_runtime.reporting.events import Outcome
from remote_runtime.state.lazy_refreshes import LazyRefreshes, Refreshes
from remote_runtime.stdlib_light import sha256_digest
from remote_runtime.system.state_directory import APPLIED, record_path

if TYPE_CHECKING:
    from remote_runtime.state.last_applied import LastApplied


class RunState(object):
    """One run: its pending refreshes, and the last applied state. ``directory`` stores the state.

    ``shown`` masks a text, ``tell`` receives a level and a line. A plan without a manifest, or a
    run that only reads, uses no state. If the plan's mark is found, the same plan was the last one
    on this host, was applied completely and left nothing pending. In this case, nothing else is
    read, and nothing is written.
    """

    def __init__(
        self,
        plan: Plan,
        directory: str,
        *,
        mask: Callable[[str], str],
        tell: Callable[[str, str], None],
    ) -> None:
        self.refreshes = Refreshes()
        self._plan = plan
        self._directory = directory
        self._tell = tell
        self._applied: Optional["LastApplied"] = None
        options = plan.options
        self._keeps = bool(plan.manifest) and not (options.monitor_only or options.status_only)
        self._settled = False
        if not self._keeps or options.drift:
            return
        self._name = record_name(plan.manifest)
        mark = "%s.%s" % (self._name, mark_of(plan)) if plan.digest else ""
        self._settled = bool(mark) and os.path.exists(record_path(directory, APPLIED, mark))

        def remember() -> Refreshes:
            """The pending refreshes."""
            from remote_runtime.state import pending_refreshes

            run = pending_refreshes.Run(
                self._name,
                plan=plan,
                settled=self._settled,
                shown=mask,
                tell=tell,
            )
            self.refreshes = pending_refreshes.PendingRefreshes(run, directory)
            return self.refreshes

        if self._settled:
            self.refreshes = LazyRefreshes(remember)
        else:
            remember()

    def account(self, outcome: Outcome, noop: bool) -> None:
        """Store the result of a resource; in a ``drift`` run, report how it differs."""
        if not self._keeps:
            return
        if self._plan.options.drift:
            outcome.drift = self._record().drift(outcome)
        elif not (noop or outcome.health_only) and (outcome.changed or not self._settled):
            self._try(lambda: self._record().note(outcome))

    def close(self, whole: bool) -> None:
        """End the run; ``whole``: it was complete."""
        self.refreshes.close()
        applied = self._applied
        if applied is not None and self._keeps and not self._plan.options.drift:
            mark = mark_of(self._plan) if whole and not self.refreshes.due else ""
            self._try(lambda: applied.write(mark))

    def pause(self) -> None:
        """The host is about to reboot; the run continues afterwards."""
        applied = self._applied
        if applied is not None and self._keeps:
            self._try(lambda: applied.write(""))

    def _try(self, step: Callable[[], None]) -> None:
        """Run a step; an unusable state directory is reported, then ignored for this run."""
        from remote_runtime.system.state_store import StateError

        try:
            step()
        except StateError as error:
            self._keeps = False
            self._tell("warning", "the applied state is not recorded for ccm drift: %s" % error)

    def _record(self) -> "LastApplied":
        if self._applied is None:
            from remote_runtime.state.last_applied import LastApplied

            self._applied = LastApplied(
                self._plan, self._directory, record_name(self._plan.manifest)
            )
            if self._plan.options.drift:
                self._applied.recall(self._tell)
        return self._applied


def record_name(manifest: str) -> str:
    """The name of a manifest's records."""
    return str(sha256_digest.sha256(manifest.encode("utf-8", "replace")).hexdigest())[:32]


def mark_of(plan: Plan) -> str:
    """The mark of a plan on this machine, "" for a plan without a digest.

    The digest alone would allow others to confirm a guess of the plan's content.
    """
    from remote_runtime.system.machine_id import machine_id

    text = "\n".join((machine_id(), plan.manifest, plan.digest))
    return str(sha256_digest.sha256(text.encode("utf-8", "replace")).hexdigest())[:32] * bool(
        plan.digest
    )
