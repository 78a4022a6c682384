"""Finds resources that undo each other in every run, from the manifest alone (controller)."""

import posixpath
from collections.abc import Iterable, Iterator

from orchestrator.manifest.declared_resource import DeclaredResource
from remote_runtime.errors import Problem

_DECIDING = frozenset(("ensure", "creates", "cwd", "cleanup"))


def contradictions(resources: Iterable[DeclaredResource]) -> list[Problem]:
    """One problem for each resource that creates a path that another one removes, or that changes
    part of a file whose content another one sets completely, and for each pair of one type that
    undo each other in another way.

    Conditional resources and names with templates are skipped, because these may never conflict.
    """
    resources = list(resources)
    there: list[tuple[str, DeclaredResource]] = []
    gone: dict[str, DeclaredResource] = {}
    decided = [declared for declared in resources if _is_decided(declared)]
    for declared in decided:
        for path, present in declared.type.managed_paths(str(declared.name), declared.raw):
            path = posixpath.normpath(path)
            if present:
                there.append((path, declared))
            else:
                gone.setdefault(path, declared)
    contradictions: dict[tuple[str, str], Problem] = {}
    for one, other, what in _conflicts(resources):
        contradictions.setdefault((one.id, other.id), _conflict(what, one, other))
    for path, declared in there if gone else ():
        remover = _remover(path, gone)
        if remover is not None and remover is not declared:
            contradictions.setdefault((declared.id, remover.id), _problem(path, declared, remover))
    return [*contradictions.values(), *_parts(decided)]


def _is_decided(declared: DeclaredResource) -> bool:
    conditional = declared.control or declared.foreach or not isinstance(declared.name, str)
    return not (conditional or _DECIDING.intersection(declared.templated))


def _parts(resources: Iterable[DeclaredResource]) -> Iterator[Problem]:
    """A problem for each resource that changes part of a file that another one sets as a whole."""
    wholes: dict[str, DeclaredResource] = {}
    parts: list[tuple[str, DeclaredResource]] = []
    for declared in resources:
        for path, whole in declared.type.contents(str(declared.name), declared.raw):
            if whole:
                wholes.setdefault(path, declared)
            else:
                parts.append((path, declared))
    for path, declared in parts:
        whole_of = wholes.get(path)
        if whole_of is not None and whole_of is not declared:
            yield Problem(
                f"{declared.id} changes part of {path}, and {whole_of.id} ({whole_of.position})"
                " sets its whole content: on every run they undo each other",
                declared.position,
                "put the part in the content, or omit the content",
            )


def _remover(path: str, gone: dict[str, DeclaredResource]) -> DeclaredResource | None:
    while path != "/":
        if path in gone:
            return gone[path]
        path = posixpath.dirname(path) or "/"
    return None


def _problem(path: str, declared: DeclaredResource, remover: DeclaredResource) -> Problem:
    return Problem(
        f"{declared.id} manages {path}, and {remover.id} ({remover.position}) removes it:"
        " on every run they undo each other",
        declared.position,
        "remove one of them, or add a control to each",
    )


def _conflicts(
    resources: Iterable[DeclaredResource],
) -> Iterator[tuple[DeclaredResource, DeclaredResource, str]]:
    """The conflicts that types find among their resources."""
    by_type: dict[str, list[DeclaredResource]] = {}
    for declared in resources:
        fixed = declared.foreach is None and isinstance(declared.name, str)
        if fixed and not (declared.control or declared.templated):
            by_type.setdefault(declared.type.name, []).append(declared)
    for same in by_type.values():
        named = [(str(one.name), dict(one.raw)) for one in same]
        for first, second, what in same[0].type.conflicts(named):
            yield same[second], same[first], what


def _conflict(what: str, declared: DeclaredResource, other: DeclaredResource) -> Problem:
    return Problem(
        f"{declared.id} and {other.id} ({other.position}) both manage {what}:"
        " on every run they undo each other",
        declared.position,
        "define it in only one of them, or add a control to each",
    )
