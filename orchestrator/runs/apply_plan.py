"""Pushes exactly the content of a plan file (controller)."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, cast

from orchestrator.plan_files.binding import BoundPlanner
from orchestrator.plan_files.input_files import check_unchanged, check_whole
from orchestrator.plan_files.storage import parse_plan, read_text
from orchestrator.runs import wiring
from orchestrator.runs.push_flow import PushFlow, check_request, own_types
from orchestrator.runs.push_job import PushJob
from orchestrator.runs.request import Subject
from orchestrator.runs.staged_job import StagedJob
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import InputError, PlanError, Problem, UsageError
from remote_runtime.plan_item import SELECTION

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from orchestrator.plan_files.plan_file import PlanFile, Record
    from orchestrator.planning import Planner
    from orchestrator.runs.push_job import PushStage
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult
    from orchestrator.runs.wiring import TargetSelection

_FIXED = ("hiera", "facts", *SELECTION)  # options that a plan fixes, values and all
_SKEW = 300  # seconds that the clock of the plan's author may be ahead


class PlanFilePush:
    """The push of the plan file in a request."""

    def __init__(self, request: RunRequest, reporter: Reporter) -> None:
        self._request = request
        self._reporter = reporter

    def run(self) -> RunResult:
        """Check the file, and push to the hosts that match the plan."""
        request, required, path = self._request, self._request.plan, self._request.manifest
        text = read_text(path, own=not required.signers)
        require_digest(path, text, required.digest)
        plan = parse_plan(path, text)
        check_request(request)
        self._check_options(plan.record)
        self._check_time(plan.record)
        require_id(plan, required.expect, f"ccm plan show {path} shows what it would do")
        approvers = self._approvers(text, plan.record["manifest"])
        if approvers:
            self._reporter.note(f"approved by {', '.join(approvers)}")
        check_whole(path, plan.record)
        request = request._replace(data=request.data._replace(hiera=plan.record["hiera"]))
        request = wiring.with_sources(request)
        check_unchanged(plan.record["files"], plan.record["salt"], request.data.fetched)
        words = [f"--signers={required.signers}"] if required.signers else []
        words += [f"--approvals={required.approvals}"] if required.approvals else []
        return PlanPush(plan, request, self._reporter, words=(*words, path)).run()

    def _check_options(self, record: Record) -> None:
        """UsageError for options that the plan already fixes."""
        run, data = self._request.run, self._request.data
        for name, is_set in (("--noop", run.noop), ("--monitor-only", run.monitor_only)):
            if is_set:
                hint = "ccm plan show FILE shows what it would do"
                raise UsageError(f"{name} does not apply to a plan", hint=hint)
        for name in _FIXED:
            if getattr(data, name):
                hint = "omit it; for another value, create a new plan"
                raise UsageError(f"--{name} is fixed by the plan", hint=hint)
        given_again = data.record()
        for name in ("data", "fact"):
            if sorted(given_again[name]) != sorted(record[name]):
                flags = ", ".join(f"--{name} {key}=..." for key in record[name])
                raise UsageError(
                    f"the plan was created {f'with {flags}' if flags else f'without --{name}'}",
                    hint="use the same options: a plan stores their names, not their values",
                )

    def _check_time(self, record: Record) -> None:
        from orchestrator.plan_files.plan_file import moment

        path, now = self._request.manifest, time.time()
        if now >= record["expires"]:
            ended = moment(record["expires"])
            raise _refused(f"{path} has expired; it was valid until {ended}", "create a new plan")
        if now < record["created"] - _SKEW:
            made = moment(record["created"])
            raise _refused(
                f"{path} was created in the future, at {made}", "correct the clock of this machine"
            )

    def _approvers(self, text: bytes, manifest: str) -> Sequence[str]:
        """The people who approved the plan; empty if no approval is required. UsageError,
        InputError."""
        from orchestrator.plan_files.signing import Approval, check_approved

        path, required = self._request.manifest, self._request.plan
        if not required.signers:
            if required.approvals is not None:
                hint = "set the approvers with --signers or CCM_SIGNERS"
                raise UsageError("--approvals requires --signers", hint=hint)
            return ()
        approval = Approval(required.signers, required.approvals or 1)
        return check_approved(path, text, approval, manifest)


class PlanPush:
    """The push of a plan that was checked; ``words`` name its file on a command line."""

    def __init__(
        self, plan: PlanFile, request: RunRequest, reporter: Reporter, words: tuple[str, ...] = ()
    ) -> None:
        self._request = resolved_request(request, plan.record)
        self._plan = plan
        self._reporter = reporter
        self._words = words

    def run(self) -> RunResult:
        """Push the plan to its hosts, or to the selected ones."""
        from orchestrator.image import build

        plan, request, record = self._plan, self._request, self._plan.record
        if "stages" in record:
            push, chosen = self._stages()
        else:
            wiring.refuse_stages(request, "the plan")
            chosen = self._choose()
            push = wiring.manifest_job(request)
            binder = BoundPlanner(cast("Planner", push.planner), plan)
            push = push._replace(binder=binder, remarks=tuple)
        if build(own_types(push)).sha256 != record["runtime"]:
            raise _refused(
                f"the plan was created with the runtime of ccm {record['ccm']}",
                "push it with the ccm that created it, or create a new plan",
            )
        push = push._replace(words=(*request.stages.words(), *self._words) if self._words else ())
        flow = PushFlow(request, chosen, self._reporter)
        if request.rollout.canary:
            from orchestrator.runs.canaries import collect, with_clusters

            push = with_clusters(push, collect(plan.replay()), flow)
        return flow.run(push)

    def _stages(self) -> tuple[PushJob, TargetSelection]:
        """The push of a plan's stages to the plan's hosts."""
        from orchestrator.fleet.host.stage_host import host_in, stage_in

        plan, request = self._plan, self._request
        path = plan.record["manifest"]
        hosts_of_plan = set(map(host_in, plan.hosts))
        chosen = wiring.select_targets(request.hosts, self._reporter.warn, path, hosts_of_plan)
        among = tuple(plan.record["stages"])
        staged = request._replace(stages=request.stages._replace(among=among))
        push = StagedJob(staged, chosen).job()
        if request.hosts.limit:
            standing = (host_in(host.name) for stage in push.stages for host in stage.hosts)
            _require_planned(standing, hosts_of_plan)
        self._check_left_out(push.stages)
        bound = []
        for stage in push.stages:
            binder = BoundPlanner(cast("Planner", stage.push.planner), plan, stage=stage.name)
            hosts = tuple(host for host in stage.hosts if host.name in plan.hosts)
            bound.append(stage._replace(hosts=hosts, push=stage.push._replace(binder=binder)))
        hosts_to_push = {host.name for stage in bound for host in stage.hosts}
        pushed = {stage.name for stage in bound}
        missing = [
            name for name in plan.hosts if stage_in(name) in pushed and name not in hosts_to_push
        ]
        if missing and not request.hosts.limit:
            raise _refused(
                f"hosts of the plan are no longer in their stages: {', '.join(missing[:5])}",
                "use the inventory that the plan was created with, or select hosts with -l",
            )
        if not hosts_to_push:
            raise UsageError(
                "the plan contains none of these hosts", hint="ccm plan show FILE lists its hosts"
            )
        stages = tuple(stage for stage in bound if stage.hosts)
        return push._replace(stages=stages, binder=stages[0].push.binder), chosen

    def _choose(self) -> TargetSelection:
        """Return the hosts of the plan, or only the hosts that ``-l`` selects."""
        plan, request = self._plan, self._request
        manifest = plan.record["manifest"]
        chosen = wiring.select_targets(request.hosts, self._reporter.warn, manifest, plan.hosts)
        if request.hosts.limit:
            _require_planned((host.name for host in chosen.hosts), plan.hosts)
            return chosen
        missing = [name for name in plan.hosts if name not in chosen.inventory.hosts]
        if missing:
            raise _refused(
                f"hosts of the plan are not in the inventory: {', '.join(missing[:5])}",
                "use the inventory that the plan was created with, or select hosts with -l",
            )
        return chosen._replace(hosts=[host for host in chosen.hosts if host.name in plan.hosts])

    def _check_left_out(self, stages: Sequence[PushStage]) -> None:
        """InputError if so many hosts of a stage are left out that later stages must not start."""
        from orchestrator.rollout.budget import Budget

        whole = self._request.rollout.max_fail
        left_out = self._plan.record["left_out"]
        total = sum(len(stage.hosts) for stage in stages)
        overall, every = Budget.of(whole, total, waves=False), list[str]()
        for at, stage in enumerate(stages[:-1], 1):
            lost = [host.name for host in stage.hosts if host.name in left_out]
            every += lost
            budget = Budget.of(stage.rollout.max_fail, len(stage.hosts), whole is None)
            for limit, names in ((budget.limit, lost), (overall.limit, every)):
                if limit is not None and len(names) > limit:
                    raise _refused(
                        f"the plan omits {', '.join(names[:5])}: {len(names):,} failed"
                        f" (limit {limit:,}), so the stages after {stage.name} do not start",
                        f"fix them and create a new plan; --from {stages[at].name} skips earlier"
                        " stages",
                    )


def resolved_request(request: RunRequest, record: Record) -> RunRequest:
    """The request for pushing the inputs of the plan, with the options that it fixes."""
    inventory = request.hosts.inventory or record["inventory"] or None
    return request._replace(
        manifest=record["manifest"],
        subject=Subject.STAGES if "stages" in record else Subject.MANIFEST,
        data=request.data._replace(**{name: record[name] for name in _FIXED}),
        hosts=request.hosts._replace(inventory=inventory),
    )


def require_digest(path: str, text: bytes, expected: str | None) -> None:
    """PlanError for a version of the file other than the expected one."""
    if expected is not None and hashlib.sha256(text).hexdigest() != expected:
        raise PlanError(
            f"{path} was replaced after it was confirmed: nothing was changed",
            hint="review it, and confirm it again",
        )


def require_id(plan: PlanFile, expected: str | None, hint: str) -> None:
    """PlanError with this hint if another plan was expected."""
    if expected is not None and plan.id != expected:
        raise PlanError(
            f"the plan has the ID {plan.id}, not {one_line(expected, 80)}: nothing was changed",
            hint=hint,
        )


def _require_planned(names: Iterable[str], planned: Container[str]) -> None:
    """UsageError for selected hosts that the plan does not contain."""
    unplanned = list(dict.fromkeys(name for name in names if name not in planned))
    if unplanned:
        raise UsageError(
            f"the plan does not contain {', '.join(unplanned[:5])}",
            hint="ccm plan show FILE lists its hosts",
        )


def _refused(message: str, hint: str) -> InputError:
    return InputError([Problem(message, None, hint, "input.plan")])
