"""Writes what was measured as a Markdown table."""

import os
import platform
import timeit
from collections.abc import Mapping
from pathlib import Path

from .command_timing import Series
from .competitors import PREVIEW
from .verify_cost import OURS, THEIRS

Results = Mapping[tuple[str, str], Series]
"""(phase, contestant) → samples."""


def table(results: Results, hosts: Mapping[str, int]) -> str:
    """One row per phase and contestant; ratios are of medians, against the floor of that phase."""
    rows = [
        "| Phase | Tool | Wall s (median, min-max) | Wall / floor | Controller CPU s "
        "| Hosts' CPU, ms each | Peak MiB |",
        "|---|---|---|---|---|---|---|",
    ]
    for (phase, name), series in results.items():
        floor = results[(phase, "ssh true")].median("wall")
        low, high = series.spread("wall")
        each = series.median("hosts_cpu") / hosts[phase] * 1000
        rows.append(
            f"| {phase} | {name} | {series.median('wall'):.2f} ({low:.2f}-{high:.2f}) "
            f"| {series.median('wall') / floor:.2f} | {series.median('cpu'):.2f} "
            f"| {each:.0f} | {series.median('peak_mib'):.0f} |"
        )
    return "\n".join(rows)


def ratios(results: Results) -> list[str]:
    """How many times faster ccm is than the others in each phase, by medians of wall time."""
    lines = []
    for phase, name in results:
        if name == "pyinfra":
            theirs, ours = (results[(phase, who)].median("wall") for who in (name, "ccm"))
            lines.append(f"- {phase}: ccm is {theirs / ours:.0f} times faster than pyinfra")
        if name == PREVIEW:
            push, preview = (results[(phase, who)].median("wall") for who in ("ccm", PREVIEW))
            lines.append(f"- {phase}: the preview takes {preview / push:.2f} times the push")
        if name == THEIRS:
            theirs, ours = (results[(phase, who)].median("wall") for who in (THEIRS, OURS))
            lines.append(f"- {phase}: {OURS} is {theirs / ours:.0f} times faster than {THEIRS}")
    return lines


def put(page: Path, figures: str) -> None:
    """Put the figures between the markers of a page; ValueError where it has none."""
    from docs.generate import fill  # not in a process that is measured

    page.write_text(fill(page.read_text("utf-8"), {"figures": figures}), "utf-8")


def machine() -> str:
    """What the figures were taken on, with how long one calculation takes there."""
    took = min(timeit.repeat("sum(i * i for i in range(1_000_000))", number=1, repeat=5))
    return (
        f"Taken on {os.cpu_count()} cores shared by controller and hosts, which sum a million "
        f"squares in {took * 1000:.0f} ms with Python {platform.python_version()}, "
        f"Linux {platform.release().split('-')[0]}."
    )
