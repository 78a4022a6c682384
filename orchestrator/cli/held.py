"""A push that is held to a plan that was kept (controller)."""

import os
import sys
import time
from typing import TYPE_CHECKING, cast

from orchestrator.cli.job import Push, PushOptions
from orchestrator.cli.options import InventoryOptions, PlanWishes
from orchestrator.cli.stages import StageChoice, refuse_choice
from orchestrator.support.plain_text import one_line, plain
from remote_runtime.errors import InputError, PlanError, Problem, UsageError
from remote_runtime.item import SELECTION

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from orchestrator.cli.assembly import Chosen
    from orchestrator.cli.job import PushStage
    from orchestrator.kept_plans.kept_plan import KeptPlan, Record
    from orchestrator.planning import Planner

_SETTLED = ("hiera", "facts", *SELECTION)  # options that a plan keeps, values and all
_SKEW = 300  # seconds that the clock of who made a plan may be ahead of ours


def push_plan(
    path: str, options: PushOptions, *, wishes: PlanWishes, command: str, choice: StageChoice
) -> int:
    """Push what a plan says, as far as its hosts are as it found them; the exit code."""
    from orchestrator.cli.pushing import check_options
    from orchestrator.kept_plans.inputs import check_unchanged, check_whole
    from orchestrator.kept_plans.reading import parse_plan, read_text

    text = read_text(path, own=not wishes.signers)
    kept = parse_plan(path, text)
    check_options(options)
    _check_options(kept.record, options)
    _check_time(path, kept.record)
    require_id(kept, wishes.expect)
    _check_approved(path, text, wishes, kept)
    check_whole(path, kept.record)
    check_unchanged(kept.record["files"], kept.record["salt"])
    words = [f"--signers={wishes.signers}"] if wishes.signers else []
    words += [f"--approvals={wishes.approvals}"] if wishes.approvals else []
    return push_kept(kept, options, command=command, choice=choice, words=(*words, path))


def push_kept(
    kept: "KeptPlan",
    options: PushOptions,
    *,
    command: str,
    choice: StageChoice,
    words: tuple[str, ...] = (),
) -> int:
    """The same of a plan that is known to be whole, valid and of these files; ``words`` name it on
    a command line, where it has a file."""
    from orchestrator.cli import assembly
    from orchestrator.cli.pushing import carry_out, own_types
    from orchestrator.image import build
    from orchestrator.kept_plans.holding import HeldPlanner
    from orchestrator.manifest.identity import identity

    record = kept.record
    settled = {name: record[name] for name in _SETTLED}
    data = options.data._replace(**settled)
    inventory = options.where.inventory or record["inventory"] or None
    options = options._replace(data=data, where=options.where._replace(inventory=inventory))
    if "stages" in record:
        push, chosen = _held_stages(kept, options, command=command, choice=choice)
    else:
        refuse_choice(choice, command, "the plan")
        chosen = _choose(kept, options.where)
        data = data._replace(run=options.run)
        site, planner = assembly.planner(record["manifest"], data)
        path = os.path.abspath(record["manifest"])
        held = HeldPlanner(planner, kept)
        push = Push(command, path, site, planner, identity=identity(path), binder=held, data=data)
    if build(own_types(push)).sha256 != record["runtime"]:
        raise _refused(
            f"the plan was made with another runtime, that of ccm {record['ccm']}",
            "push it with the ccm that made it, or plan anew",
        )
    push = push._replace(words=(*choice.words(), *words) if words else ())
    if options.rollout.canary:
        from orchestrator.cli.canaries import behind_canaries, heard

        push = behind_canaries(push, options, heard(kept.replay()), chosen)
    return carry_out(push, options, chosen)


def _held_stages(
    kept: "KeptPlan", options: PushOptions, *, command: str, choice: StageChoice
) -> "tuple[Push, Chosen]":
    """The push of the stages that a plan is of, to the hosts that it is for."""
    from orchestrator.cli import assembly
    from orchestrator.cli.stages import staged_push
    from orchestrator.fleet.stage_host import host_in, stage_in
    from orchestrator.kept_plans.holding import HeldPlanner

    path = kept.record["manifest"]
    chosen = assembly.choose(options.where, path, set(map(host_in, kept.hosts)))
    settled = choice._replace(among=tuple(kept.record["stages"]))
    push = staged_push(command, path, options=options, chosen=chosen, choice=settled)
    if options.where.limit:
        standing = (host_in(host.name) for stage in push.stages for host in stage.hosts)
        _require_planned(standing, set(map(host_in, kept.hosts)))
    _check_left_out(push.stages, kept, options)
    held = []
    for stage in push.stages:
        binder = HeldPlanner(cast("Planner", stage.push.planner), kept, stage=stage.name)
        hosts = tuple(host for host in stage.hosts if host.name in kept.hosts)
        held.append(stage._replace(hosts=hosts, push=stage.push._replace(binder=binder)))
    known = {host.name for stage in held for host in stage.hosts}
    pushed = {stage.name for stage in held}
    missing = [name for name in kept.hosts if stage_in(name) in pushed and name not in known]
    if missing and not options.where.limit:
        raise _refused(
            f"{', '.join(missing[:5])}, which the plan is for, is not in that stage any more",
            "name the inventory that it was made with, or pick hosts with -l",
        )
    if not known:
        raise UsageError(
            "the plan is for none of these hosts", hint="ccm plan show FILE names its hosts"
        )
    stages = tuple(stage for stage in held if stage.hosts)
    return push._replace(stages=stages, binder=stages[0].push.binder), chosen


