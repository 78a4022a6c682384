"""The differences between two stored runs, by host and resource (controller).

A preview and the push after it are equal if the prediction was correct, because the comparison
ignores whether an action was performed.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.store.stored_runs import ReportSource
from orchestrator.report.text_normalization import normalized, without_host_name
from orchestrator.support.plain_text import value_text

FIRST, SECOND = "only in the first run", "only in the second run"
OUTCOME, DESIRED = "outcome", "desired"
HOST = ""  # represents the host itself instead of a resource
MAX_CHARACTERS = 400  # characters of a value
HASH = re.compile(r"(?:sha256:)?\b[0-9a-f]{32,}\b")


class Difference(NamedTuple):
    """One thing that differs on one host; ``resource`` is "" for the host's own outcome."""

    resource: str
    what: str
    before: str
    after: str


class _Detail(NamedTuple):
    """The compared part: its ``kind``, and its property, change or check."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, self))


class _ResourceResult(NamedTuple):
    """The result of one resource in one run."""

    status: str
    details: dict[_Detail, str]


_ERROR = _Detail("error")
_Run = dict[str, dict[str, _ResourceResult]]


class Differences:
    """The differences of two runs; ``hosts`` are in both. InputError for a damaged directory."""

    def __init__(self, first: ReportSource, second: ReportSource) -> None:
        self._before, self._after = _seen(first), _seen(second)
        self._results = (
            {r.host: r for r in first.results()},
            {r.host: r for r in second.results()},
        )
        there: list[str] = first.about["hosts"]
        self.hosts = list(dict.fromkeys([*there, *second.about["hosts"]]))
        self._of_run = (set(there), set(second.about["hosts"]))

    def of(self, host: str) -> list[Difference]:
        """The differences on a host, in the order of the resources."""
        in_first, in_second = (host in hosts for hosts in self._of_run)
        if not in_first or not in_second:
            return [Difference(HOST, FIRST if in_first else SECOND, "", "")]
        outcome = list(self._host_outcome(host))
        if outcome and (host not in self._before or host not in self._after):
            return outcome  # all of its resources are in one run only, and that is why
        return [*outcome, *self._resources(host)]

    def _host_outcome(self, host: str) -> Iterator[Difference]:
        before, after = (_outcome(results.get(host)) for results in self._results)
        if normalized(before, host) != normalized(after, host):
            yield Difference(HOST, OUTCOME, before, after)

    def _resources(self, host: str) -> Iterator[Difference]:
        before, after = self._before.get(host, {}), self._after.get(host, {})
        for name in dict.fromkeys([*before, *after]):
            if name not in after:
                yield Difference(name, FIRST, before[name].status, "")
            elif name not in before:
                yield Difference(name, SECOND, "", after[name].status)
            elif before[name] != after[name]:
                yield from _compared(name, before[name], after[name], host)


def _outcome(result: HostResult | None) -> str:
    if result is None:
        return "no result"
    # Failed resources are reported one by one.
    return f"{result.outcome}: {result.message}" if result.message else "completed"


def _compared(
    name: str, one: _ResourceResult, other: _ResourceResult, host: str
) -> Iterator[Difference]:
    if one.status != other.status:
        yield Difference(name, OUTCOME, one.status, other.status)
    for what in dict.fromkeys([*one.details, *other.details]):
        before, after = one.details.get(what, ""), other.details.get(what, "")
        if one.status != other.status and what.kind != DESIRED:
            continue  # a failure has an error, a success has none
        # An error may hold process ids and times; a value that differs in a digit differs.
        same = (
            normalized(before, host) == normalized(after, host)
            if what == _ERROR
            else before == after
        )
        if not same:
            yield Difference(name, str(what), before, after)


def _seen(run: ReportSource) -> _Run:
    result: _Run = {}
    for event, _ in run.events():
        resources = result.setdefault(event["host"], {})
        resources[f"{event['type']}#{event['name']}"] = _ResourceResult(
            event["status"], _details(event)
        )
    return result


def _details(event: dict[str, Any]) -> dict[_Detail, str]:
    told = {_Detail(DESIRED, key): _text(value) for key, value in event["properties"].items()}
    for change in event["changes"]:
        told[_Detail("", change["what"])] = f"{_text(change['from'])} → {_text(change['to'])}"
    for check in event.get("health_check", ()):
        told[_Detail("check", check["name"])] = str(check["status"])
    if event["error"]:
        told[_ERROR] = _text(event["error"][0])
    if event["unmet_requirements"]:
        told[_Detail("unmet")] = ", ".join(event["unmet_requirements"])
    return told


def _text(value: Any) -> str:
    text = value_text(value)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def _shared(host: str, text: str) -> str:
    return HASH.sub("#", without_host_name(host, text))


def group_hosts(
    differences: dict[str, list[Difference]],
) -> list[tuple[list[str], list[Difference]]]:
    """Hosts with the same differences, the most hosts first; hosts without any are omitted.

    Hosts are grouped regardless of host names and of hashes of contents with host names.
    """
    groups: dict[tuple[Difference, ...], tuple[list[str], list[Difference]]] = {}
    for host, found in differences.items():
        if found:
            key = tuple(Difference(*(_shared(host, part) for part in one)) for one in found)
            groups.setdefault(key, ([], found))[0].append(host)
    largest = sorted(groups.values(), key=lambda group: -len(group[0]))
    return [(hosts, _shown(hosts, found)) for hosts, found in largest]


def _shown(hosts: list[str], differences: list[Difference]) -> list[Difference]:
    """The differences of the first host, with ``{host}`` for its name if there are others."""
    if len(hosts) == 1:
        return differences
    return [Difference(*(without_host_name(hosts[0], part) for part in one)) for one in differences]
