"""``foreach``: the iterations of one entry, and the resources behind its alias (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orchestrator.expressions import EvaluationError, NeedFileError, Scope
from orchestrator.manifest.checks.resource_checks import not_a_loop
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.resource_names import MAX_RESOURCES
from orchestrator.planning.compiled_resource import CompiledResource
from remote_runtime.errors import Problem


def iterations(declared: DeclaredResource, scope: Scope) -> tuple[list[Scope], list[Problem]]:
    """The variables of each iteration of an entry; the problem if there are none."""
    if declared.foreach is None:
        return [scope], []
    where = declared.foreach.where
    try:
        value = declared.foreach.evaluate(scope)
    except EvaluationError as error:
        message = f"{declared.id}: foreach: {error.message}"
        return [], [Problem(message, error.where or where, error.hint, error.kind)]
    except NeedFileError as error:
        message = f"{declared.id}: foreach cannot read {error.path!r}, a file on the target"
        return [], [Problem(message, where, "use a path next to the manifest", error.kind)]
    if not isinstance(value, list | dict):
        return [], [not_a_loop(declared, declared.foreach, value)]
    if len(value) > MAX_RESOURCES:
        message = f"{declared.id}: foreach returns more than {MAX_RESOURCES} resources"
        return [], [Problem(message, where, "", "plan")]
    names: Iterable[Mapping[str, Any]] = (
        [{"key": key, "item": item} for key, item in value.items()]
        if isinstance(value, dict)
        else [{"index": index, "item": item} for index, item in enumerate(value)]
    )
    return [scope._replace(loop=loop) for loop in names], []


def at_iteration(problem: Problem, scope: Scope) -> Problem:
    """The problem, with the iteration in which it occurred."""
    for name in ("key", "index"):
        if name in scope.loop:
            iteration = f" (foreach, {name} {scope.loop[name]})"
            return problem._replace(message=problem.message + iteration)
    return problem


class Groups:
    """The resources behind the alias of a ``foreach``, among those recorded so far."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def add(self, declared: DeclaredResource, resources: Iterable[CompiledResource]) -> None:
        """Record the resources of an entry; a later entry with the same names replaces them."""
        if declared.foreach is not None:
            alias = declared.raw.get("alias")
            if isinstance(alias, str) and "alias" not in declared.templated:
                self._known[f"{declared.type.name}#{alias}"] = ()
            for entry in resources:
                item, identity = entry.outline.item, entry.outline.identity
                if item.alias:
                    reference = f"{item.type}#{item.alias}"
                    self._known[reference] = (*self._known.get(reference, ()), identity)
        elif self._known:
            for entry in resources:
                item = entry.outline.item
                for name in (item.name, item.alias):
                    self._known.pop(f"{item.type}#{name}", None)

    def expand_aliases(self, entry: CompiledResource) -> CompiledResource:
        """The resource, with such an alias replaced by the names of all its resources."""
        if not self._known:
            return entry
        item = entry.outline.item
        if not any(reference in self._known for reference in (*item.require, *item.subscribe)):
            return entry
        return entry.extended(
            require=self._each(item.require), subscribe=self._each(item.subscribe)
        )

    def _each(self, references: Iterable[str]) -> tuple[str, ...]:
        ids = [id_ for ref in references for id_ in self._known.get(ref, (ref,))]
        return tuple(dict.fromkeys(ids))
