"""A resource over the fleet: which hosts have it, in which state, since when (controller)."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from orchestrator.report.equal_texts import HOST, normalized_value
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.page import MissingPageError, Page, Parameters
from orchestrator.studio.pages.studio import Studio, hosts_text, names_of, runs_by_number
from orchestrator.studio.pages.words import MARKS

MOST_FORMER = 1_000  # hosts
MOST_RUNS = 50
MOST_CONTENTS = 50
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
        raise MissingPageError(f"No run has a resource {name[:80]!r}.")
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
            "most_contents": MOST_CONTENTS,
            "states": _states(studio, having, last),
            "former": hosts_text(names_of(studio, former[:MOST_FORMER])),
            "runs": studio.reader.rows(_RUNS, (number, MOST_RUNS)),
            "marks": MARKS,
        },
    )


def _contents(studio: Studio, resource: int, hosts: dict[int, str]) -> list[dict[str, Any]]:
    """Hosts with the same content of a file, most hosts first, and the runs that wrote it; those
    on which no stored run did come last. Nothing without a change of a content."""
    groups: dict[str, list[Row]] = {}
    for row in studio.reader.rows(_CONTENTS, (resource,)):
        if row["host"] in hosts:
            groups.setdefault(row["content"], []).append(row)
    if not groups:
        return []
    ends = {content: [row["run"] for row in rows] for content, rows in groups.items()}
    runs = runs_by_number(studio, {end for one in ends.values() for end in (min(one), max(one))})
    found = [
        {
            "content": content,
            "where": hosts_text([hosts[row["host"]] for row in rows]),
            "total": len(rows),
            "first": runs.get(min(ends[content])),
            "latest": runs.get(max(ends[content])),
        }
        for content, rows in groups.items()
    ]
    written = {row["host"] for rows in groups.values() for row in rows}
    if others := [name for host, name in hosts.items() if host not in written]:
        where, ends_of = hosts_text(others), {"first": None, "latest": None}
        found.append({"content": "", "where": where, "total": len(others), **ends_of})
    return sorted(found, key=lambda one: (one["content"] == "", -one["total"]))


class _State(NamedTuple):
    """Hosts with the same last result; the numbers of their runs."""

    hosts: list[str]
    runs: list[int]
    status: str
    words: str


def _states(studio: Studio, hosts: dict[int, str], last: dict[int, Row]) -> list[dict[str, Any]]:
    """Hosts with the same last result; those without one in the stored runs come last."""
    equal: dict[tuple[str, int], list[int]] = {}
    for host in hosts:
        row = last.get(host)
        equal.setdefault((row["status"], row["text"]) if row else ("", 0), []).append(host)
    texts = _texts(studio, [text for _, text in equal])
    states: dict[tuple[str, str], _State] = {}
    for (status, text), same in equal.items():
        words = texts.get(text, "")
        name = hosts[same[0]]
        # Its name is replaced here: to look for it as a word takes longer than all of the rest.
        key = (status, normalized_value(name, words.replace(name, HOST)))
        state = states.setdefault(key, _State([], [], status, words))
        state.hosts.extend(hosts[host] for host in same)
        state.runs.extend(last[host]["run"] for host in same if host in last)
    ends = [end for one in states.values() if one.runs for end in (min(one.runs), max(one.runs))]
    runs = runs_by_number(studio, ends)
    found = [
        {
            "where": hosts_text(one.hosts),
            "total": len(one.hosts),
            "status": one.status or "stable",
            "words": one.words,
            "first": runs.get(min(one.runs)) if one.runs else None,
            "latest": runs.get(max(one.runs)) if one.runs else None,
        }
        for one in states.values()
    ]
    return sorted(found, key=lambda one: (one["first"] is None, -one["total"]))


def _texts(studio: Studio, numbers: list[int]) -> dict[int, str]:
    rows = studio.reader.rows(
        "SELECT text, words FROM texts WHERE text IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    return {row["text"]: row["words"] for row in rows}
