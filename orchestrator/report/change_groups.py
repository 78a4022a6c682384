"""Lists each change of a run once, with the hosts that have it (controller)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from orchestrator.report.grouping import Row, applied_by, grouping_key, without_redundant_applies
from orchestrator.report.host_names import named, on_all
from orchestrator.report.run_collector import Entry, RunCollector
from orchestrator.report.terminal.resource_rows import DetailLevel, Rows
from orchestrator.report.terminal.style import Style
from orchestrator.support.plain_text import one_line

MAX_ROWS = 80


def rows_of(collected: RunCollector, hosts: Sequence[str]) -> list[Row]:
    """One row for each outcome of a resource, with all ``hosts`` that share it, in the order of the
    first host that has it.
    """
    rows: dict[tuple[object, ...], Row] = {}
    for host in hosts:
        seen: Counter[tuple[str, ...]] = Counter()
        for entry in collected.entries.get(host, ()):
            key = grouping_key(entry, host)
            seen[key] += 1
            rows.setdefault((seen[key], *key), {}).setdefault(entry, []).append(host)
    return list(rows.values())


def by_manifest(rows: Sequence[Row]) -> list[Row]:
    """The rows of each manifest, failures first, without an ``apply`` whose resources show what
    happened.
    """
    heads = [(next(iter(row)), row) for row in rows]
    told = set(map(id, without_redundant_applies(entry for entry, _ in heads)))
    heads = [head for head in heads if id(head[0]) in told]
    order: dict[str, tuple[int, int]] = {}
    for at, (entry, _) in enumerate(heads):
        rank, first = order.get(entry.manifest, (2, at))
        order[entry.manifest] = (min(rank, _first_failures(entry)), first)
    heads.sort(key=lambda head: (*order[head[0].manifest], _first_failures(head[0])))
    return [row for _, row in heads]


def _first_failures(entry: Entry) -> int:
    """Failures first, then resources that they prevented from running; otherwise the
    order of the run.
    """
    return {"failed": 0, "skipped": 1}.get(entry.status, 2)


def heading(rows: Sequence[Row], manifest: str, width: int) -> str:
    """The manifest of the rows below, and the result of its ``apply``."""
    if not manifest:
        return "in the manifest itself"
    appliers = (next(iter(row)) for row in rows)
    errors = (e.errors for e in appliers if e.errors and applied_by(e) == manifest)
    return one_line(": ".join([f"in {manifest}", *next(errors, ())]), width)


def hosts_of(row: Row) -> list[str]:
    """The hosts of a row."""
    return list(dict.fromkeys(host for hosts in row.values() for host in hosts))


class ChangeList:
    """The changes of different hosts; failures that were already shown (``told``) are omitted."""

    def __init__(
        self,
        collected: RunCollector,
        hosts: Sequence[str],
        *,
        style: Style,
        choice: DetailLevel,
        told: bool,
    ) -> None:
        self._all = rows_of(collected, hosts)
        rows = by_manifest(self._all)
        self._rows = [row for row in rows if not (told and _is_reported(next(iter(row))))]
        self._hosts = hosts
        self._style = style
        self._choice = choice

    def lines(self, space: int | None = None) -> Iterator[str]:
        """Every change. If they exceed ``space`` lines, diffs are omitted first, and then the
        changes of the most hosts."""
        if not self._rows:
            return
        pieces = self._pieces(self._choice)
        maximum = len(self._rows) if self._choice.everything else MAX_ROWS
        if space is not None and self._length(pieces) > space and self._choice.diffs:
            pieces = self._pieces(self._choice._replace(diffs=False))
        kept = set(range(len(pieces)))
        if len(pieces) > maximum or (space is not None and self._length(pieces) > space):
            kept = self._rarest(pieces, maximum, space)
        manifest = ""
        for at, lines in enumerate(pieces):
            if at not in kept:
                continue
            entry = next(iter(self._rows[at]))
            if entry.manifest != manifest:
                manifest = entry.manifest
                text = heading(self._all, manifest, self._style.width - 4)
                yield f"    {self._style('faint', text)}"
            yield from lines
        if len(kept) < len(pieces):
            yield self._left_out([row for at, row in enumerate(self._rows) if at not in kept])

    def _pieces(self, choice: DetailLevel) -> list[list[str]]:
        rows = Rows(self._style, choice)
        return [list(rows.lines(row, self._where(hosts_of(row)))) for row in self._rows]

    def _length(self, pieces: Sequence[list[str]]) -> int:
        manifests = [next(iter(row)).manifest for row in self._rows]
        headings = sum(one != other for one, other in zip(manifests, ["", *manifests]))
        return sum(map(len, pieces)) + headings

    def _rarest(self, pieces: Sequence[list[str]], maximum: int, space: int | None) -> set[int]:
        """The shown rows: skipped ones and those of few hosts come first, so that the limit does
        not hide what only one host has.
        """
        rank = {
            at: (_first_failures(next(iter(row))), len(hosts_of(row)))
            for at, row in enumerate(self._rows)
        }
        kept: set[int] = set()
        manifests: set[str] = set()
        left = None if space is None else space - 1
        for at in sorted(rank, key=rank.__getitem__):
            manifest = next(iter(self._rows[at])).manifest
            needed = len(pieces[at]) + (2 if manifest and manifest not in manifests else 0)
            if len(kept) >= maximum or (left is not None and needed > left):
                break
            left = None if left is None else left - needed
            kept.add(at)
            manifests.add(manifest)
        return kept

    def _where(self, hosts: list[str]) -> str:
        if len(hosts) == len(self._hosts) > 1:
            return on_all(len(hosts))
        return f"on {named(hosts, self._style.width // 3)}"

    def _left_out(self, rows: list[Row]) -> str:
        """The number of omitted rows, and the minimum number of their hosts."""
        least = min(len(hosts_of(row)) for row in rows)
        number = f"{len(rows):,} more change{'s' if len(rows) > 1 else ''}"
        if least == len(self._hosts):
            where = on_all(least)
        else:
            where = f"on {least:,} or more hosts{' each' if len(rows) > 1 else ''}"
        return self._style("faint", f"    … {number}, {where}: -v shows all")


def _is_reported(entry: Entry) -> bool:
    """Whether a paragraph above contains everything about it."""
    return entry.status == "failed" and not (entry.planned or entry.drift)