def require_id(kept: "KeptPlan", expected: str | None) -> None:
    """PlanError where another plan was expected."""
    if expected is not None and kept.id != expected:
        raise PlanError(
            f"the plan is {kept.id} now, not {one_line(expected, 80)}: nothing was changed",
            hint="ccm plan shows what it would do now",
        )


def _check_approved(path: str, text: bytes, wishes: PlanWishes, kept: "KeptPlan") -> None:
    from orchestrator.kept_plans.signing import Approval, check_approved

    signers = wishes.signers
    if not signers:
        if wishes.approvals is not None:
            hint = "name those who may approve with --signers or CCM_SIGNERS"
            raise UsageError("--approvals: whose is not said", hint=hint)
        return
    approval = Approval(signers, wishes.approvals or 1)
    people = check_approved(path, text, approval, kept.record["manifest"])
    print(plain(f"ccm: approved by {', '.join(people)}"), file=sys.stderr)


def _check_options(record: "Record", options: PushOptions) -> None:
    """UsageError for what a plan has settled already."""
    run, data = options.run, options.data
    for name, given in (("--noop", run.noop), ("--monitor-only", run.monitor_only)):
        if given:
            hint = "ccm plan show FILE shows what it would do"
            raise UsageError(f"{name} has no meaning for a plan", hint=hint)
    for name in _SETTLED:
        if getattr(data, name):
            hint = "leave it out; for others plan anew"
            raise UsageError(f"--{name} is settled by the plan", hint=hint)
    given_again = data.record()
    for name in ("data", "fact"):
        if sorted(given_again[name]) != sorted(record[name]):
            wanted = ", ".join(f"--{name} {key}=..." for key in record[name]) or f"no --{name}"
            raise UsageError(
                f"the plan was made with {wanted}",
                hint="give the same again: a plan keeps names, no values",
            )


def _check_time(path: str, record: "Record") -> None:
    from orchestrator.kept_plans.kept_plan import moment

    now = time.time()
    if now >= record["expires"]:
        ended = moment(record["expires"])
        raise _refused(f"{path} has expired, it was valid until {ended}", "plan anew")
    if now < record["created"] - _SKEW:
        made = moment(record["created"])
        raise _refused(
            f"{path} was made in the future, at {made}", "set the clock of this machine right"
        )


def _choose(kept: "KeptPlan", where: InventoryOptions) -> "Chosen":
    """The hosts of the plan, or those of them that ``-l`` picks."""
    from orchestrator.cli import assembly

    chosen = assembly.choose(where, kept.record["manifest"], kept.hosts)
    if where.limit:
        _require_planned((host.name for host in chosen.hosts), kept.hosts)
        return chosen
    missing = [name for name in kept.hosts if name not in chosen.inventory.hosts]
    if missing:
        raise _refused(
            f"{', '.join(missing[:5])}, which the plan is for, is not in the inventory",
            "name the inventory that it was made with, or pick hosts with -l",
        )
    return chosen._replace(hosts=[host for host in chosen.hosts if host.name in kept.hosts])


def _require_planned(names: "Iterable[str]", planned: "Container[str]") -> None:
    """UsageError for hosts that were picked and that a plan is not for."""
    others = list(dict.fromkeys(name for name in names if name not in planned))
    if others:
        raise UsageError(
            f"the plan is not for {', '.join(others[:5])}",
            hint="ccm plan show FILE names its hosts",
        )


def _check_left_out(stages: "Sequence[PushStage]", kept: "KeptPlan", options: PushOptions) -> None:
    """InputError where a plan has left out so many hosts of a stage that those behind it must not
    begin."""
    from orchestrator.rollout.budget import Budget

    whole = options.rollout.max_fail
    total = sum(len(stage.hosts) for stage in stages)
    overall, every = Budget.of(whole, total, waves=False), list[str]()
    for at, stage in enumerate(stages[:-1], 1):
        lost = [host.name for host in stage.hosts if host.name in kept.record["left_out"]]
        every += lost
        budget = Budget.of(stage.rollout.max_fail, len(stage.hosts), whole is None)
        for limit, names in ((budget.limit, lost), (overall.limit, every)):
            if limit is not None and len(names) > limit:
                raise _refused(
                    f"the plan leaves out {', '.join(names[:5])}: {len(names):,} failed there,"
                    f" {limit:,} may, so the stages behind {stage.name} do not begin",
                    f"plan anew once that is well; --from {stages[at].name} takes it for done",
                )


def _refused(message: str, hint: str) -> InputError:
    return InputError([Problem(message, None, hint, "input.plan")])
