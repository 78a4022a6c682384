"""Proves a conversion on hosts, in either order, and names the tasks of resources (controller).

Ansible first: the playbook runs twice, and anything that its second run changes again is known to
change every time. A preview of the converted site must then find nothing to do. ccm first: the site
is pushed twice, and ``ansible-playbook --check`` must then find nothing to do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from orchestrator.ansible.proof.playbook_run import ProofError, TaskResult

_EXPRESSION = re.compile(r"\{\{.*?\}\}|\$\{\s.*?\}", re.DOTALL)


class Origin(NamedTuple):
    """A task of the original: its position and name."""

    path: str
    line: int
    name: str

    @property
    def text(self) -> str:
        """The task as shown to a person."""
        return f"{self.path}:{self.line}{f' ({self.name})' if self.name else ''}"


class TaskMap:
    """The tasks of a report of the importer, by the resources that they became.

    A name with templates matches all names that fit; if several match, the most literal one is
    used.
    """

    def __init__(self, tasks: Iterable[Mapping[str, Any]], top: Path) -> None:
        self._top = top.resolve()
        self._exact: dict[str, Origin] = {}
        self._patterns: list[tuple[int, re.Pattern[str], Origin]] = []
        self._by_place: dict[tuple[str, int], list[str]] = {}
        self._origins: dict[tuple[str, int], Origin] = {}
        for task in tasks:
            origin = Origin(str(task["file"]), int(task["line"]), str(task.get("task") or ""))
            resources = [str(one) for one in task.get("resources", ())]
            place = self._place(origin.path, origin.line)
            self._by_place.setdefault(place, []).extend(resources)
            self._origins.setdefault(place, origin)
            for resource in resources:
                self._add(resource, origin)
        self._patterns.sort(key=lambda one: -one[0])

    def _add(self, resource: str, origin: Origin) -> None:
        parts = _EXPRESSION.split(resource)
        if len(parts) == 1:
            self._exact.setdefault(resource, origin)
            return
        pattern = re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
        self._patterns.append((sum(map(len, parts)), pattern, origin))

    def _place(self, path: str, line: int) -> tuple[str, int]:
        return os.path.realpath(self._top / path), line

    def origin(self, event: Mapping[str, Any]) -> Origin | None:
        """The task behind a transaction event; None if no task became that resource."""
        names = [f"{event['type']}#{event['name']}"]
        if event.get("alias"):
            names.insert(0, f"{event['type']}#{event['alias']}")
        for name in names:
            if name in self._exact:
                return self._exact[name]
        for _, pattern, origin in self._patterns:
            if any(pattern.fullmatch(name) for name in names):
                return origin
        return None

    def resources(self, path: str, line: int) -> list[str]:
        """The resources that the task at a place became."""
        return self._by_place.get(self._place(path, line), [])

    def others(self, places: Iterable[tuple[str, int]]) -> list[tuple[Origin, list[str]]]:
        """The tasks at other places that became resources, with these resources."""
        seen = {self._place(path, line) for path, line in places}
        return [
            (self._origins[place], resources)
            for place, resources in self._by_place.items()
            if resources and place not in seen
        ]

    def place(self, origin: Origin) -> tuple[str, int]:
        """Return the position of a task, in the form that Ansible's results use."""
        return self._place(origin.path, origin.line)


ANSIBLE, CCM = "ansible", "ccm"
FIRST = (ANSIBLE, CCM)
"""Which tool configures the hosts; the other one must find nothing to do."""

Event = Mapping[str, Any]

_Result = TypeVar("_Result")

_STEPS = 3
_IN_CHECK_MODE = "would change in check mode"
_FAILED_IN_CHECK_MODE = "fails in check mode, which skips commands"
_SKIPPED = "skipped because check mode runs no commands"
_NOT_LOOKED_AT = "not checked, because an earlier task fails in check mode"


class Site(Protocol):
    """The converted site, on the hosts of the proof."""

    def preview(self) -> Sequence[Event]:
        """The events of ``ccm push --noop``. ProofError if it failed."""

    def push(self) -> Sequence[Event]:
        """The events of ``ccm push``. ProofError if it failed."""


Play = Callable[[bool], "list[TaskResult]"]
"""Runs the playbook on the hosts of the proof, in check mode or not. ProofError."""


class Finding(NamedTuple):
    """A difference on a host: the ``task``, its ``resource`` and ``what`` was found."""

    host: str
    task: str
    resource: str
    what: str


class Proof(NamedTuple):
    """The result of a proof.

    ``differences`` contradict it. ``repeated`` change on every run of the tool that configured the
    host, and ``unknown`` cannot be decided by a preview or check mode. ``checked`` counts
    resources, or tasks of check mode.
    """

    first: str
    hosts: tuple[str, ...]
    checked: int
    differences: list[Finding]
    repeated: list[Finding]
    unknown: list[Finding]

    @property
    def holds(self) -> bool:
        """Whether the other tool found nothing to do."""
        return not self.differences


def prove(
    first: str,
    hosts: Sequence[str],
    *,
    play: Play,
    site: Site,
    tasks: TaskMap,
    say: Callable[[str], None],
) -> Proof:
    """Let the ``first`` tool configure the hosts, and let the other one look for differences.

    ``say`` receives a line before each step. ProofError if a step failed.
    """
    make = _ansible_first if first == ANSIBLE else _ccm_first
    return make(hosts, play=play, site=site, tasks=tasks, steps=_Steps(say))


