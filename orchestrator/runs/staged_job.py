"""Prepares a push in stages from a stages file and the hosts (controller)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from orchestrator.manifest.identity import identity
from orchestrator.runs import wiring
from orchestrator.runs.push_job import PushJob, PushStage
from remote_runtime.errors import InputError, Problem, UsageError
from remote_runtime.plan_item import SELECTION
from remote_runtime.text.suggestions import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inventory import Host
    from orchestrator.fleet.host.stage_host import StageHost
    from orchestrator.planning import PlanOptions
    from orchestrator.planning.host_secrets import HostSecrets
    from orchestrator.rollout.stages import Stage
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.wiring import TargetSelection


class StagedJob:
    """The pushes of the selected stages to their hosts among the ``chosen`` ones."""

    def __init__(self, request: RunRequest, chosen: TargetSelection) -> None:
        self._request = request
        self._chosen = chosen

    def job(self) -> PushJob:
        """Read and check the stages and their manifests; no host is contacted.

        InputError with every mistake, including those in the manifests; UsageError.
        """
        from orchestrator.fleet.host.stage_host import StageHost
        from orchestrator.planning.host_secrets import HostSecrets

        request, path = self._request, self._request.manifest
        stages = self._chosen_stages()
        self._refuse(len(stages))
        hosts = self._hosts_of(stages)
        selected = {host.name for host in self._chosen.hosts}
        prepared: list[PushStage] = []
        problems: list[Problem] = []
        secrets: HostSecrets | None = None
        for stage in stages:
            stage_hosts = tuple(
                StageHost(stage.name, host) for host in hosts[stage.name] if host.name in selected
            )
            secrets = HostSecrets(secrets)
            try:
                made = self._stage(stage, hosts=stage_hosts, secrets=secrets)
            except InputError as error:
                problems += stage.placed(error)
                continue
            if made.hosts:
                prepared.append(made)
        if problems:
            raise InputError(list(dict.fromkeys(problems)))
        if not prepared:
            raise UsageError(
                f"{request.command}: none of the selected hosts is in a stage of {path}",
                hint="select other hosts with -l, or stages with --from",
            )
        if request.data.data:
            from orchestrator.planning.site.unknown_data import keep_common

            keep_common([stage.push.site for stage in prepared if stage.push.site is not None])
        if request.run.noop:
            prepared = list(_in_sequence(prepared))
        whole = os.path.abspath(path)
        first = prepared[0].push
        remarks = [stage.push.remarks for stage in prepared]
        return first._replace(
            what=whole,
            identity=identity(whole),
            binder=None,
            words=(*request.stages.words(), whole),
            stages=tuple(prepared),
            remarks=lambda: [text for texts in remarks for text in texts()],
        )

    def _chosen_stages(self) -> list[Stage]:
        """The selected stages; InputError for an invalid file, UsageError."""
        from orchestrator.rollout.stages import read_stages

        path, choice = self._request.manifest, self._request.stages
        stages = read_stages(path)
        if choice.among:
            stages = [stage for stage in stages if stage.name in choice.among]
        names = [stage.name for stage in stages]
        first = choice.stage if choice.begin is None else choice.begin
        if first is None:
            return stages
        if first not in names:
            guess = nearest(first, names)
            hint = f"did you mean {guess}?" if guess else f"known stages: {', '.join(names)}"
            raise UsageError(f"{path} has no stage {first[:60]!r}", hint=hint)
        at = names.index(first)
        return stages[at:] if choice.begin else stages[at : at + 1]

    def _stage(
        self,
        stage: Stage,
        *,
        hosts: tuple[StageHost, ...],
        secrets: HostSecrets,
    ) -> PushStage:
        request = self._request
        data = request.data._replace(run=request.run, handed=stage.data)
        site, planner = wiring.planner(stage.manifest, data)
        planner.host_secrets = secrets
        path = os.path.abspath(stage.manifest)
        push = PushJob(
            request.command,
            path,
            site,
            planner,
            identity=identity(path),
            remarks=planner.unmatched,
            data=data,
        )
        return PushStage(stage.name, push, hosts, stage.rollout(request.rollout))

    def _refuse(self, stages: int) -> None:
        """UsageError for options that do not apply to several manifests."""
        if self._request.rollout.canary:
            hint = "put a stage with 'take: 1' before the others"
            raise UsageError("--canary is not supported with stages", hint=hint)
        if self._request.verify:
            hint = "write 'gate: verify' in each stage to verify"
            raise UsageError("--verify is not supported with stages", hint=hint)
        refuse_part(self._request.data, stages)

    def _hosts_of(self, stages: list[Stage]) -> dict[str, list[Host]]:
        """The hosts of each stage, before selection; InputError for a pattern without hosts."""
        hosts: dict[str, list[Host]] = {}
        problems: list[Problem] = []
        runs = wiring.past_runs(self._request.hosts, self._request.manifest)
        for stage in stages:
            try:
                hosts[stage.name] = self._chosen.inventory.select(stage.hosts, runs)[: stage.take]
            except InputError as error:
                problems += [
                    one._replace(where=one.where or stage.hosts_at) for one in error.problems
                ]
        if problems:
            raise InputError(problems)
        return hosts


def _in_sequence(stages: list[PushStage]) -> Iterator[PushStage]:
    """The stages of a preview: each host includes the effects of its earlier stages."""
    from orchestrator.planning.staged_preview import EarlierStage, StagedPlanner

    before: list[EarlierStage] = []
    for stage in stages:
        push = stage.push
        planner: Any = push.planner
        binder = StagedPlanner(planner, tuple(before))
        yield stage._replace(push=push._replace(binder=binder))
        names = frozenset(host.host.name for host in stage.hosts)
        before.append(EarlierStage(stage.name, names, planner, push.identity))


def refuse_part(data: PlanOptions, stages: int) -> None:
    """UsageError for options that select a part of a manifest, if there are several manifests."""
    options = [name for name in SELECTION if getattr(data, name)]
    if options and stages > 1:
        hint = "select the stage with --stage"
        raise UsageError(f"--{options[0]} applies to one manifest only", hint=hint)
