"""An ``apply`` whose data is not known until its host is contacted (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.expressions import EvaluationError, NeedFileError, Scope, render_value
from orchestrator.expressions.template import TemplatedMap
from orchestrator.language.errors import NEEDS, FactsUnavailableError
from orchestrator.language.value_types import as_text
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.deferred_values import Deferred
from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.rendering import Rendering
from orchestrator.planning.site.manifests import RunManifest


def data_of(declared: DeclaredResource, scope: Scope) -> dict[str, Any] | None:
    """The data of an ``apply`` in which reading a value that needs the host raises an error; None
    if its keys are not known, or if a value is wrong.
    """
    value = declared.values.get("data")
    if not isinstance(value, TemplatedMap):
        return None
    data: dict[str, Any] = {}
    try:
        for key, entry in value.entries:
            name = as_text(render_value(key, scope))
            try:
                data[name] = render_value(entry, scope)
            except FactsUnavailableError as error:
                if error.kind not in NEEDS:
                    return None
                data[name] = _raising(name, error)
    except (EvaluationError, NeedFileError):
        return None
    return data


def without_data(
    declared: DeclaredResource, scope: Scope, part: RunManifest, index: int
) -> CompiledResource | None:
    """The resource without its data; None if more of it is unknown or wrong."""
    return Rendering(
        declared, scope, blob_references=part.travel, alike=part.alike, without="data"
    ).compile(index)


def _raising(key: str, error: FactsUnavailableError) -> Deferred:
    def refuse() -> Any:
        """Raise the missing input of the value."""
        raise error

    return Deferred([], f"data.{key}", refuse)
