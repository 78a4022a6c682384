"""From a manifest and hosts to a plan that is kept (controller)."""

import os
import sys
import time
from typing import TYPE_CHECKING, Any, cast

from orchestrator.cli.exit_code import INTERRUPTED, stronger
from orchestrator.cli.job import Push, PushOptions
from orchestrator.cli.stages import StageChoice
from remote_runtime.errors import UsageError
from remote_runtime.item import SELECTION
from remote_runtime.version import VERSION

if TYPE_CHECKING:
    from orchestrator.cli.output import Output
    from orchestrator.kept_plans.kept_plan import KeptPlan
    from orchestrator.kept_plans.making import PlanMaker
    from orchestrator.planning import Planner
    from orchestrator.planning.behind import HostPlanner

_DAY = 86_400.0


def make_plan(
    manifest: str, options: PushOptions, *, choice: StageChoice, out: str | None, valid: float
) -> int:
    """Preview, and keep that in a file for ``valid`` seconds; the exit code of the preview."""
    from orchestrator.cli.output import Output
    from orchestrator.kept_plans.kept_plan import moment
    from orchestrator.kept_plans.reading import require_place, write_plan

    if out is not None:
        require_place(out)
        _require_files(manifest, options)
    title = f"plan of {os.path.basename(manifest)}"
    output = Output(options.output, options.run, lambda: title)
    code, kept = _preview(manifest, options, output=output, choice=choice, valid=valid)
    if kept is None:
        return code
    if out is not None:
        write_plan(kept, out)
        output.say(f"the plan is in {out}; it can be pushed until {moment(kept.record['expires'])}")
        _say_who_can_write(out, output)
    output.human.write(f"{kept.id}\n" if options.output.quiet else f"plan {kept.id}\n")
    return code


def push_expected(
    manifest: str, options: PushOptions, *, expected: str, command: str, choice: StageChoice
) -> int:
    """Plan anew, and push that if it is the plan that was expected; the exit code."""
    from orchestrator.cli import held
    from orchestrator.cli.output import Output, OutputOptions

    run = options.run
    if run.noop or run.monitor_only:
        raise UsageError("--expect is of a push", hint="ccm plan shows the id of a plan")
    before = options._replace(run=run._replace(noop=True), output=OutputOptions(quiet=True))
    output = Output(before.output, before.run)
    output.human = sys.stderr
    code, kept = _preview(manifest, before, output=output, choice=choice, valid=_DAY)
    if kept is None:
        return code
    held.require_id(kept, expected)
    return held.push_kept(kept, options, command=command, choice=choice)


def _preview(
    manifest: str,
    options: PushOptions,
    *,
    output: "Output",
    choice: StageChoice,
    valid: float,
) -> "tuple[int, KeptPlan | None]":
    """Preview; its exit code, and the plan that it makes for at least one host."""
    from orchestrator.cli import assembly
    from orchestrator.cli.pushing import carry_out, check_options
    from orchestrator.cli.stages import refuse_choice, staged_push
    from orchestrator.manifest.identity import identity
    from orchestrator.rollout.recognising import is_stages

    check_options(options)
    chosen = assembly.choose(options.where, manifest)
    if is_stages(manifest):
        push = staged_push("plan", manifest, options=options, chosen=chosen, choice=choice)
    else:
        refuse_choice(choice, "plan", manifest)
        data = options.data._replace(run=options.run)
        site, planner = assembly.planner(manifest, data)
        path = os.path.abspath(manifest)
        remarks = planner.unmatched
        push = Push(
            "plan", path, site, planner, identity=identity(path), remarks=remarks, data=data
        )
    push, maker = _kept_by(push)
    created = int(time.time())
    code = carry_out(push, options, chosen, output)
    if code == INTERRUPTED:
        return code, None
    about = {**_about(manifest, options, push), "created": created, "expires": created + int(valid)}
    kept = maker.finish(about, _named_files(manifest, options))
    for host, why in maker.too_large().items():
        output.say(f"{host} is left out of the plan: {why}")
        code = stronger(code, 1)
    if kept.hosts:
        return code, kept
    output.say("no plan was made: it would be for no host")
    return code, None


def _kept_by(push: Push) -> "tuple[Push, PlanMaker]":
    """The same push with what makes a plan of it."""
    from orchestrator.kept_plans.making import PlanMaker

    planners = [cast("Planner", one.planner) for one in push.pushes]
    maker = PlanMaker(planners[0], planners)
    stages = tuple(
        stage._replace(
            push=stage.push._replace(
                binder=maker.of_stage(stage.name, cast("HostPlanner", stage.push.binder))
            )
        )
        for stage in push.stages
    )
    return push._replace(told=(maker,), binder=maker, stages=stages), maker


def _named_files(manifest: str, options: PushOptions) -> list[str]:
    """The files that the command line names; an inventory may be a program."""
    return [manifest, *(options.where.inventory or ()), *options.data.hiera, *options.data.facts]


def _require_files(manifest: str, options: PushOptions) -> None:
    """UsageError for what a push could not find again, such as the pipe of ``<(command)``."""
    for path in _named_files(manifest, options):
        if os.path.exists(path) and not os.path.isfile(path):
            raise UsageError(
                f"{path} is not a regular file, so the push cannot check that it is the same",
                hint="write it to a file first",
            )


def _say_who_can_write(out: str, output: "Output") -> None:
    """Warn where a push of the plan would be refused for its place."""
    from orchestrator.kept_plans.reading import require_own_file
    from remote_runtime.errors import InputError

    try:
        require_own_file(out)
    except InputError as error:
        output.say(f"warning: ccm push refuses the plan as it is: {error}")


def _about(manifest: str, options: PushOptions, push: Push) -> dict[str, Any]:
    """What the plan says of itself."""
    from orchestrator.cli.pushing import own_types, user_at_host
    from orchestrator.image import build
    from orchestrator.kept_plans.inputs import here

    data = options.data
    inventory = options.where.inventory or []
    given = data.record()
    return {
        "ccm": VERSION,
        "runtime": build(own_types(push)).sha256,
        "user": user_at_host(),
        "manifest": here(manifest),
        "inventory": [here(one) if os.path.exists(one) else one for one in inventory],
        "hiera": list(map(here, data.hiera)),
        "facts": list(map(here, data.facts)),
        "data": given["data"],
        "fact": given["fact"],
        **{name: list(getattr(data, name)) for name in SELECTION},
        **({"stages": [stage.name for stage in push.stages]} if push.stages else {}),
    }
