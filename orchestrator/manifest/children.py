"""The manifests that resources of a run apply (controller)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.language.files import is_file_name
from orchestrator.manifest.references import Named, named
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.manifest.declared import Declared
    from orchestrator.manifest.site import Site

DEEPEST = 10
MOST_RESOURCES = 100_000


class Child(NamedTuple):
    """What a resource applies: a manifest, or the ``problems`` why there is none."""

    site: Site | None
    problems: tuple[Problem, ...] = ()


class Children:
    """The child manifests of one run, each read once however often it is applied. Thread-safe.

    ``read`` gives the manifest at a path that another one names; InputError.
    """

    def __init__(self, read: Callable[[Path, Site], Site]) -> None:
        self._read = read
        self._lock = Lock()
        self._known: dict[str, Child] = {}

    def of(self, parent: Site, declared: Declared, name: str, depth: int) -> Child:
        """The manifest that a resource of ``parent``, itself at ``depth``, applies by this name."""
        if depth >= DEEPEST:
            message = f"{name} is nested deeper than {DEEPEST} levels of apply"
            return _refused(declared, message, "look for a manifest that applies itself")
        if not is_file_name(name):
            return _refused(declared, f"{name!r} is not a file name", "check the name")
        path = parent.path.parent / name
        below = os.path.realpath(parent.folder.path)
        if os.path.commonpath([os.path.realpath(path), below]) != below:
            message = f"{name} leads out of the folder of {parent.path}"
            return _refused(declared, message, "a child stands below its parent's folder")
        key = os.path.abspath(path)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._load(path, parent)
            child = self._known[key]
        # What has no place of its own is told at the place that names it.
        problems = (p if p.where else p._replace(where=declared.position) for p in child.problems)
        return child._replace(problems=tuple(problems))

    def _load(self, path: Path, parent: Site) -> Child:
        try:
            return Child(self._read(path, parent))
        except InputError as error:
            return Child(None, tuple(error.problems))

    def names(self, site: Site, problems: list[Problem]) -> list[Named]:
        """Every resource of the run as far as it is known before a host is, as they run."""
        walk = _Walk(self, problems)
        walk.site(site, 0)
        return walk.found


class _Walk:
    """Goes through a manifest and those that it applies."""

    def __init__(self, children: Children, problems: list[Problem]) -> None:
        self._children = children
        self._problems = problems
        self._places = 0
        self.found: list[Named] = []

    def site(self, site: Site, depth: int) -> None:
        """Note what a manifest and those below it name, in the order of the run."""
        place = self._places
        self._places += 1
        for declared in site.resources:
            opens, begin = declared.type.applies, len(self.found)
            if declared.type.applies and isinstance(declared.name, str):
                opens = not self._enter(site, declared, declared.name, depth)
            if len(self.found) >= MOST_RESOURCES:
                message = f"the run has more than {MOST_RESOURCES} resources"
                hint = "look for a manifest that is applied again and again"
                if not self._problems or self._problems[-1].message != message:
                    self._problems.append(Problem(message, declared.position, hint))
                return
            entry = named(declared)._replace(place=place, opens=opens)
            self.found.append(entry._replace(begin=begin) if declared.type.applies else entry)

    def _enter(self, parent: Site, declared: Declared, name: str, depth: int) -> bool:
        """Take in the child's resources; whether all of them are known."""
        child = self._children.of(parent, declared, name, depth).site
        if child is None or (declared.raw.get("allow_apply") is False and applies(child)):
            return False
        self.site(child, depth + 1)
        return child.resources_template is None


def applies(site: Site) -> bool:
    """Whether a manifest holds resources that apply others."""
    return any(declared.type.applies for declared in site.resources)


def _refused(declared: Declared, message: str, hint: str) -> Child:
    return Child(None, (Problem(message, declared.position, hint, "input.child"),))
