"""What ``require`` and ``subscribe`` name must come earlier in the run (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inventory.document import nearest
from orchestrator.expressions import Template
from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.declared import Declared
from orchestrator.manifest.values import is_templated
from remote_runtime.errors import Position, Problem

REFERENCES = ("require", "subscribe")


class Named(NamedTuple):
    """One resource under its final name; ``name`` None where that is not known yet."""

    declared: Declared
    name: str | None
    alias: str | None


def named(declared: Declared) -> Named:
    """A resource as far as its names are known before a host is."""
    name = None if isinstance(declared.name, Template) else declared.name
    alias = declared.values.get("alias")
    return Named(declared, name, alias if isinstance(alias, str) else None)


def check_names(
    resources: Sequence[Named], final: bool = False, earlier: frozenset[str] = frozenset()
) -> list[Problem]:
    """Duplicates, and references that name nothing or something that comes later.

    ``earlier`` may be named as well: other runs of the same session brought it.
    A reference that could mean a resource whose name is not known yet is left for the host, when
    all names are ``final``.
    """
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for index, entry in enumerate(resources):
        _add_names(entry, index, first, resources, problems)
    unknown: dict[str, int] = {}
    for index, entry in enumerate(resources):
        open_alias = (
            not final and entry.alias is None and is_templated(entry.declared.values.get("alias"))
        )
        if entry.name is None or open_alias:
            unknown.setdefault(entry.declared.type.name, index)
    for index, entry in enumerate(resources):
        for key in REFERENCES:
            for at, reference in enumerate(getattr(entry.declared, key)):
                if "#" not in reference:
                    continue  # refused by the schema
                found = first.get(reference)
                if (found is not None and found < index) or reference in earlier:
                    continue
                where = entry.declared.where((key, at))
                if found is None and holds_expression(reference):
                    problems.append(unrendered(entry.declared, key, reference, where))
                    continue
                if unknown.get(reference.partition("#")[0], index) < index:
                    continue
                problems.append(
                    _refusal(entry, key, reference, found, index, (*first, *earlier), where)
                )
    return problems


def unrendered(declared: Declared, key: str, text: str, where: Position) -> Problem:
    """A reference that only a template would make one: they are checked before any host is."""
    message = f"{declared.id}: {key} is never rendered, so {text} names nothing"
    hint = "write type#name in full, or give that resource an alias and write type#alias"
    return Problem(message, where, hint, "input.reference")


def _add_names(
    entry: Named,
    index: int,
    first: dict[str, int],
    resources: Sequence[Named],
    problems: list[Problem],
) -> None:
    type_name = entry.declared.type.name
    for label, name in (("name", entry.name), ("alias", entry.alias)):
        if name is None or (label == "alias" and name == entry.name):
            continue
        id_ = f"{type_name}#{name}"
        other = first.setdefault(id_, index)
        if other != index:
            where = entry.declared.where((label,))
            place = resources[other].declared.position
            message = f"{id_} stands twice, first in {place.file}:{place.line}"
            problems.append(Problem(message, where, "remove or rename one", "input.duplicate"))


def _refusal(
    entry: Named,
    key: str,
    reference: str,
    found: int | None,
    index: int,
    known: Iterable[str],
    where: Position,
) -> Problem:
    who = f"{entry.declared.type.name}#{entry.name or entry.declared.name_node.text}"
    if found == index:
        message, hint = f"{who}: {key} names the resource itself", "remove it"
    elif found is not None:
        message = f"{who}: {key} names {reference}, which comes later"
        hint = "resources run in the order written: move it above"
    else:
        message = f"{who}: {key} names {reference}, which is not in this run"
        likely = nearest(reference, known)
        hint = f"did you mean {likely}?" if likely else "name an earlier resource as type#name"
    return Problem(message, where, hint, "input.reference")
