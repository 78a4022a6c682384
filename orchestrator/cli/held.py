"""A push that is held to a plan that was kept (controller)."""

import os
import sys
import time
from typing import TYPE_CHECKING

from orchestrator.cli.job import Push, PushOptions
from orchestrator.cli.options import InventoryOptions, PlanWishes
from orchestrator.support.plain_text import one_line, plain
from remote_runtime.errors import InputError, PlanError, Problem, UsageError

if TYPE_CHECKING:
    from orchestrator.cli.assembly import Chosen
    from orchestrator.kept_plans.kept_plan import KeptPlan, Record

_SKEW = 300  # seconds that the clock of who made a plan may be ahead of ours


def push_plan(path: str, options: PushOptions, wishes: PlanWishes, command: str) -> int:
    """Push what a plan says, as far as its hosts are as it found them; the exit code."""
    from orchestrator.cli.pushing import check_options
    from orchestrator.kept_plans.inputs import check_unchanged
    from orchestrator.kept_plans.reading import parse_plan, read_text

    text = read_text(path)
    kept = parse_plan(path, text)
    check_options(options)
    _check_options(kept.record, options)
    _check_time(path, kept.record)
    require_id(kept, wishes.expect)
    _check_approved(path, text, wishes, kept)
    check_unchanged(kept.record["files"], kept.record["salt"])
    return push_kept(kept, options, command)


def push_kept(kept: "KeptPlan", options: PushOptions, command: str) -> int:
    """The same of a plan that is known to be whole, valid and of these files."""
    from orchestrator.cli import assembly
    from orchestrator.cli.pushing import carry_out
    from orchestrator.image import build
    from orchestrator.kept_plans.holding import HeldPlanner
    from orchestrator.manifest.identity import identity

    record = kept.record
    data = options.data._replace(hiera=record["hiera"], facts=record["facts"])
    inventory = options.where.inventory or record["inventory"] or None
    options = options._replace(data=data, where=options.where._replace(inventory=inventory))
    chosen = _choose(kept, options.where)
    site, planner = assembly.planner(record["manifest"], data._replace(run=options.run))
    if build(site.types.sources()).sha256 != record["runtime"]:
        raise _refused(
            f"the plan was made with another runtime, that of ccm {record['ccm']}",
            "push it with the ccm that made it, or plan anew",
        )
    path = os.path.abspath(record["manifest"])
    held = HeldPlanner(planner, kept)
    push = Push(command, path, site, planner, identity=identity(path), binder=held)
    return carry_out(push, options, chosen)


def require_id(kept: "KeptPlan", expected: str | None) -> None:
    """PlanError where another plan was expected."""
    if expected is not None and kept.id != expected:
        raise PlanError(
            f"the plan is {kept.id} now, not {one_line(expected, 80)}: nothing was changed",
            hint="ccm plan shows what it would do now",
        )


def _check_approved(path: str, text: bytes, wishes: PlanWishes, kept: "KeptPlan") -> None:
    from orchestrator.kept_plans.signing import Approval, check_approved

    signers = wishes.signers or os.environ.get("CCM_SIGNERS")
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
    for name, settled in (("--hiera", data.hiera), ("--facts", data.facts)):
        if settled:
            hint = "leave it out; for others plan anew"
            raise UsageError(f"{name} is settled by the plan", hint=hint)
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

    chosen = assembly.choose(where, kept.record["manifest"])
    if where.limit:
        others = [host.name for host in chosen.hosts if host.name not in kept.hosts]
        if others:
            raise UsageError(
                f"the plan is not for {', '.join(others[:5])}",
                hint="ccm plan show FILE names its hosts",
            )
        return chosen
    missing = [name for name in kept.hosts if name not in chosen.inventory.hosts]
    if missing:
        raise _refused(
            f"{', '.join(missing[:5])}, which the plan is for, is not in the inventory",
            "name the inventory that it was made with, or pick hosts with -l",
        )
    return chosen._replace(hosts=[host for host in chosen.hosts if host.name in kept.hosts])


def _refused(message: str, hint: str) -> InputError:
    return InputError([Problem(message, None, hint, "input.plan")])
