"""Compares the resources and facts of two hosts (controller)."""

from typing import Any, NamedTuple

from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.host import ResourceState, resources_of
from orchestrator.studio.pages.hosts import flat
from orchestrator.studio.pages.page import MARKS, Page, Parameters
from orchestrator.studio.pages.studio import Studio, moment

MAX_CHOICES = 2_000
MAX_ROWS = 1_000
_MAX_LENGTH = 400  # characters of a value


class DifferentResource(NamedTuple):
    """A resource with different states; None if a host does not have it."""

    name: str
    states: tuple[ResourceState | None, ResourceState | None]


class DifferentFact(NamedTuple):
    """A fact that differs; "" if a host does not have it."""

    path: str
    values: tuple[str, str]


def compare_hosts_page(studio: Studio, parameters: Parameters) -> Page:
    """The differences between the hosts ``a`` and ``b``; if one is missing, a choice of hosts."""
    choices = studio.reader.rows("SELECT name FROM hosts ORDER BY sort LIMIT ?", (MAX_CHOICES,))
    values: dict[str, Any] = {"choices": [row["name"] for row in choices], "hosts": None}
    names = parameters.text("a"), parameters.text("b")
    if all(names):
        values |= _compared(studio, studio.host(names[0]), studio.host(names[1]))
    return Page("compare_hosts.html", "Compare two hosts", values)


def _compared(studio: Studio, first: Row, second: Row) -> dict[str, Any]:
    both = (first, second)
    resources = _resources(*(resources_of(studio, host) for host in both))
    records = [studio.hosts.facts(host["name"]) for host in both]
    facts = _facts(*(dict(flat(record.facts)) if record else {} for record in records))
    known = [studio.hosts.host(host["name"]) for host in both]
    return {
        "hosts": both,
        "groups": [", ".join(host.groups) if host else "" for host in known],
        "addresses": [host.address if host else "" for host in known],
        "facts_at": [moment(record.time) if record else "" for record in records],
        "resources": resources[:MAX_ROWS],
        "resources_left": len(resources[MAX_ROWS:]),
        "facts": facts[:MAX_ROWS],
        "facts_left": len(facts[MAX_ROWS:]),
        "marks": MARKS,
    }


def _resources(first: list[ResourceState], second: list[ResourceState]) -> list[DifferentResource]:
    """The resources that only one host has, or whose last result or drift differs."""
    before, after = ({one.name: one for one in found} for found in (first, second))
    return [
        DifferentResource(name, (before.get(name), after.get(name)))
        for name in dict.fromkeys([*before, *after])
        if _told(before.get(name)) != _told(after.get(name))
    ]


def _told(one: ResourceState | None) -> tuple[str, ...] | None:
    """The compared values: the state, its reason and drift, but not times and users."""
    if one is None:
        return None
    words = str(one.result["words"]) if one.result else ""
    return one.status, words, str(one.drift["words"]) if one.drift else ""


def _facts(first: dict[str, str], second: dict[str, str]) -> list[DifferentFact]:
    return [
        DifferentFact(path, (_short(first.get(path, "")), _short(second.get(path, ""))))
        for path in sorted({*first, *second})
        if first.get(path) != second.get(path)
    ]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
