"""What ``require`` and ``subscribe`` name must come earlier in the run (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestrator.expressions import Template
from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.values import is_templated
from remote_runtime.errors import Position, Problem
from remote_runtime.text.nearest import nearest

REFERENCES = ("require", "subscribe")
_ANY = ""  # stands for every type


class Named(NamedTuple):
    """One resource under its final name; ``name`` None where that is not known yet, "" where there
    is none: a ``foreach`` over nothing has an alias only.

    Of a child manifest the resources stand before the one that applies it, as they run: ``begin``
    is where the first of them stands. ``opens`` where they are not known, ``place`` numbers the
    manifests that are applied, each time anew.
    """

    declared: Declared
    name: str | None
    alias: str | None
    place: int = 0
    opens: bool = False
    begin: int = -1


def named(declared: Declared) -> Named:
    """A resource as far as its names are known before a host is."""
    name = None if isinstance(declared.name, Template) else declared.name
    alias = declared.values.get("alias")
    alias = alias if isinstance(alias, str) else None
    return Named(declared, name, alias, opens=declared.type.applies)


def check_names(
    resources: Sequence[Named], final: bool = False, earlier: frozenset[str] | None = None
) -> list[Problem]:
    """Duplicates, and references that name nothing or something that comes later.

    ``earlier`` may be named as well: other runs of the same session brought it. None without one.
    A reference that could mean a resource whose name is not known yet is left for the host, when
    all names are ``final``.
    """
    first, problems = _names(resources)
    unknown = _unknown(resources, final)
    for index, entry in enumerate(resources):
        for key in REFERENCES:
            for at, reference in enumerate(getattr(entry.declared, key)):
                if "#" not in reference:
                    continue  # refused by the schema
                found = first.get(reference)
                done = found is not None and found < index
                of_its_own = found is not None and 0 <= entry.begin <= found
                if (done and not of_its_own) or reference in (earlier or ()):
                    continue
                where = entry.declared.where((key, at))
                kind = reference.partition("#")[0]
                if found is None and holds_expression(reference):
                    problems.append(unrendered(entry.declared, key, reference, where))
                elif min(unknown.get(kind, index), unknown.get(_ANY, index)) >= index:
                    what = f"{_id(entry)}: {key} names"
                    if found is None:
                        known = [name for name, place in first.items() if place != index]
                        problems.append(
                            _unheard_of(what, reference, where=where, known=known, earlier=earlier)
                        )
                    else:
                        begin = resources[found].begin
                        problems.append(
                            _refusal(
                                what, reference, target=(found, begin), index=index, where=where
                            )
                        )
    return problems


def duplicates(resources: Sequence[Named]) -> list[Problem]:
    """The names that stand twice in one manifest, or for different resources of the run."""
    return _names(resources)[1]


def _names(resources: Sequence[Named]) -> tuple[dict[str, int], list[Problem]]:
    """Where each name stands first, and what stands twice."""
    problems: list[Problem] = []
    first: dict[str, int] = {}
    places: dict[tuple[int, str], int] = {}
    for index, entry in enumerate(resources):
        _add_names(entry, index, first=first, places=places, resources=resources, problems=problems)
    return first, problems


def _unknown(resources: Sequence[Named], final: bool) -> dict[str, int]:
    """From where on a resource of a type, or of any, may be there under a name not known yet."""
    unknown: dict[str, int] = {}
    for index, entry in enumerate(resources):
        open_alias = (
            not final and entry.alias is None and is_templated(entry.declared.values.get("alias"))
        )
        if entry.name is None or open_alias or (not final and entry.declared.foreach):
            unknown.setdefault(entry.declared.type.name, index)
        if entry.opens:
            unknown.setdefault(_ANY, index)
    return unknown


def unrendered(declared: Declared, key: str, text: str, where: Position) -> Problem:
    """A reference that only a template would make one: they are checked before any host is."""
    message = f"{declared.id}: {key} is never rendered, so {text} matches no resource"
    hint = "write type#name in full, or give that resource an alias and write type#alias"
    return Problem(message, where, hint, "input.reference")


def _add_names(
    entry: Named,
    index: int,
    *,
    first: dict[str, int],
    places: dict[tuple[int, str], int],
    resources: Sequence[Named],
    problems: list[Problem],
) -> None:
    type_name = entry.declared.type.name
    for label, name in (("name", entry.name), ("alias", entry.alias)):
        if not name or (label == "alias" and name == entry.name):
            continue
        id_ = f"{type_name}#{name}"
        other = places.setdefault((entry.place, id_), index)
        if other == index:
            # Two manifests may have the same resource; whether they agree on it is asked later.
            # Each may have an alias of its own for what it means; the latest one is meant.
            other = first.setdefault(id_, index)
            if entry.name is None or resources[other].name in (entry.name, None):
                continue
            if label == "alias" and resources[other].alias == name:
                continue
        where = entry.declared.where((label,))
        if resources[other].declared is entry.declared:  # foreach has made both
            if label == "name":
                message = f"{id_} is made more than once by foreach"
                hint = (
                    "use item, index or key in its name, and have each element once: "
                    "lists of several sources of data are joined"
                )
                problems.append(Problem(message, entry.declared.position, hint, "input.duplicate"))
            continue
        place = resources[other].declared.position
        message = f"{id_} is defined twice, first in {place.file}:{place.line}"
        problems.append(Problem(message, where, "remove or rename one", "input.duplicate"))


def _id(entry: Named) -> str:
    return f"{entry.declared.type.name}#{entry.name or entry.declared.name_node.text}"


def _unheard_of(
    what: str,
    reference: str,
    *,
    where: Position,
    known: Iterable[str],
    earlier: frozenset[str] | None,
) -> Problem:
    none = "is not in this run" if earlier is None else "no command of this session ensured"
    likely = nearest(reference, (*known, *(earlier or ())))
    hint = f"did you mean {likely}?" if likely else "name an earlier resource as type#name"
    return Problem(f"{what} {reference}, which {none}", where, hint, "input.reference")


def _refusal(
    what: str, reference: str, *, target: tuple[int, int], index: int, where: Position
) -> Problem:
    """``target``: where the resource that is meant stands, and where its first child does."""
    if target[0] == index:
        message, hint = f"{what} the resource itself", "remove it"
    elif target[0] < index:
        message = f"{what} {reference}, which is part of this resource"
        hint = "remove it: it runs after this resource starts"
    elif 0 <= target[1] <= index:
        message = f"{what} {reference}, which this resource is part of"
        hint = "remove it: it ends after this resource"
    else:
        message = f"{what} {reference}, which comes later"
        hint = "resources run in the order written: move it above"
    return Problem(message, where, hint, "input.reference")
