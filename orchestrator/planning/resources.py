"""The resources of a run, or of the hosts with equal resources (controller)."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from orchestrator.expressions import EvaluationError, NeedFileError, Scope
from orchestrator.manifest.checks.references import check_names, duplicates, named
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.defaults import NO_DEFAULTS, Defaults
from orchestrator.manifest.generated_resources import generated_resources
from orchestrator.manifest.resource_types import BUILT_IN, Types
from orchestrator.planning.compiled_resource import CompiledResource, compile_resource
from orchestrator.planning.content.blob_references import BlobReferences
from orchestrator.planning.rendering import names_vary
from remote_runtime.errors import Problem

if TYPE_CHECKING:
    from orchestrator.language import jet

MAX_CACHED = 64


class Resources:
    """Resources in file order; a resource that is the same on every host is compiled only once.

    ``problems`` receives their problems.
    """

    def __init__(
        self,
        declared: list[DeclaredResource],
        blob_references: BlobReferences,
        problems: list[Problem],
    ) -> None:
        self.declared = declared
        self.names_vary = any(map(names_vary, declared))
        self.applies = any(entry.type.applies for entry in declared)
        """Whether one of them applies a manifest."""
        self._shared = {
            index: _compile_shared(index, entry, blob_references, problems)
            for index, entry in enumerate(declared)
            if entry.is_static
        }

    def shared(self, index: int) -> CompiledResource | None:
        """The resource if it is the same on every host; None if it must be rendered."""
        return self._shared.get(index)


class GeneratedResources:
    """The resources that a template generates for each host. Thread-safe.

    Hosts with the same rendered text share its result.
    """

    def __init__(
        self,
        template: jet.Template,
        blob_references: BlobReferences,
        *,
        types: Types = BUILT_IN,
        defaults: Defaults = NO_DEFAULTS,
        is_child: bool = False,
    ) -> None:
        self._template = template
        self._types = types
        self._defaults = defaults
        self._check = duplicates if is_child else check_names
        self._travel = blob_references
        self._lock = Lock()
        self._made: dict[str, tuple[Resources, list[Problem]]] = {}

    def of(self, scope: Scope) -> tuple[Resources, list[Problem]]:
        """The resources of one host, and their problems."""
        from orchestrator.language.jet import render

        try:
            text = render(self._template, scope.names)
        except NeedFileError as error:
            message = f"resources cannot read {error.path!r}, a file on the target"
            return self._nothing(
                Problem(message, None, "use a path next to the manifest", error.kind)
            )
        except EvaluationError as error:
            return self._nothing(Problem(error.message, error.where, error.hint, error.kind))
        with self._lock:
            if text not in self._made:
                if len(self._made) >= MAX_CACHED:
                    self._made.clear()
                self._made[text] = self._make(text)
            return self._made[text]

    def _make(self, text: str) -> tuple[Resources, list[Problem]]:
        problems: list[Problem] = []
        declared = generated_resources(
            self._template, text, types=self._types, defaults=self._defaults, problems=problems
        )
        problems += self._check(list(map(named, declared)))
        if problems:
            declared = []
        return Resources(declared, self._travel, problems), problems

    def _nothing(self, problem: Problem) -> tuple[Resources, list[Problem]]:
        return Resources([], self._travel, []), [problem]


def _compile_shared(
    index: int, declared: DeclaredResource, blob_references: BlobReferences, problems: list[Problem]
) -> CompiledResource | None:
    """A resource that is the same on every host: compiled once, including its JSON text."""
    values = dict(declared.values)
    try:
        blobs = blob_references.replace(declared, values)
    except EvaluationError as error:
        text = f"{declared.id}: {error.message}"
        problems.append(Problem(text, error.where, "", error.kind))
        return None
    return compile_resource(index, declared, name=str(declared.name), values=values, blobs=blobs)
