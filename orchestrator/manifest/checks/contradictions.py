"""Finds resources that undo each other in every run, from the manifest alone (controller)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from orchestrator.manifest.declared import Declared
from remote_runtime.errors import Problem

_DECIDING = frozenset(("ensure", "creates", "cwd", "cleanup"))


def contradictions(resources: Iterable[Declared]) -> list[Problem]:
    """One problem for each resource that creates a path which another one removes.

    Conditional resources and names with templates are skipped, since these may never conflict.
    """
    there: list[tuple[str, Declared]] = []
    gone: dict[str, Declared] = {}
    for declared in resources:
        if declared.control or declared.foreach or not isinstance(declared.name, str):
            continue
        if _DECIDING.intersection(declared.templated):
            continue
        for path, present in declared.type.claims(declared.name, declared.raw):
            path = posixpath.normpath(path)
            if present:
                there.append((path, declared))
            else:
                gone.setdefault(path, declared)
    found: dict[tuple[str, str], Problem] = {}
    for path, declared in there if gone else ():
        remover = _remover(path, gone)
        if remover is not None and remover is not declared:
            found.setdefault((declared.id, remover.id), _problem(path, declared, remover))
    return list(found.values())


def _remover(path: str, gone: dict[str, Declared]) -> Declared | None:
    while path != "/":
        if path in gone:
            return gone[path]
        path = posixpath.dirname(path) or "/"
    return None


def _problem(path: str, declared: Declared, remover: Declared) -> Problem:
    return Problem(
        f"{declared.id} manages {path}, and {remover.id} ({remover.position}) removes it:"
        " on every run they undo each other",
        declared.position,
        "remove one of them, or add a control to each",
    )
