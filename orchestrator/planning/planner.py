"""Makes the plans of one run (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.expressions import EvaluationError, NeedFileError, Scope
from orchestrator.expressions.scope import Facts
from orchestrator.manifest.annotations import check_annotations, secrets
from orchestrator.manifest.data import DataSource, load_source
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.merge import merge_deep
from orchestrator.manifest.references import Named, check_names
from orchestrator.manifest.site import Site
from orchestrator.planning.compiled import Compiled, compile_resource
from orchestrator.planning.facts import FactOverlay, Gathered
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.options import PlanOptions, assignments, load_environ
from orchestrator.planning.rendering import Rendering, is_template
from orchestrator.planning.travel import Travel
from remote_runtime.errors import InputError, PlanError, Position, Problem

MOST_PROBLEMS = 20


class Planner:
    """Everything that the hosts of a run share; ``plan`` may be called from many threads.

    InputError with every problem that shows before a host is contacted; UsageError.
    """

    def __init__(self, site: Site, options: PlanOptions | None = None) -> None:
        options = options or PlanOptions()
        self.site = site
        self._overlay = FactOverlay(options.facts, options.fact)
        self._given = assignments("--data", options.data)
        environ = options.environ
        self._environ = dict(environ) if environ is not None else load_environ()
        self._travel = Travel(site.folder)
        problems: list[Problem] = []
        sources = [load_source(path, problems, site.warnings) for path in options.hiera]
        self._sources = [site.source, *(source for source in sources if source)]
        self._annotations = [a for source in self._sources for a in source.annotations]
        self._data: dict[str, Any] | None = None
        if not problems and all(source.is_static for source in self._sources):
            self._data = self._resolve_once(problems)
        self._static = {
            index: self._compile_static(index, declared, problems)
            for index, declared in enumerate(site.resources)
            if declared.is_static
        }
        _check_files(site, problems)
        self._warn_of_registrations()
        if problems:
            raise InputError(problems)
        self._names_vary = any(is_template(declared) for declared in site.resources)
        self._secrets = secrets(self._annotations, self._data) if self._data is not None else None

    def plan(self, host: Any, gathered: Gathered) -> HostPlan:
        """The plan of one host (an inventory's ``Host``); PlanError with every problem found."""
        facts, warnings = self._overlay(host, gathered)
        warnings += [
            f"the facts {family!r} are not available: {reason}"
            for family, reason in facts.unavailable.items()
        ]
        scope = self.scope(host, facts)
        resources, problems, turns = self._compile_all(scope)
        if not problems and self._names_vary:
            problems = check_names(
                [
                    Named(declared, compiled.item.name, compiled.item.alias or None)
                    for declared, compiled in zip(self.site.resources, resources, strict=True)
                ],
                final=True,
            )
        if problems:
            raise _plan_error(problems)
        found = self._secrets
        if found is None:
            found = secrets(self._annotations, scope.data)
        plan = HostPlan(resources, found, warnings, self.site.fail_on_error)
        for index in turns:
            plan.defer(index, self.site.resources[index], scope, self._travel)
        return plan

    def scope(self, host: Any, facts: Facts) -> Scope:
        """What the templates of one host see, its data resolved; PlanError."""
        names = {
            "name": host.name,
            "address": host.address,
            "groups": list(host.groups),
            "vars": host.vars,
        }
        folder = self.site.folder
        data = self._data
        if data is None:
            lenient = Scope(facts, {}, self._environ, names, folder, lenient=True)
            data = self._resolve(self._sources, lenient)
            problems = check_annotations(self._annotations, data, lenient)
            if problems:
                raise _plan_error(problems)
        return Scope(facts, data, self._environ, names, folder)

    def _resolve(self, sources: list[DataSource], scope: Scope) -> dict[str, Any]:
        data: dict[str, Any] = {}
        try:
            for source in sources:
                data = merge_deep(data, source.resolve(scope))
        except EvaluationError as error:
            raise _plan_error(
                [Problem(error.message, error.where, error.hint, error.kind)]
            ) from error
        except NeedFileError as error:
            message = f"data cannot wait for {error.path}, which is a file of the target"
            raise _plan_error([Problem(message, None, "", error.kind)]) from error
        return dict(merge_deep(data, self._given))

    def _resolve_once(self, problems: list[Problem]) -> dict[str, Any]:
        """The data of every host, when none of it depends on the host."""
        scope = Scope(Facts({}, {}), {}, self._environ, {}, self.site.folder, lenient=True)
        data = self._resolve(self._sources, scope)
        problems += check_annotations(self._annotations, data, scope)
        return data

    def _compile_static(
        self, index: int, declared: Declared, problems: list[Problem]
    ) -> Compiled | None:
        values = dict(declared.values)
        try:
            blobs = self._travel.replace(declared, values)
        except EvaluationError as error:
            text = f"{declared.id}: {error.message}"
            problems.append(Problem(text, error.where, "", error.kind))
            return None
        return compile_resource(index, declared, str(declared.name), values, blobs)

    def _compile_all(self, scope: Scope) -> tuple[list[Compiled], list[Problem], list[int]]:
        resources: list[Compiled] = []
        problems: list[Problem] = []
        turns = []
        for index, declared in enumerate(self.site.resources):
            compiled = self._static.get(index)
            if compiled is None:
                rendering = Rendering(declared, scope, self._travel)
                compiled = rendering.compile(index)
                problems += rendering.problems
            if compiled is not None:
                resources.append(compiled)
                if compiled.item.deferred_render:
                    turns.append(index)
        return resources, problems, turns

    def _warn_of_registrations(self) -> None:
        for declared in self.site.resources:
            if "register_when_stable" in declared.values:
                message = f"{declared.id}: this version does not publish registrations"
                where: Position = declared.where(("register_when_stable",))
                self.site.warnings.append(Problem(message, where, "", "register"))


def _check_files(site: Site, problems: list[Problem]) -> None:
    """What a manifest spells out must be there: ``source`` beside templates, ``file()`` texts."""
    from orchestrator.manifest.values import expressions_in

    for declared in site.resources:
        for key in declared.templated:
            for expression in expressions_in(declared.values[key]):
                for path in expression.controller_files():
                    try:
                        site.folder.read(path, literal=True)
                    except EvaluationError as error:
                        text = f"{declared.id}: {key}: {error.message}"
                        problems.append(Problem(text, expression.where, "", error.kind))


def _plan_error(problems: list[Problem]) -> PlanError:
    """All problems of one host in one error; its kind is facts.timeout where that is the reason."""
    kinds = [problem.kind for problem in problems]
    kind = "facts.timeout" if "facts.timeout" in kinds else kinds[0]
    lines = [str(problem) for problem in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"and {len(problems) - MOST_PROBLEMS} more")
    return PlanError("\n".join(lines), kind)
