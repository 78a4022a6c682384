"""Checks that ``require`` and ``subscribe`` refer to resources that come earlier in the
run (controller).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestrator.expressions import Template
from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.value_compiler import is_templated
from remote_runtime.errors import Position, Problem
from remote_runtime.text.suggestions import nearest

REFERENCES = ("require", "subscribe")
_ANY = ""  # matches every type


class NamedResource(NamedTuple):
    """One resource under its final name.

    ``name`` is None while it is unknown, and "" for a ``foreach`` over nothing, which only has an
    alias. The resources of a child manifest precede the one that applies it, in run order;
    ``begin`` is the index of the first of them. ``opens``: its child resources are unknown.
    ``place`` numbers each application of a manifest.
    """

    declared: DeclaredResource
    name: str | None
    alias: str | None
    place: int = 0
    opens: bool = False
    begin: int = -1


def named(declared: DeclaredResource) -> NamedResource:
    """The reference data of a resource, with the names that are known without a host."""
    name = None if isinstance(declared.name, Template) else declared.name
    alias = declared.values.get("alias")
    alias = alias if isinstance(alias, str) else None
    return NamedResource(declared, name, alias, opens=declared.type.applies)


def check_names(
    resources: Sequence[NamedResource], final: bool = False, earlier: frozenset[str] | None = None
) -> list[Problem]:
    """Find duplicates, and references to nothing or to later resources.

    References may also name ``earlier`` resources, from other runs of the same session; None
    without a session. A reference that could match a resource with an unknown name is checked
    later, when all names are ``final``.
    """
    first, problems = _names(resources)
    unknown = _unknown(resources, final)
    for index, entry in enumerate(resources):
        for key in REFERENCES:
            for at, reference in enumerate(getattr(entry.declared, key)):
                kind, _, name = reference.partition("#")
                if not name:
                    continue  # the schema refuses it
                first_position = first.get(reference)
                done = first_position is not None and first_position < index
                of_its_own = first_position is not None and 0 <= entry.begin <= first_position
                if (done and not of_its_own) or reference in (earlier or ()):
                    continue
                where = entry.declared.where((key, at))
                if first_position is None and holds_expression(reference):
                    problems.append(unrendered(entry.declared, key, reference, where))
                elif min(unknown.get(kind, index), unknown.get(_ANY, index)) >= index:
                    what = f"{_id(entry)}: {key} refers to"
                    if first_position is None:
                        known = [name for name, place in first.items() if place != index]
                        problems.append(
                            _unheard_of(
                                what,
                                reference,
                                where=where,
                                known=known,
                                earlier=earlier,
                                final=final,
                            )
                        )
                    else:
                        begin = resources[first_position].begin
                        problems.append(
                            _refusal(
                                what,
                                reference,
                                target=(first_position, begin),
                                index=index,
                                where=where,
                            )
                        )
    return problems


def duplicates(resources: Sequence[NamedResource]) -> list[Problem]:
    """Names that occur twice in one manifest, or for different resources of the run."""
    return _names(resources)[1]


def _names(resources: Sequence[NamedResource]) -> tuple[dict[str, int], list[Problem]]:
    """The first position of each name, and the duplicates."""
    problems: list[Problem] = []
    first: dict[str, int] = {}
    places: dict[tuple[int, str], int] = {}
    for index, entry in enumerate(resources):
        _add_names(entry, index, first=first, places=places, resources=resources, problems=problems)
    return first, problems


def _unknown(resources: Sequence[NamedResource], final: bool) -> dict[str, int]:
    """The first index where a resource of a type, or of any type, may have an unknown name."""
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


def unrendered(declared: DeclaredResource, key: str, text: str, where: Position) -> Problem:
    """A problem for a reference that contains a template, because references are checked before any
    host is contacted.
    """
    message = f"{declared.id}: {key} is not rendered as a template, so {text} matches no resource"
    hint = "write type#name in full, or give that resource an alias and write type#alias"
    return Problem(message, where, hint, "input.reference")


def _add_names(
    entry: NamedResource,
    index: int,
    *,
    first: dict[str, int],
    places: dict[tuple[int, str], int],
    resources: Sequence[NamedResource],
    problems: list[Problem],
) -> None:
    type_name = entry.declared.type.name
    for label, name in (("name", entry.name), ("alias", entry.alias)):
        if not name or (label == "alias" and name == entry.name):
            continue
        id_ = f"{type_name}#{name}"
        other = places.setdefault((entry.place, id_), index)
        if other == index:
            # Two manifests may have the same resource; a later check compares the two.
            # Each may use its own alias for its resource; the latest one counts.
            other = first.setdefault(id_, index)
            if entry.name is None or resources[other].name in (entry.name, None):
                continue
            if label == "alias" and resources[other].alias == name:
                continue
        where = entry.declared.where((label,))
        if resources[other].declared is entry.declared:  # foreach made both
            if label == "name":
                message = f"foreach creates {id_} more than once"
                hint = (
                    "use item, index or key in its name, and list each element once: "
                    "lists from several data sources are joined"
                )
                problems.append(Problem(message, entry.declared.position, hint, "input.duplicate"))
            continue
        place = resources[other].declared.position
        message = f"{id_} is defined twice, first at {place.file}:{place.line}"
        problems.append(Problem(message, where, "remove or rename one", "input.duplicate"))


def _id(entry: NamedResource) -> str:
    return f"{entry.declared.type.name}#{entry.name or entry.declared.name_node.text}"


def _unheard_of(
    what: str,
    reference: str,
    *,
    where: Position,
    known: Iterable[str],
    earlier: frozenset[str] | None,
    final: bool,
) -> Problem:
    none = "is not in this run" if final else "is not in the manifest"
    none = none if earlier is None else "no command of this session managed"
    likely = nearest(reference, (*known, *(earlier or ())))
    hint = f"did you mean {likely}?" if likely else "use an earlier resource, written as type#name"
    return Problem(f"{what} {reference}, which {none}", where, hint, "input.reference")


def _refusal(
    what: str, reference: str, *, target: tuple[int, int], index: int, where: Position
) -> Problem:
    """The reason why a reference is refused. ``target``: the indexes of the named resource and of
    its first child.
    """
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
        hint = "resources run in the order written: move that resource above this one"
    return Problem(message, where, hint, "input.reference")
