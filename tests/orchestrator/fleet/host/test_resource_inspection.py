"""A runtime that looks at resources, as far as it does."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.fleet.host.resource_inspection import inspect_resources
from remote_runtime.errors import ProtocolError
from remote_runtime.reporting.events import EventIds
from tests.orchestrator.fleet.fakes import FakeLink, FakePlan, FarEnd, make_event

NAMES = ("/etc/motd", "/etc/hosts")


def inspected(*names: str, **event: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events of a runtime that tells of these resources, and the plan that it was sent."""
    plans: list[dict[str, Any]] = []

    def far(far: FarEnd) -> None:
        far.greet()
        plans.append(far.await_message("plan"))
        ids = EventIds()
        for number, name in enumerate(names, 1):
            told = make_event("file", name, event_id=ids.next(), **event)
            far.say("event", seq=number, event=told)
        far.say("done", events=len(names), cancelled=False)

    link = FramedLink(FakeLink(far))
    return inspect_resources(link, FakePlan(list(NAMES)), "web1"), plans[0]


def test_every_resource_is_told_and_nothing_is_changed() -> None:
    """The events come in the order of the plan; the runtime is asked to look, without a lock."""
    events, plan = inspected(*NAMES)
    assert [event["name"] for event in events] == list(NAMES)
    assert (plan["status_only"], plan["monitor_only"], plan.get("manifest")) == (True, True, None)


def test_a_runtime_that_leaves_something_out_is_refused() -> None:
    """A resource that failed is no excuse for silence about the next one."""
    with pytest.raises(ProtocolError, match="did not inspect everything"):
        inspected(NAMES[0], status="failed", error=["it cannot be read"])