def _ansible_first(
    hosts: Sequence[str], *, play: Play, site: Site, tasks: TaskMap, steps: _Steps
) -> Proof:
    steps.run("ansible-playbook", lambda: play(False))
    title = "ansible-playbook again, to find tasks that change on every run"
    second = steps.run(title, lambda: play(False))
    again = {(one.host, *_place(one)) for one in second if one.changed}
    ran = {(one.host, *_place(one)) for one in second if one.status == "ok"}
    events = steps.run("ccm push --noop of the converted site", site.preview)
    _require_events(events, hosts)
    proof = Proof(ANSIBLE, tuple(hosts), len(events), differences=[], repeated=[], unknown=[])
    for event in events:
        origin = tasks.origin(event)
        place = (event["host"], *tasks.place(origin)) if origin is not None else None
        always = place in again or (place in ran and _is_unconditional(event))
        what = _difference(event)
        if what is None:
            continue
        finding = Finding(event["host"], origin.text if origin else "", _name(event), what)
        if always:
            proof.repeated.append(finding)
        elif event.get("prediction") == "unknown":
            proof.unknown.append(finding)
        else:
            proof.differences.append(finding)
    return proof


def _ccm_first(
    hosts: Sequence[str], *, play: Play, site: Site, tasks: TaskMap, steps: _Steps
) -> Proof:
    _require_events(steps.run("ccm push of the converted site", site.push), hosts)
    title = "ccm push again, to find resources that change on every run"
    again = {(one["host"], _name(one)) for one in steps.run(title, site.push) if one.get("changed")}
    results = steps.run("ansible-playbook --check", lambda: play(True))
    proof = Proof(CCM, tuple(hosts), len(results), differences=[], repeated=[], unknown=[])
    for one in results:
        resources = tasks.resources(one.path, one.line)
        skipped = _is_command(one, resources)
        if not (one.changed or skipped or one.status == "failed"):
            continue
        task = f"{os.path.relpath(one.path)}:{one.line} ({one.name})"
        what = _SKIPPED if skipped else _FAILED_IN_CHECK_MODE
        what = _IN_CHECK_MODE if one.changed else what
        finding = Finding(one.host, task, ", ".join(resources), what)
        if not one.changed:
            proof.unknown.append(finding)
        elif resources and all((one.host, name) in again for name in resources):
            proof.repeated.append(finding)
        else:
            proof.differences.append(finding)
    for host in sorted({one.host for one in results if one.status == "failed"}):
        places = [one.place for one in results if one.host == host]
        for origin, resources in tasks.others(places):
            finding = Finding(host, origin.text, ", ".join(resources), _NOT_LOOKED_AT)
            proof.unknown.append(finding)
    for host, name in sorted(again):
        finding = Finding(host, "", name, "changes on every push")
        if not any(name in one.resource for one in proof.repeated):
            proof.repeated.append(finding)
    return proof


def _is_command(one: TaskResult, resources: Iterable[str]) -> bool:
    """Whether check mode skips a task that ccm performs with a command, regardless of
    its effect.
    """
    skipped = one.status == "skipped" and not one.by_condition
    return skipped and any(name.startswith("exec#") for name in resources)


class _Steps:
    """Announces each step before it begins, and names it in an error."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._number = 0

    def run(self, title: str, call: Callable[[], _Result]) -> _Result:
        """Return the result of ``call``; a ProofError begins with the step."""
        self._number += 1
        self._say(f"step {self._number} of {_STEPS}: {title}")
        try:
            return call()
        except ProofError as error:
            raise ProofError(
                f"step {self._number} of {_STEPS}: {error.message}", hint=error.hint
            ) from error


def _place(one: TaskResult) -> tuple[str, int]:
    return os.path.realpath(one.path), one.line


def _name(event: Event) -> str:
    return f"{event['type']}#{event['name']}"


def _difference(event: Event) -> str | None:
    """The prediction for a resource that differs from the desired state; None if it
    does not differ.
    """
    if event["type"] == "apply" and not event.get("failed"):
        return None  # its resources have events of their own
    if event.get("failed"):
        return "; ".join(map(str, event.get("error") or ["failed"]))
    if not event.get("changed") and event.get("prediction") != "unknown":
        return None
    parts = [str(event.get("noop_message") or "")]
    parts += [_change(one) for one in event.get("changes") or ()]
    reason = event.get("prediction_reason")
    parts += [str(reason)] if reason and not event.get("changed") else []
    return "; ".join(part for part in parts if part) or "would change"


def _is_unconditional(event: Event) -> bool:
    """Whether a command runs on each push; the task also runs each time, but reports ``ok``."""
    given = event.get("properties") or {}
    guards = ("creates", "onlyif", "unless", "refresh_only", "refreshonly")
    return event["type"] == "exec" and not any(given.get(name) for name in guards)


def _change(change: Mapping[str, Any]) -> str:
    return f"{change.get('what')}: {change.get('from')} -> {change.get('to')}"


def _require_events(events: Sequence[Event], hosts: Iterable[str]) -> None:
    """ProofError if a host has no events, which means that nothing was checked."""
    seen = {event["host"] for event in events}
    if missing := [host for host in hosts if host not in seen]:
        raise ProofError(
            f"the converted site has no resources for {', '.join(missing)}",
            hint="a play of the playbook targets these hosts, so check the report of the import",
        )
