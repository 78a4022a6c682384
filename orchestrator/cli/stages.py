"""A push in stages: from their file and the hosts to what is pushed (controller)."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from remote_runtime.errors import InputError, Problem, UsageError
from remote_runtime.item import SELECTION
from remote_runtime.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inventory import Host, Inventory
    from orchestrator.cli.assembly import Chosen
    from orchestrator.cli.job import Push, PushOptions, PushStage
    from orchestrator.fleet.stage_host import StageHost
    from orchestrator.planning import PlanOptions
    from orchestrator.planning.host_secrets import HostSecrets
    from orchestrator.rollout.stages import Stage


class StageChoice(NamedTuple):
    """Which stages of a file are meant: from the one named ``begin`` on, or ``stage`` alone.

    With names in ``among`` these only, which are those of a plan.
    """

    begin: str | None = None
    stage: str | None = None
    among: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """Those of a command line that say the same."""
        given = (("--from", self.begin), ("--stage", self.stage))
        return [word for flag, name in given if name is not None for word in (flag, name)]


def add_stage_choice(parser: argparse.ArgumentParser) -> None:
    """Which stages of a file of stages are meant."""
    group = parser.add_argument_group("stages").add_mutually_exclusive_group()
    group.add_argument(
        "--from",
        metavar="STAGE",
        dest="begin",
        help="begin with this stage; those before it are taken for done",
    )
    group.add_argument("--stage", metavar="STAGE", help="this stage alone")


def read_stage_choice(args: argparse.Namespace) -> StageChoice:
    """What ``add_stage_choice`` takes."""
    return StageChoice(args.begin, args.stage)


def refuse_choice(choice: StageChoice, command: str, path: str) -> None:
    """UsageError where a manifest is to be pushed, and stages of it are named."""
    for option, name in (("--from", choice.begin), ("--stage", choice.stage)):
        if name is not None:
            raise UsageError(
                f"{command}: {option} {name[:60]} picks a stage, and {path} has none",
                hint="leave it out, or give a file with 'stages:'",
            )


def chosen_stages(path: str, choice: StageChoice) -> list[Stage]:
    """The stages that are meant; InputError for a file that is wrong, UsageError."""
    from orchestrator.rollout.stages import read_stages

    stages = read_stages(path)
    if choice.among:
        stages = [stage for stage in stages if stage.name in choice.among]
    names = [stage.name for stage in stages]
    wanted = choice.stage if choice.begin is None else choice.begin
    if wanted is None:
        return stages
    if wanted not in names:
        guess = nearest(wanted, names)
        hint = f"did you mean {guess}?" if guess else f"there are {', '.join(names)}"
        raise UsageError(f"{path} has no stage {wanted[:60]!r}", hint=hint)
    at = names.index(wanted)
    return stages[at:] if choice.begin else stages[at : at + 1]


def staged_push(
    command: str, path: str, *, options: PushOptions, chosen: Chosen, choice: StageChoice
) -> Push:
    """All that the stages of a file push to those of the ``chosen`` hosts that are theirs.

    InputError with every mistake, in their manifests too; UsageError. No host is contacted.
    """
    from orchestrator.fleet.stage_host import StageHost
    from orchestrator.manifest.identity import identity
    from orchestrator.planning.host_secrets import HostSecrets

    stages = chosen_stages(path, choice)
    _refuse(options, len(stages))
    hosts = _hosts_of(stages, path, chosen.inventory)
    selected = {host.name for host in chosen.hosts}
    found: list[PushStage] = []
    problems: list[Problem] = []
    secrets: HostSecrets | None = None
    for stage in stages:
        meant = tuple(
            StageHost(stage.name, host) for host in hosts[stage.name] if host.name in selected
        )
        secrets = HostSecrets(secrets)
        try:
            made = _stage(command, stage, options=options, hosts=meant, secrets=secrets)
        except InputError as error:
            problems += stage.placed(error)
            continue
        if made.hosts:
            found.append(made)
    if problems:
        raise InputError(list(dict.fromkeys(problems)))
    if not found:
        raise UsageError(
            f"{command}: none of the selected hosts is in a stage of {path}",
            hint="pick others with -l, or stages with --from",
        )
    if options.data.data:
        from orchestrator.planning.unknown_data import keep_common

        keep_common([stage.push.site for stage in found if stage.push.site is not None])
    if options.run.noop:
        found = list(_behind_each_other(found))
    whole = os.path.abspath(path)
    first = found[0].push
    remarks = [stage.push.remarks for stage in found]
    return first._replace(
        what=whole,
        identity=identity(whole),
        binder=None,
        words=(*choice.words(), whole),
        stages=tuple(found),
        remarks=lambda: [text for told in remarks for text in told()],
    )


def _stage(
    command: str,
    stage: Stage,
    *,
    options: PushOptions,
    hosts: tuple[StageHost, ...],
    secrets: HostSecrets,
) -> PushStage:
    from orchestrator.cli import assembly
    from orchestrator.cli.job import Push, PushStage
    from orchestrator.manifest.identity import identity

    data = options.data._replace(run=options.run, handed=stage.data)
    site, planner = assembly.planner(stage.manifest, data)
    planner.host_secrets = secrets
    path = os.path.abspath(stage.manifest)
    push = Push(
        command,
        path,
        site,
        planner,
        identity=identity(path),
        remarks=planner.unmatched,
        data=data,
    )
    return PushStage(stage.name, push, hosts, stage.rollout(options.rollout))


def _behind_each_other(stages: list[PushStage]) -> Iterator[PushStage]:
    """The stages of a preview: each host sees there what the stages before would leave on it."""
    from orchestrator.planning.behind import EarlierStage, PlannerBehind

    before: list[EarlierStage] = []
    for stage in stages:
        push = stage.push
        planner: Any = push.planner
        binder = PlannerBehind(planner, tuple(before))
        yield stage._replace(push=push._replace(binder=binder))
        names = frozenset(host.host.name for host in stage.hosts)
        before.append(EarlierStage(stage.name, names, planner, push.identity))


def _refuse(options: PushOptions, stages: int) -> None:
    """UsageError for options that say nothing of more than one manifest."""
    if options.rollout.canary:
        hint = "put a stage with 'take: 1' before the others"
        raise UsageError("--canary does not go with stages", hint=hint)
    if options.verify:
        hint = "write 'gate: verify' in each stage that is to be looked at again"
        raise UsageError("--verify does not go with stages", hint=hint)
    refuse_part(options.data, stages)


def refuse_part(data: PlanOptions, stages: int) -> None:
    """UsageError for what chooses a part of a manifest where there are several."""
    given = [name for name in SELECTION if getattr(data, name)]
    if given and stages > 1:
        hint = "name the stage that it is a part of with --stage"
        raise UsageError(f"--{given[0]} chooses a part of one manifest", hint=hint)


def _hosts_of(stages: list[Stage], path: str, inventory: Inventory) -> dict[str, list[Host]]:
    """The hosts of each stage, whoever of them is selected; InputError for a pattern that has
    none."""
    from orchestrator.fleet.past_runs import PastRuns

    found: dict[str, list[Host]] = {}
    problems: list[Problem] = []
    runs = PastRuns(path)
    for stage in stages:
        try:
            found[stage.name] = inventory.select(stage.hosts, runs)[: stage.take]
        except InputError as error:
            problems += [one._replace(where=one.where or stage.hosts_at) for one in error.problems]
    if problems:
        raise InputError(problems)
    return found
