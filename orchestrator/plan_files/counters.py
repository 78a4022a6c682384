"""Counts the predictions of a preview, for conditions on a plan (controller)."""

from collections.abc import Mapping
from typing import Any

from orchestrator.fleet.outcome import APPLY, applied_as
from orchestrator.plan_files.dangerous_changes import (
    ACCOUNTS,
    ASSUMED,
    MODES,
    PACKAGES,
    REBOOTS,
    REMOVES,
    RESTARTS,
    STOPS,
    Danger,
    dangers_of,
    runs_command,
    unknown_of,
)
from orchestrator.plan_files.plan_file import PlanFile

COUNTERS = {
    REMOVES: "Everything that would be removed: paths, packages, accounts and so on",
    PACKAGES: "Packages that would be removed, including by another package's transaction",
    ACCOUNTS: "Users and groups that would be removed",
    REBOOTS: "Reboots",
    RESTARTS: "Services that would restart, including by package scripts",
    STOPS: "Services that would stop, including by package scripts",
    MODES: "Modes that would give the group or others more access, or set setuid or setgid",
    "commands": "Commands that would run; their effects are not counted",
    "changes": "Resources that would change",
    "failures": "Resources that would fail",
    "assumed": "Resources with an `assumed` prediction",
    "unknown": "Resources whose changes or effects cannot be predicted in full",
    "hosts": "Hosts that would change",
    "left_out": "Hosts that are not in the plan; their changes are not counted",
}
"""Each counter with what it counts, across all hosts."""


class Counters:
    """The counters of a preview, whose events are added host by host."""

    def __init__(self) -> None:
        self.values = dict.fromkeys(COUNTERS, 0)
        self._changed: set[str] = set()
        self._children: dict[tuple[str, str], bool] = {}

    def add(self, host: str, event: Mapping[str, Any]) -> list[Danger]:
        """Count the event of a resource, and return its dangers. For an ``apply``, the resources of
        its manifest are counted; the ``apply`` itself is counted if it is skipped or fails without
        them. A resource without a change is counted only if it fails.
        """
        values, status = self.values, event["status"]
        if event["type"] == APPLY:
            self._add_apply(host, event)
            return []
        self._note_child(host, event)
        values["failures"] += status == "failed"
        if event.get("always_noop"):
            return []
        self._count_uncertain(event)
        if status == "changed":
            values["changes"] += 1
            self._changed.add(host)
            values["hosts"] = len(self._changed)
        if not event["changes"] and "effects" not in event:
            return []
        values["commands"] += runs_command(event)
        dangers = dangers_of(event)
        for one in dangers:
            values[one.kind] += 1
            values[REMOVES] += one.kind in (
                PACKAGES,
                ACCOUNTS,
            )
        return dangers

    def _count_uncertain(self, event: Mapping[str, Any]) -> None:
        """Count it if its prediction is uncertain."""
        self.values["assumed"] += event.get("prediction") == ASSUMED
        self.values["unknown"] += bool(unknown_of(event))

    def _note_child(self, host: str, event: Mapping[str, Any]) -> None:
        """Record whether it failed, for the later event of its ``apply``."""
        within = event.get("manifest", "")
        if within:
            failed = event["status"] == "failed"
            self._children[host, within] = self._children.get((host, within), False) or failed

    def _add_apply(self, host: str, event: Mapping[str, Any]) -> None:
        """Count the part of an ``apply`` that no event of a child reports."""
        within, failed = event.get("manifest", ""), event["status"] == "failed"
        child_failed = self._children.pop((host, applied_as(within, event["name"])), None)
        self._note_child(host, event)
        self.values["failures"] += failed and not child_failed
        if event.get("always_noop"):
            return
        if event["status"] == "skipped" or (failed and child_failed is None):
            self._count_uncertain(event)


def counters_of(plan: PlanFile) -> dict[str, int]:
    """The counters of a plan."""
    counters = Counters()
    for host in plan.hosts:
        for told in plan.outcomes(host):
            counters.add(host, told)
    counters.values["left_out"] = len(plan.record["left_out"])
    return counters.values
