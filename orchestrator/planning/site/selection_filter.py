"""Removes resources outside of a selection from one host's plan (controller)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.site.selection import (
    InheritedSelection,
    NamePattern,
    Selection,
    known_names,
)
from remote_runtime.plan_item import Item


class SelectionFilter:
    """Marks resources outside of one selection in the plans of all hosts. Thread-safe."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._lock = Lock()
        self._hosts = 0
        self._is_partial = False
        self._fitted: set[NamePattern] = set()
        self._tags: set[str] = set()

    def mark(
        self, resources: Sequence[CompiledResource], declared: Sequence[DeclaredResource]
    ) -> tuple[tuple[CompiledResource, ...], list[CompiledResource]]:
        """The resources of a manifest with the excluded ones marked, and all of them pre-order.

        ``declared`` has the declaration of each, pre-order.
        """
        marking = _Marking(self._selection, iter(declared))
        marking.judge(resources, InheritedSelection())
        with self._lock:
            self._hosts += 1
            self._fitted |= marking.fitted
            self._tags |= marking.tags
        return marking.marked(resources)

    def note(self, unknown: Sequence[DeclaredResource], is_whole: bool) -> None:
        """Add the tags of resources that have no plan yet.

        If part of the manifest (not ``is_whole``) or names are unknown, patterns may match
        resources that are not seen here.
        """
        with self._lock:
            self._tags.update(tag for one in unknown for tag in one.tags)
            self._is_partial |= not is_whole
            if unknown:
                chosen = self._selection
                self._fitted.update(
                    pattern
                    for pattern in (*chosen.only, *chosen.skip)
                    if any(
                        pattern.may_fit(one) or pattern.fits(one.type.name, known_names(one))
                        for one in unknown
                    )
                )

    @property
    def is_partial(self) -> bool:
        """Whether some resources of a host were not seen."""
        return self._is_partial

    def remembered(self) -> list[Any]:
        """The data of ``unmatched``, for JSON."""
        with self._lock:
            return [self._hosts, [list(pattern) for pattern in self._fitted], list(self._tags)]

    def remember(self, data: Any) -> None:
        """Merge the ``remembered`` data of a marker with the same selection, completely or not at
        all; TypeError or ValueError.
        """
        hosts, fitted, tags = data
        patterns, known_tags = {NamePattern(*pattern) for pattern in fitted}, set(tags)
        if type(hosts) is not int or hosts < 0:
            raise ValueError("expected a number of hosts")
        with self._lock:
            self._hosts += hosts
            self._fitted |= patterns
            self._tags |= known_tags

    def unmatched(self) -> list[str]:
        """The parts of the selection that matched nothing on any host; empty before the first host
        is planned.
        """
        chosen = self._selection
        with self._lock:
            if not self._hosts:
                return []
            patterns = [p for p in (*chosen.only, *chosen.skip) if p not in self._fitted]
            tags = sorted((chosen.tags | chosen.not_tags) - self._tags)
        return [
            *(f"{pattern.as_given} matches no resource of any host" for pattern in patterns),
            *(f"--tags: no resource of any host has the tag {tag!r}" for tag in tags),
        ]


class _Marking:
    """Visits the resources of one host; ``declared`` yields the declaration of each.

    The lists below are indexed pre-order.
    """

    def __init__(self, selection: Selection, declared: Iterator[DeclaredResource]) -> None:
        self._selection = selection
        self._declared = declared
        self._items: list[Item] = []
        self._ends: list[int] = []  # the index after its last descendant
        self._reasons: list[str] = []  # the option that excludes it
        self._leads: list[bool] = []  # only a part of it is selected
        self.fitted: set[NamePattern] = set()
        self.tags: set[str] = set()

    def judge(self, resources: Sequence[CompiledResource], above: InheritedSelection) -> bool:
        """Whether any of the resources of one manifest is selected; records the result for each."""
        judged = [self._judge(resource, above) for resource in resources]
        return True in judged

    def _judge(self, resource: CompiledResource, above: InheritedSelection) -> bool:
        whole = self._joined(resource.outline.item, above)
        left_out = self._selection.leaves_out(whole)
        at = len(self._items)
        self._items.append(resource.outline.item)
        self._ends.append(0)
        self._reasons.append(left_out)
        self._leads.append(False)
        if self.judge(resource.children, whole) and left_out:
            self._reasons[at], self._leads[at] = "", True
        self._ends[at] = len(self._items)
        return not self._reasons[at]

    def _joined(self, item: Item, above: InheritedSelection) -> InheritedSelection:
        tags = next(self._declared).tags
        names = [item.name, *([item.alias] if item.alias else [])]
        chosen = self._selection
        fitted = {p for p in (*chosen.only, *chosen.skip) if p.fits(item.type, names)}
        self.fitted |= fitted
        self.tags.update(tags)
        return above.joined(
            tags,
            only=any(p in fitted for p in chosen.only),
            skip=any(p in fitted for p in chosen.skip),
        )

    def needed(self) -> set[int]:
        """The indexes of excluded resources that selected ones require, directly or indirectly."""
        places: dict[str, list[int]] = {}
        for at, item in enumerate(self._items):
            for name in {item.name, item.alias or item.name}:
                places.setdefault(f"{item.type}#{name}", []).append(at)
        needed: set[int] = set()
        pending = [at for at, reason in enumerate(self._reasons) if not reason]
        while pending:
            item = self._items[pending.pop()]
            if not item.managed:
                continue
            for at in itertools.chain.from_iterable(places.get(r, ()) for r in item.require):
                new = {one for one in range(at, self._ends[at]) if self._reasons[one]} - needed
                needed |= new
                pending += new
        return needed

    def marked(
        self, resources: Sequence[CompiledResource]
    ) -> tuple[tuple[CompiledResource, ...], list[CompiledResource]]:
        """The same resources with their marks, and all of them pre-order."""
        every: list[CompiledResource] = []
        needed = self.needed()

        def mark(some: Sequence[CompiledResource]) -> tuple[CompiledResource, ...]:
            """The resources, each marked."""
            return tuple([one(resource) for resource in some])

        def one(resource: CompiledResource) -> CompiledResource:
            """The resource, marked if the selection excludes it."""
            at = len(every)
            every.append(resource)
            children, reason = mark(resource.children), self._reasons[at]
            if self._leads[at]:
                # It is only a parent of selected resources, so its own checks do not run.
                led = resource.extended(children, health_checks=())
                every[at] = led._replace(registrations=())
            elif children or reason:
                every[at] = resource.extended(children, left_out=reason, needed=at in needed)
            return every[at]

        return mark(resources), every
