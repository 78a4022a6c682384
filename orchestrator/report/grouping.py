"""Groups hosts with the same outcome (controller)."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult, applied_as, is_apply
from orchestrator.report.run_collector import Entry, RunCollector
from orchestrator.report.text_normalization import normalized, short_name, without_host_name

# Failures first; a preview's and a push's changes before hosts where nothing is to do.
ORDER = [
    outcome.DEFECT,
    outcome.FAILED,
    outcome.REFUSED,
    outcome.UNREACHABLE,
    outcome.INTERRUPTED,
    outcome.NOT_STARTED,
    outcome.OK,
]

Row = dict[Entry, list[str]]  # of one resource: the summaries, by their hosts


class Block(NamedTuple):
    """Hosts with the same outcome; ``entries`` has one row per resource, with the differences."""

    outcome: str
    results: list[HostResult]
    hosts: list[str]
    entries: list[Row]

    @property
    def result(self) -> HostResult:
        """The result of the first host, which represents all hosts unless they differ."""
        return self.results[0]

    @property
    def changed(self) -> bool:
        """Whether anything was changed, or would be."""
        return any(row_entry.status == "changed" for row in self.entries for row_entry in row)


class NotRun(NamedTuple):
    """Resources that did not run on these hosts, in the order of the plan."""

    resources: list[str]
    hosts: list[str]


def blocks_of(collected: RunCollector) -> list[Block]:
    """The blocks, failures first, then the largest ones."""
    alike_results: dict[tuple[object, ...], list[HostResult]] = {}
    order = collected.started.hosts if collected.started else tuple(collected.results)
    results = [collected.results[host] for host in order if host in collected.results]
    for result in results:
        alone = len(results) == 1  # there is nothing to compare it with
        key = () if alone else _key(result, collected.entries.get(result.host, []))
        alike_results.setdefault(key, []).append(result)
    return sorted((_block(results, collected) for results in alike_results.values()), key=_rank)


def overview(blocks: list[Block], counts: Callable[[HostResult], str]) -> list[Block]:
    """The blocks whose hosts have the same result and ``counts``, merged, with the entries of the
    first one: for results of hosts, not for their changes.
    """
    found: dict[tuple[object, ...], Block] = {}
    for block in blocks:
        result = block.result
        end = (result.kind, normalized(result.message, result.host), result.phase)
        key = (block.outcome, block.changed, bool(result.untried), counts(result), *end)
        first = found.get(key)
        if first is None:
            found[key] = block
        else:
            found[key] = first._replace(
                results=first.results + block.results, hosts=first.hosts + block.hosts
            )
    return list(found.values())


def _block(results: list[HostResult], collected: RunCollector) -> Block:
    hosts = [result.host for result in results]
    rows = zip(*(collected.entries.get(host, []) for host in hosts), strict=True)
    return Block(results[0].outcome, results, hosts, [_row(row, hosts) for row in rows])


def _row(entries: tuple[Entry, ...], hosts: list[str]) -> Row:
    row: Row = {}
    for entry, host in zip(entries, hosts, strict=True):
        row.setdefault(entry, []).append(host)
    return row


def without_redundant_applies(entries: Iterable[Entry]) -> list[Entry]:
    """The entries without those of ``apply`` resources whose own resources show what happened."""
    entries = list(entries)
    told = {entry.manifest for entry in entries}
    return [entry for entry in entries if entry.health or applied_by(entry) not in told - {""}]


def applied_by(entry: Entry) -> str:
    """The manifest that it would apply, in the form of events.

    "" if it changes something itself: the result of an apply is that of its manifest.
    """
    if entry.changes or not is_apply(entry.resource):
        return ""
    return applied_as(entry.manifest, entry.resource.partition("#")[2])


def not_run_resources(left: Mapping[str, Iterable[str]], hosts: Iterable[str]) -> list[NotRun]:
    """The resources that did not run on some hosts, the most hosts first; ``left`` has
    them by host.
    """
    where: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    for host in hosts:
        for name in left.get(host, ()):
            alike = without_host_name(host, name)
            where.setdefault(alike, []).append(host)
            if shown.setdefault(alike, name) != name:
                shown[alike] = alike
    result: dict[tuple[str, ...], NotRun] = {}
    for alike, lacking in where.items():
        result.setdefault(tuple(lacking), NotRun([], lacking)).resources.append(shown[alike])
    return sorted(result.values(), key=lambda one: -len(one.hosts))


def _rank(block: Block) -> tuple[int, bool, int]:
    return ORDER.index(block.outcome), not block.changed, -len(block.hosts)


def _key(result: HostResult, entries: list[Entry]) -> tuple[object, ...]:
    told = (result.outcome, result.kind, normalized(result.message, result.host), result.phase)
    return (*told, tuple(grouping_key(entry, result.host) for entry in entries))


def grouping_key(entry: Entry, host: str) -> tuple[str, ...]:
    """The key by which hosts are grouped: everything except the details of the changes."""
    named: tuple[str, ...] = (
        entry.resource, entry.manifest, entry.status, entry.message, entry.uncertainty,
    )  # fmt: skip
    texts = itertools.chain(entry.errors, [""], entry.unmet, [""], *entry.health, [entry.planned])
    if short_name(host) in "\n".join(named):
        named = tuple(without_host_name(host, text) for text in named)
    return (*named, *(text and normalized(text, host) for text in texts))
