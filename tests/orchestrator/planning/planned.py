"""Plans for hosts that were never contacted."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.errors import InputError, PlanError


class FakeHost(NamedTuple):
    """What the planner reads of an inventory's host."""

    name: str = "web1"
    address: str = "192.0.2.1"
    groups: tuple[str, ...] = ("web",)
    vars: dict[str, Any] = {}
    connection: str = "ssh"


FACTS = {"host": {"info": {"os": "linux", "hostname": "web1"}}, "evil": "{{ 1 }}"}


def gathered(facts: dict[str, Any] | None = None, **more: Any) -> HostFacts:
    return HostFacts(FACTS if facts is None else facts, **more)


def planner(directory: Path, text: str, **options: Any) -> Planner:
    path = directory / "site.yaml"
    path.write_text(text, encoding="utf-8")
    return Planner(load_site(path), PlanOptions(**{"environ": {}, **options}))


def plan(directory: Path, text: str, **options: Any) -> HostPlan:
    return planner(directory, text, **options).plan(FakeHost(), gathered())


def show(directory: Path, expression: str, head: str = "", **options: Any) -> Any:
    """What an expression comes to in a command, with data from ``head``."""
    text = f"{head}\nccm: {{resources: [{{exec: [{{x: {{command: {json.dumps(expression)}}}}}]}}]}}"
    (item,) = plan(directory, text, **options).items
    assert not item.deferred_error, item.deferred_error
    return item.properties["command"]


def entries(made: HostPlan) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(made.payload({"run_id": "1"}))["resources"]
    return found


def refused(directory: Path, text: str, **options: Any) -> str:
    """Why no host is contacted."""
    with pytest.raises(InputError) as caught:
        planner(directory, text, **options)
    return str(caught.value)


def refused_host(directory: Path, text: str, made: HostFacts | None = None) -> PlanError:
    """Why one host gets no plan."""
    with pytest.raises(PlanError) as caught:
        planner(directory, text).plan(FakeHost(), made or gathered())
    return caught.value
