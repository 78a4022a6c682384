"""A resource across the fleet: which hosts have it, in which state, and since when (controller)."""

import json
from collections.abc import Collection
from itertools import chain
from typing import Any, NamedTuple

from orchestrator.report.text_normalization import HOST, normalized_value
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.page import MARKS, MissingPageError, Page, Parameters
from orchestrator.studio.pages.page_context import Studio, hosts_text, names_of, runs_by_number

MAX_FORMER_HOSTS = 1_000
MAX_RUNS = 50
MAX_CONTENTS = 50
_LAST = """
SELECT host, max(run) AS run, status, text FROM changes
WHERE resource = ? AND NOT noop GROUP BY host
"""
_CONTENTS = """
SELECT host, max(run) AS run, content FROM changes
WHERE resource = ? AND NOT noop AND status = 'changed' AND content != '' GROUP BY host
"""
_HAVING = """
SELECT host, name FROM hosts WHERE plan IN (SELECT plan FROM plan_resources WHERE resource = ?)
ORDER BY sort
"""
_RUNS = """
SELECT runs.id, runs.start, runs.who, runs.version, runs.noop, run_texts.status,
    min(words) AS words, count(*) AS texts, sum(run_texts.hosts) AS number
FROM run_texts JOIN runs USING (run) JOIN texts USING (text)
WHERE resource = ? GROUP BY run_texts.run, run_texts.status
ORDER BY run_texts.run DESC LIMIT ?
"""


def resource_page(studio: Studio, parameters: Parameters) -> Page:
    """The hosts that have a resource, grouped by content and by last result, and its runs."""
    name = parameters.text("name")
    found = studio.reader.row("SELECT resource FROM resources WHERE name = ?", (name,))
    if found is None:
        raise MissingPageError(f"No run contains the resource {name[:80]!r}.")
    number = found["resource"]
    having = {row["host"]: row["name"] for row in studio.reader.rows(_HAVING, (number,))}
    last = {row["host"]: row for row in studio.reader.rows(_LAST, (number,))}
    former = [host for host in last if host not in having]
    return Page(
        "resource.html",
        name,
        {
            "name": name,
            "hosts": len(having),
            "contents": _contents(studio, number, having),
            "max_contents": MAX_CONTENTS,
            "states": _states(studio, having, last),
            "former": hosts_text(names_of(studio, former[:MAX_FORMER_HOSTS])),
            "runs": studio.reader.rows(_RUNS, (number, MAX_RUNS)),
            "marks": MARKS,
        },
    )


class _Group(NamedTuple):
    """Hosts with the same content or result, and the numbers of the runs that caused it."""

    hosts: list[str]
    runs: list[int]


def _contents(studio: Studio, resource: int, hosts: dict[int, str]) -> list[dict[str, Any]]:
    """Hosts with the same content of a file, most hosts first, and the runs that wrote it; hosts on
    which no stored run wrote it come last. Empty if no stored run wrote the file.
    """
    groups: dict[str, _Group] = {}
    for row in studio.reader.rows(_CONTENTS, (resource,)):
        if row["host"] in hosts:
            group = groups.setdefault(row["content"], _Group([], []))
            group.hosts.append(hosts[row["host"]])
            group.runs.append(row["run"])
    if not groups:
        return []
    written = {name for group in groups.values() for name in group.hosts}
    if others := [name for name in hosts.values() if name not in written]:
        groups[""] = _Group(others, [])
    shown = zip(groups, _shown(studio, groups.values()), strict=True)
    found = [{"content": content, **values} for content, values in shown]
    return sorted(found, key=lambda one: (one["content"] == "", -one["total"]))


def _states(studio: Studio, hosts: dict[int, str], last: dict[int, Row]) -> list[dict[str, Any]]:
    """Hosts with the same last result; hosts without a result in the stored runs come last."""
    equal: dict[tuple[str, int], list[int]] = {}
    for host in hosts:
        row = last.get(host)
        equal.setdefault((row["status"], row["text"]) if row else ("", 0), []).append(host)
    texts = _texts(studio, [text for _, text in equal])
    groups: dict[tuple[str, str], _Group] = {}
    examples: dict[tuple[str, str], str] = {}
    for (status, text), same in equal.items():
        words = texts.get(text, "")
        name = hosts[same[0]]
        # Its name is replaced here: to look for it as a word takes longer than all of the rest.
        key = (status, normalized_value(name, words.replace(name, HOST)))
        group = groups.setdefault(key, _Group([], []))
        examples.setdefault(key, words)
        group.hosts.extend(hosts[host] for host in same)
        group.runs.extend(last[host]["run"] for host in same if host in last)
    shown = zip(groups, _shown(studio, groups.values()), strict=True)
    found = [
        {"status": key[0] or "stable", "words": examples[key], **values} for key, values in shown
    ]
    return sorted(found, key=lambda one: (one["first"] is None, -one["total"]))


def _shown(studio: Studio, groups: Collection[_Group]) -> list[dict[str, Any]]:
    """The hosts of each group, their number, and the first and latest run; None if
    there is none.
    """
    spans = [(min(one.runs), max(one.runs)) if one.runs else (0, 0) for one in groups]
    runs = runs_by_number(studio, chain.from_iterable(spans))
    return [
        {
            "where": hosts_text(one.hosts),
            "total": len(one.hosts),
            "first": runs.get(first),
            "latest": runs.get(latest),
        }
        for one, (first, latest) in zip(groups, spans, strict=True)
    ]


def _texts(studio: Studio, numbers: list[int]) -> dict[int, str]:
    rows = studio.reader.rows(
        "SELECT text, words FROM texts WHERE text IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return {row["text"]: row["words"] for row in rows}
