"""The report of an import: coverage by module and task, and what to check first (controller)."""

from collections import Counter
from typing import Any

from orchestrator.ansible.output.manifest_entries import CHECK, CONVERTED, KEPT, Record
from orchestrator.support.plain_text import one_line


def coverage(records: list[Record]) -> dict[str, Any]:
    """The number of tasks by outcome, in total and by module."""
    modules: dict[str, Counter[str]] = {}
    for one in records:
        modules.setdefault(one.module or "(unknown)", Counter())[one.outcome] += 1
    total = Counter(one.outcome for one in records)
    return {
        "tasks": len(records),
        "converted": total[CONVERTED],
        "check": total[CHECK],
        "not_converted": total[KEPT],
        "percent": percent(records),
        "modules": {
            name: {"converted": n[CONVERTED], "check": n[CHECK], "not_converted": n[KEPT]}
            for name, n in sorted(modules.items())
        },
    }


def percent(records: list[Record]) -> int:
    """The percentage of tasks that were converted, including those to check."""
    done = sum(one.outcome != KEPT for one in records)
    return 100 * done // len(records) if records else 100


def document(records: list[Record], notes: list[str], files: list[str]) -> dict[str, Any]:
    """The report as a JSON document."""
    return {
        "coverage": coverage(records),
        "notes": notes,
        "files": files,
        "tasks": [
            {
                "task": one.name,
                "module": one.module,
                "file": one.path,
                "line": one.line,
                "role": one.role,
                "outcome": one.outcome,
                "reasons": one.reasons,
                "manifest": one.manifest,
                "resources": one.resources,
            }
            for one in records
        ],
    }


def report_text(records: list[Record], notes: list[str], files: list[str]) -> str:
    """The report as text."""
    figures = coverage(records)
    found = [
        f"{_counted(figures['tasks'], 'task')}: {figures['converted']} converted, "
        f"{figures['check']} to check, "
        f"{figures['not_converted']} not converted "
        f"({figures['percent']}% converted, including those to check)",
        f"{_counted(len(files), 'file')} written",
    ]
    if records:
        width = max(len(name) for name in figures["modules"])
        found += ["", f"{'module':<{width}}  converted  check  not converted"]
        for name, n in figures["modules"].items():
            found.append(
                f"{name:<{width}}  {n['converted']:>9}  {n['check']:>5}  {n['not_converted']:>13}"
            )
    for title, outcome in (("Not converted", KEPT), ("To check", CHECK)):
        chosen = [one for one in records if one.outcome == outcome]
        if chosen:
            found += ["", f"{title}:"]
        for one in chosen:
            found.append("  " + one_line(f"{one.path}:{one.line}: {one.name or one.module}"))
            found += [f"    {one_line(reason)}" for reason in dict.fromkeys(one.reasons)]
    if notes:
        found += ["", "Notes:", *(f"  {one_line(note)}" for note in notes)]
    return "\n".join(found) + "\n"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
