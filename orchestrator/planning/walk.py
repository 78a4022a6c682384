"""One host's way through the manifest and those that it applies (controller)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.expressions import Scope
from orchestrator.expressions.scope import Facts
from orchestrator.manifest.annotations import SHORTEST_SECRET
from orchestrator.manifest.children import MOST_RESOURCES
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.references import Named, check_names
from orchestrator.planning.agreement import disagreements
from orchestrator.planning.compiled import Compiled
from orchestrator.planning.data import plan_error
from orchestrator.planning.parts import Part, Place, Refusal
from orchestrator.planning.rendering import Rendering, names_vary
from orchestrator.planning.resources import Resources
from orchestrator.planning.travel import Travel
from remote_runtime.base import Item
from remote_runtime.errors import Problem
from remote_runtime.masking import strings_of


class Walk:
    """Compiles every resource of one host (an inventory's ``Host``).

    ``found`` and ``declared`` are all resources pre-order, ``secrets`` the texts to mask, ``turns``
    what is rendered at its turn, by its place in ``found``.
    """

    def __init__(self, host: Any, facts: Facts) -> None:
        self._host = host
        self._facts = facts
        self.found: list[Compiled] = []
        self.declared: list[Declared] = []
        self.turns: dict[int, tuple[Declared, Scope, Travel]] = {}
        self.warnings: list[str] = []
        self.secrets: dict[str, None] = {}
        self._problems: list[Problem] = []
        self._named: list[Named] = []
        self._managed: list[tuple[Declared, Item]] = []
        self._names_vary = False
        self._places = 0

    def run(self, root: Place, earlier: frozenset[str]) -> tuple[Compiled, ...]:
        """The resources of the manifest itself; PlanError with every problem found."""
        compiled = self._manifest(root, None, {}, True)
        if not self._problems and self._names_vary:
            self._problems = check_names(self._named, final=True, earlier=earlier)
        if not self._problems and self._places > 1:
            self._problems = disagreements(self._managed)
        if self._problems or compiled is None:
            raise plan_error(self._problems, list(self.secrets))
        return compiled

    def _manifest(
        self, place: Place, by: Declared | None, handed: Mapping[str, Any], managed: bool
    ) -> tuple[Compiled, ...] | None:
        """The resources of one manifest; None where they are not known.

        ``by`` applies it and hands data over. Not ``managed``: nothing of it will run, its
        resources are only there to be named, and nothing that is wrong with them matters.
        """
        number, self._places = self._places, self._places + 1
        scope, resolved = place.part.data.of(self._host, self._facts, by, handed)
        self.secrets.update(dict.fromkeys(resolved.secrets))
        problems = resolved.problems
        if not problems:
            resources, problems = place.part.resources(scope)
        if problems:
            self._problems += problems if managed else []
            return None
        if by and place.denies(resources):
            return None
        self._note(place.part, resources, by is not None)
        compiled = []
        for index, declared in enumerate(resources.declared):
            entry = resources.shared(index)
            if entry is None:
                entry = self._render(place.part, scope, index, declared, managed)
            if entry is not None:
                compiled.append(self._take(place, scope, declared, entry, number, managed))
        return tuple(compiled)

    def _note(self, part: Part, resources: Resources, is_child: bool) -> None:
        """What the resources of a manifest say about the check of names."""
        if part.is_generated:
            self._names_vary |= is_child or any(d.type.applies for d in resources.declared)
        self._names_vary |= resources.names_vary

    def _render(
        self, part: Part, scope: Scope, index: int, declared: Declared, managed: bool
    ) -> Compiled | None:
        rendering = Rendering(declared, scope, part.travel)
        entry = rendering.compile(index)
        if managed:
            self._problems += rendering.problems
        elif entry is None and not names_vary(declared):
            entry = rendering.name_only(index)
        return entry

    def _take(
        self,
        place: Place,
        scope: Scope,
        declared: Declared,
        entry: Compiled,
        number: int,
        managed: bool,
    ) -> Compiled:
        """Put a resource into its place, behind it its children."""
        if len(self.found) >= MOST_RESOURCES:
            message = f"the plan has more than {MOST_RESOURCES} resources"
            hint = "look for a manifest that is applied again and again"
            raise plan_error([Problem(message, declared.position, hint, "plan")])
        at, begin = len(self.found), len(self._named)
        managed = managed and entry.item.managed
        self.found.append(entry)
        self.declared.append(declared)
        opens = False
        if declared.type.applies:
            entry, opens = self._apply(place, declared, entry, managed)
            self.found[at] = entry
        if managed:
            self._managed.append((declared, entry.item))
            if entry.item.deferred_render:
                self.turns[at] = (declared, scope, place.part.travel)
        names = (entry.item.name, entry.item.alias or None)
        first = begin if declared.type.applies else -1
        self._named.append(Named(declared, *names, place=number, opens=opens, begin=first))
        return entry

    def _apply(
        self, place: Place, declared: Declared, entry: Compiled, managed: bool
    ) -> tuple[Compiled, bool]:
        """The resource with what it applies, and whether that is not known."""
        properties = entry.item.properties
        handed = properties.get("data") or {}
        may_apply = properties.get("allow_apply") is not False
        if entry.item.sensitive:
            texts = [t for t in strings_of(handed) if len(t) >= SHORTEST_SECRET]
            self.secrets.update(dict.fromkeys(texts))
        child = place.child(declared, entry.item.name, may_apply)
        if not isinstance(child, Refusal):
            shared = child.part.data.shared(declared, handed)
            if shared and shared.problems:
                child = Refusal(tuple(shared.problems))
        children = None
        if not isinstance(child, Refusal):
            children = self._manifest(child, declared, handed, managed)
            if children is None:
                child = child.denial(declared)
        if isinstance(child, Refusal):
            return self._refused(declared, entry, child, managed), True
        return entry.extended(
            children or (),
            applies=child.path,
            fail_on_error=child.part.site.fail_on_error,
            noop=properties.get("noop") is True,
            monitor_only=properties.get("health_check_only") is True,
        ), False

    def _refused(
        self, declared: Declared, entry: Compiled, refusal: Refusal, managed: bool
    ) -> Compiled:
        if managed and (names_vary(declared) or not declared.is_static):
            self.warnings.append(f"{entry.item.id} will fail: {refusal.text}")
        return entry.extended(
            applies=entry.item.name,
            deferred_error=refusal.text,
            noop=entry.item.properties.get("noop") is True,
            monitor_only=entry.item.properties.get("health_check_only") is True,
        )
