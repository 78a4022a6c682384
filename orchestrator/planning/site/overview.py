"""Reads the manifests of a run before any host is contacted (controller)."""

from __future__ import annotations

from orchestrator.language.errors import NEEDS
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site
from orchestrator.planning.plan_options import PlanOptions
from orchestrator.planning.run_data import INHERIT, RunData
from orchestrator.planning.site.duplicates import differences
from orchestrator.planning.site.manifests import AppliedManifest, Refusal, RunManifest, RunManifests
from remote_runtime.errors import Problem
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import Item

_STRENGTHENED = ("noop", "health_check_only")  # of an apply: it can enable them, never disable


class SiteOverview:
    """The result of reading a manifest, and the manifests that it applies by literal paths, once
    for every command.

    ``problems`` refuse the run, ``warnings`` do not. ``conditional`` are mistakes in children that
    ``control`` may leave out: they refuse only hosts with these children. ``failing`` are the
    resources that cannot apply their child, each with the reason. ``unread`` are children on other
    machines that were not contacted. ``parts`` are the manifests. ``is_whole``: no host has other
    resources. ``rows`` has each resource after its parents. ``resources`` and ``manifests`` are
    counts; a manifest that is applied twice counts as two. ``templates`` generate additional
    resources.
    """

    def __init__(self, root: AppliedManifest, run: RunOptions) -> None:
        self.warnings: list[Problem] = []
        self.conditional: list[Problem] = []
        self.failing: list[tuple[DeclaredResource, Problem]] = []
        self.unread: list[Problem] = []
        self.resources = 0
        self.manifests = 0
        self.templates: dict[str, None] = {}
        self.parts: dict[RunManifest, None] = {}
        self.is_whole = True
        self.rows: list[tuple[DeclaredResource, ...]] = []
        self._certain: list[tuple[DeclaredResource, Item]] = []
        self._broken: list[Problem] = []
        switched = zip(_STRENGTHENED, (run.noop, run.monitor_only), strict=True)
        self._enter(root, (), certain=True, on=frozenset(key for key, on in switched if on))
        self.warnings = list(dict.fromkeys(self.warnings))
        self.problems = list(dict.fromkeys(self._broken))
        self.problems += differences(self._certain) if self.manifests > 1 else []
        self.conditional = list(dict.fromkeys(self.conditional))

    def _enter(
        self,
        place: AppliedManifest,
        above: tuple[DeclaredResource, ...],
        *,
        certain: bool,
        on: frozenset[str],
    ) -> None:
        """Visit a manifest that ``above`` applies.

        ``certain``: every host has these resources. ``on``: the switches that its parents enabled.
        """
        part = place.part
        self.manifests += 1
        self.is_whole &= not part.is_generated
        if part.site.resources_template:
            self.templates[part.site.resources_template.name] = None
        self.resources += len(part.declared.declared)
        if part not in self.parts:
            self.parts[part] = None
            self.warnings += part.warnings
        for index, declared in enumerate(part.declared.declared):
            row = (*above, declared)
            self.rows.append(row)
            compiled = part.declared.shared(index)
            if certain and compiled:
                self._certain.append((declared, compiled.item))
            if declared.type.applies:
                self._weaken(declared, on)
                self.is_whole &= declared.child is not None
                if declared.child is not None:
                    sure = certain and declared.is_static
                    self._child(place, row, path=declared.child, certain=sure, on=on)

    def _weaken(self, declared: DeclaredResource, on: frozenset[str]) -> None:
        for key in _STRENGTHENED:
            if key in on and declared.values.get(key) is False:
                message = (
                    f"{declared.id}: {key}: false changes nothing, because {key} is on for the "
                    "whole manifest and cannot be switched off"
                )
                self.warnings.append(Problem(message, declared.where((key,))))

    def _child(
        self,
        place: AppliedManifest,
        row: tuple[DeclaredResource, ...],
        *,
        path: str,
        certain: bool,
        on: frozenset[str],
    ) -> None:
        declared = row[-1]
        may_apply = declared.values.get("allow_apply") is not False
        child = place.child(declared, path, may_apply)
        problems = child.problems if isinstance(child, Refusal) else _data_problems(child, declared)
        if problems or isinstance(child, Refusal):
            if all(one.kind in NEEDS for one in problems):
                self.unread += problems
                self.is_whole = False
            elif isinstance(child, Refusal) and child.denied:
                self.failing.append((declared, problems[0]))
                place.reported.add(declared)
            elif any(one.control for one in row):
                self.conditional += problems
                self.failing.append((declared, problems[0]))
            else:
                self._broken += problems
            return
        own = {key for key in _STRENGTHENED if declared.values.get(key) is True}
        self._enter(child, row, certain=certain, on=on | own)


def mistakes_within(site: Site, options: PlanOptions) -> list[Problem]:
    """The template mistakes of a child manifest and of the manifests that it applies, for any
    parent; without those in its parents' data.
    """
    run_data = RunData(options, [], [])
    part = RunManifest(site, run_data, is_child=True)
    survey = SiteOverview(AppliedManifest(part, RunManifests(run_data)), options.run)
    failing = (problem for _, problem in survey.failing)
    return [*part.problems, *survey.problems, *survey.conditional, *failing]


def _data_problems(place: AppliedManifest, declared: DeclaredResource) -> tuple[Problem, ...]:
    if "data" in declared.templated or INHERIT in declared.values:
        return ()
    handed = declared.values.get("data") or {}
    resolved = place.part.data.shared(declared, handed)
    if resolved is None:
        return tuple(place.part.data.undeclared(place.part.site.asks, handed))
    return tuple(resolved.problems)
