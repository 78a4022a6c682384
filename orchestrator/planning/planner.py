"""Makes the plans of one run (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.expressions import EvaluationError, Scope
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.references import Named, check_names
from orchestrator.manifest.site import Site
from orchestrator.manifest.values import expressions_in
from orchestrator.planning.compiled import Compiled, compile_resource
from orchestrator.planning.data import RunData, plan_error
from orchestrator.planning.facts import FactOverlay, Gathered
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.options import PlanOptions
from orchestrator.planning.rendering import Rendering, names_vary
from orchestrator.planning.travel import Travel
from remote_runtime.errors import InputError, Problem


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
        self._names_vary = any(names_vary(declared) for declared in site.resources)
        self._shared = {
            index: self._compile_shared(index, declared, problems)
            for index, declared in enumerate(site.resources)
            if declared.is_static
        }
        self._check_files(problems)
        _warn_of_registrations(site)
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
        resources = self._compile(scope, secrets)
        plan = HostPlan(resources, secrets, warnings, self.site.fail_on_error)
        for index, resource in enumerate(resources):
            if resource.item.deferred_render:
                plan.defer(index, self.site.resources[index], scope, self._travel)
        return plan

    def _compile_shared(
        self, index: int, declared: Declared, problems: list[Problem]
    ) -> Compiled | None:
        """A resource that is the same on every host: made once, its JSON text included."""
        values = dict(declared.values)
        try:
            blobs = self._travel.replace(declared, values)
        except EvaluationError as error:
            text = f"{declared.id}: {error.message}"
            problems.append(Problem(text, error.where, "", error.kind))
            return None
        return compile_resource(index, declared, str(declared.name), values, blobs)

    def _compile(self, scope: Scope, secrets: list[str]) -> list[Compiled]:
        resources: list[Compiled] = []
        problems: list[Problem] = []
        for index, declared in enumerate(self.site.resources):
            compiled = self._shared.get(index)
            if compiled is None:
                rendering = Rendering(declared, scope, self._travel)
                compiled = rendering.compile(index)
                problems += rendering.problems
            if compiled is not None:
                resources.append(compiled)
        if not problems and self._names_vary:
            problems = check_names(list(map(_named, self.site.resources, resources)), final=True)
        if problems:
            raise plan_error(problems, secrets)
        return resources

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
        for expression in expressions_in(declared.values[key]):
            for path in expression.controller_files():
                try:
                    self.site.folder.read(path, literal=True)
                except EvaluationError as error:
                    text = f"{declared.id}: {key}: {error.message}"
                    problems.append(Problem(text, expression.where, "", error.kind))


def _named(declared: Declared, compiled: Compiled) -> Named:
    return Named(declared, compiled.item.name, compiled.item.alias or None)


def _warn_of_registrations(site: Site) -> None:
    for declared in site.resources:
        if "register_when_stable" in declared.values:
            message = f"{declared.id}: this version does not publish registrations"
            where = declared.where(("register_when_stable",))
            site.warnings.append(Problem(message, where, "", "register"))
