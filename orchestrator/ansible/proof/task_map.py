"""Finds the task from which a resource was created (controller)."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_EXPRESSION = re.compile(r"\{\{.*?\}\}|\$\{\s.*?\}", re.DOTALL)


class Origin(NamedTuple):
    """A task of the original: its position and name."""

    path: str
    line: int
    name: str

    @property
    def text(self) -> str:
        """The task as shown to a person."""
        return f"{self.path}:{self.line}{f' ({self.name})' if self.name else ''}"


class TaskMap:
    """The tasks of a report of the importer, by the resources that they became.

    A name with templates matches all names that fit; if several match, the most literal one is
    used.
    """

    def __init__(self, tasks: Iterable[Mapping[str, Any]], top: Path) -> None:
        self._top = top.resolve()
        self._exact: dict[str, Origin] = {}
        self._patterns: list[tuple[int, re.Pattern[str], Origin]] = []
        self._by_place: dict[tuple[str, int], list[str]] = {}
        self._origins: dict[tuple[str, int], Origin] = {}
        for task in tasks:
            origin = Origin(str(task["file"]), int(task["line"]), str(task.get("task") or ""))
            resources = [str(one) for one in task.get("resources", ())]
            place = self._place(origin.path, origin.line)
            self._by_place.setdefault(place, []).extend(resources)
            self._origins.setdefault(place, origin)
            for resource in resources:
                self._add(resource, origin)
        self._patterns.sort(key=lambda one: -one[0])

    def _add(self, resource: str, origin: Origin) -> None:
        parts = _EXPRESSION.split(resource)
        if len(parts) == 1:
            self._exact.setdefault(resource, origin)
            return
        pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
        self._patterns.append((sum(map(len, parts)), pattern, origin))

    def _place(self, path: str, line: int) -> tuple[str, int]:
        return os.path.realpath(self._top / path), line

    def origin(self, event: Mapping[str, Any]) -> Origin | None:
        """The task behind a transaction event; None if no task became that resource."""
        names = [f"{event['type']}#{event['name']}"]
        if event.get("alias"):
            names.insert(0, f"{event['type']}#{event['alias']}")
        for name in names:
            if name in self._exact:
                return self._exact[name]
        for _, pattern, origin in self._patterns:
            if any(pattern.fullmatch(name) for name in names):
                return origin
        return None

    def resources(self, path: str, line: int) -> list[str]:
        """The resources that the task at a place became."""
        return self._by_place.get(self._place(path, line), [])

    def others(self, places: Iterable[tuple[str, int]]) -> list[tuple[Origin, list[str]]]:
        """The tasks at other places that became resources, with these resources."""
        seen = {self._place(path, line) for path, line in places}
        return [
            (self._origins[place], resources)
            for place, resources in self._by_place.items()
            if resources and place not in seen
        ]

    def place(self, origin: Origin) -> tuple[str, int]:
        """Return the position of a task, in the form that Ansible's results use."""
        return self._place(origin.path, origin.line)
