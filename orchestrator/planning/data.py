"""The data of a run, and what the templates of each host see (controller)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orchestrator.expressions import EvaluationError, NeedFileError, Scope
from orchestrator.expressions.scope import Facts
from orchestrator.manifest.annotations import check_annotations, secrets
from orchestrator.manifest.data import load_source
from orchestrator.manifest.merge import merge_deep
from orchestrator.manifest.site import Site
from orchestrator.planning.options import PlanOptions, assignments, load_environ
from remote_runtime.errors import PlanError, Problem
from remote_runtime.masking import Mask

MOST_PROBLEMS = 20


class RunData:
    """The manifest's own hierarchy, ``--hiera`` and ``--data``, in that order.

    What no host has a part in is resolved once; ``problems`` receives what is wrong with it.
    """

    def __init__(self, site: Site, options: PlanOptions, problems: list[Problem]) -> None:
        self._folder = site.folder
        self._given = assignments("--data", options.data)
        given = options.environ
        self._environ = load_environ() if given is None else dict(given)
        found = [load_source(path, problems, site.warnings) for path in options.hiera]
        self._sources = [site.source, *(source for source in found if source)]
        self._annotations = [a for source in self._sources for a in source.annotations]
        self._shared: dict[str, Any] | None = None
        self._shared_secrets: list[str] = []
        if not problems and all(source.is_static for source in self._sources):
            self._share(problems)

    def scope(self, host: Any, facts: Facts) -> Scope:
        """What the templates of one host (an inventory's ``Host``) see; PlanError."""
        names = {
            "name": host.name,
            "address": host.address,
            "groups": list(host.groups),
            "vars": host.vars,
        }
        data = self._shared
        if data is None:
            lenient = Scope(facts, {}, self._environ, names, self._folder, lenient=True)
            data, problems = self._resolve(lenient)
            if problems:
                raise plan_error(problems)
        return Scope(facts, data, self._environ, names, self._folder)

    def secrets(self, scope: Scope) -> list[str]:
        """The texts of one host's data that are masked in every sink."""
        if self._shared is not None:
            return self._shared_secrets
        return secrets(self._annotations, scope.data)

    def _share(self, problems: list[Problem]) -> None:
        nobody = Scope(Facts({}, {}), {}, self._environ, {}, self._folder, lenient=True)
        self._shared, found = self._resolve(nobody)
        self._shared_secrets = secrets(self._annotations, self._shared)
        problems += found

    def _resolve(self, scope: Scope) -> tuple[dict[str, Any], list[Problem]]:
        data: dict[str, Any] = {}
        try:
            for source in self._sources:
                data = merge_deep(data, source.resolve(scope))
        except EvaluationError as error:
            return {}, [Problem(error.message, error.where, error.hint, error.kind)]
        except NeedFileError as error:
            message = f"data cannot wait for {error.path}, which is a file of the target"
            return {}, [Problem(message, None, "use a path beside the manifest", error.kind)]
        data = merge_deep(data, self._given)
        return data, check_annotations(self._annotations, data, scope)


def plan_error(problems: list[Problem], secrets: Sequence[str] = ()) -> PlanError:
    """All problems of one host in one error; its kind is facts.timeout where that is the reason."""
    kinds = [problem.kind for problem in problems]
    kind = "facts.timeout" if "facts.timeout" in kinds else kinds[0]
    lines = [str(problem) for problem in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"and {len(problems) - MOST_PROBLEMS} more")
    return PlanError(Mask(secrets).text("\n".join(lines)), kind)
