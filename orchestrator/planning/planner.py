"""Makes the plans of one run (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.expressions import EvaluationError, Scope
from orchestrator.expressions.files import Folder
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.references import Named, check_names
from orchestrator.manifest.site import Site
from orchestrator.manifest.values import expressions_in
from orchestrator.planning.compiled import Compiled
from orchestrator.planning.data import RunData, plan_error
from orchestrator.planning.facts import FactOverlay, Gathered
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.options import PlanOptions
from orchestrator.planning.rendering import Rendering
from orchestrator.planning.resources import GeneratedResources, Resources
from orchestrator.planning.travel import Travel
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.templates import jet


class Planner:
    """Everything that the hosts of a run share; ``plan`` may be called from many threads.

    InputError with every problem that shows before a host is contacted; UsageError.
    """

    def __init__(self, site: Site, options: PlanOptions | None = None) -> None:
        options = options or PlanOptions()
        problems: list[Problem] = []
        self.site = site
        self._overlay = FactOverlay(options.facts, options.fact)
        self._data = RunData(site, options, problems)
        self._travel = Travel(site.folder)
        self._resources = Resources(site.resources, self._travel, problems)
        template = site.resources_template
        self._generated = (
            GeneratedResources(template, self._travel, site.types) if template else None
        )
        self._references = frozenset(
            reference for d in site.resources for reference in (*d.require, *d.subscribe)
        )
        self._check_files(problems)
        site.warnings += self._resources.warnings
        if problems:
            raise InputError(problems)

    def plan(self, host: Any, gathered: Gathered) -> HostPlan:
        """The plan of one host (an inventory's ``Host``); PlanError with every problem found."""
        facts, warnings = self._overlay(host, gathered)
        warnings += [
            f"the facts {family!r} are not available: {reason}"
            for family, reason in facts.unavailable.items()
        ]
        scope = self._data.scope(host, facts)
        secrets = self._data.secrets(scope)
        resources = self._resources_of(scope, secrets)
        if self._generated:
            warnings += map(str, resources.warnings)
        compiled = self._compile(resources, scope, secrets)
        declared = resources.declared
        plan = HostPlan(compiled, declared, secrets, warnings, self.site.fail_on_error)
        if self.site.earlier:
            plan.earlier = self.site.earlier.of(host.name, self._references)
        for index, resource in enumerate(compiled):
            if resource.item.deferred_render:
                plan.defer(index, declared[index], scope, self._travel)
        return plan

    def scope(self, host: Any, gathered: Gathered) -> Scope:
        """The facts and data that the templates of a host see; PlanError."""
        return self._data.scope(host, self._overlay(host, gathered)[0])

    def _resources_of(self, scope: Scope, secrets: list[str]) -> Resources:
        if self._generated is None:
            return self._resources
        resources, problems = self._generated.of(scope)
        if problems:
            raise plan_error(problems, secrets)
        return resources

    def _compile(self, resources: Resources, scope: Scope, secrets: list[str]) -> list[Compiled]:
        found: list[Compiled] = []
        problems: list[Problem] = []
        for index, declared in enumerate(resources.declared):
            compiled = resources.shared(index)
            if compiled is None:
                rendering = Rendering(declared, scope, self._travel)
                compiled = rendering.compile(index)
                problems += rendering.problems
            if compiled is not None:
                found.append(compiled)
        if not problems and resources.names_vary:
            names = list(map(_named, resources.declared, found))
            problems = check_names(names, final=True, earlier=self.site.earlier_names())
        if problems:
            raise plan_error(problems, secrets)
        return found

    def _check_files(self, problems: list[Problem]) -> None:
        """The files beside the manifest that are spelt out must be there."""
        for declared in self.site.resources:
            if declared.is_static:
                continue  # its files were opened as it was compiled
            plain = {k: v for k, v in declared.values.items() if k not in declared.templated}
            try:
                self._travel.replace(declared, plain)
                for key in declared.templated:
                    self._check_texts(declared, key, problems)
            except EvaluationError as error:
                text = f"{declared.id}: {error.message}"
                problems.append(Problem(text, error.where, "", error.kind))

    def _check_texts(self, declared: Declared, key: str, problems: list[Problem]) -> None:
        folder = self.site.folder
        for expression in expressions_in(declared.values[key]):
            try:
                for path in expression.controller_files():
                    folder.read(path, literal=True)
                for path in expression.jet_files():
                    _jet_library(folder).load(path)
            except InputError as error:
                problems += error.problems
            except EvaluationError as error:
                text = f"{declared.id}: {key}: {error.message}"
                problems.append(Problem(text, expression.where, "", error.kind))


def _jet_library(folder: Folder) -> jet.Library:
    from orchestrator.templates.jet import Delimiters, library_of

    return library_of(folder, Delimiters())


def _named(declared: Declared, compiled: Compiled) -> Named:
    return Named(declared, compiled.item.name, compiled.item.alias or None)
