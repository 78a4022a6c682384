"""What happened most across a fleet: by resource, over all of its hosts (controller)."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.fleet import outcome
from orchestrator.report.collected import Collected, Entry
from orchestrator.report.grouping import ORDER, alike, alike_but_for, told_of_manifest
from orchestrator.report.host_names import fold
from orchestrator.report.style import Style
from orchestrator.report.wording import ended, fate, meant
from orchestrator.support.plain_text import one_line

MOST_LINES = 10
LEAST_CHANGES = 3  # of those lines, however much failed
FEW_HOSTS = 10  # are read one by one


class Turn(NamedTuple):
    """What happened alike on ``hosts``: to which resource ("" for them themselves), how and why."""

    role: str
    what: str
    how: str
    why: str
    hosts: list[str]


def pivot_lines(collected: Collected, style: Style) -> Iterator[str]:
    """At most ``MOST_LINES`` turns, each on one line, failures first, the most hosts first."""
    turns = [*_of_hosts(collected), *_of_resources(collected)]
    bad = [turn for turn in turns if turn.role != "changed"]
    good = turns[len(bad) :]
    told = bad[: MOST_LINES - min(LEAST_CHANGES, len(good))]
    told += good[: MOST_LINES - len(told)]
    for turn in told:
        yield _line(turn, style)
    if len(turns) > len(told):
        yield style("faint", f"… {len(turns) - len(told):,} more, -v shows all")


def _line(turn: Turn, style: Style) -> str:
    hosts = turn.hosts
    number = f"{len(hosts):,} host{'s' if len(hosts) > 1 else ''}"
    what, where = (turn.what, f"on {number}") if turn.what else (number, "")
    what = one_line(what, style.width // 2)
    room = style.width - len(what) - 1
    text = " ".join(filter(None, (turn.how, where))) + (turn.why and f": {turn.why}")
    who = f" [{', '.join(fold(hosts))}]"
    if turn.role != "changed" and len(text) + len(who) <= room:
        text += who
    return f"{style('title', what)} {style(turn.role, one_line(text, room))}"


def _of_hosts(collected: Collected) -> list[Turn]:
    found: dict[tuple[str, ...], Turn] = {}
    for host, result in collected.results.items():
        if result.message:
            how, why = fate(result), ended(result)
            if result.outcome == outcome.INTERRUPTED:
                how, why = (why if result.had_turn else how), ""
            key = result.outcome, how, alike(result.message, host)
            turn = Turn(result.outcome, "", how=how, why=why, hosts=[])
            found.setdefault(key, turn).hosts.append(host)
    return sorted(found.values(), key=lambda turn: (ORDER.index(turn.role), -len(turn.hosts)))


def _of_resources(collected: Collected) -> list[Turn]:
    found: dict[tuple[str, ...], Turn] = {}
    for host, entries in collected.entries.items():
        for entry in told_of_manifest(entries):
            if entry.status in ("failed", "changed"):
                turn = _turn(entry, host)
                key = turn.role, turn.what, turn.how, alike(turn.why, host)
                found.setdefault(key, turn).hosts.append(host)
    return sorted(found.values(), key=lambda turn: (turn.role != outcome.FAILED, -len(turn.hosts)))


def _turn(entry: Entry, host: str) -> Turn:
    what = one_line(alike_but_for(host, entry.resource))
    if entry.status == "failed":
        why = next(itertools.chain(entry.errors, ["no reason given"]))
        return Turn("failed", what, how="failed", why=one_line(why), hosts=[])
    words = meant(entry).words
    return Turn(
        "changed", what, how=f"would {words}" if entry.pending else "changed", why="", hosts=[]
    )
