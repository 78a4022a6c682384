"""Makes a runtime read resources and run their health checks, without changing anything
(controller).
"""

from __future__ import annotations

from typing import Any

from orchestrator.fleet.event_bus import Bus, EventCallback, Notices
from orchestrator.fleet.events import Event, ResourceEvent
from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.fleet.host.protocol import Conversation, greet
from orchestrator.fleet.interfaces import Plan
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.fleet.store.run_directory import new_run_id
from remote_runtime.errors import ProtocolError
from remote_runtime.options import RunOptions

# Nothing is changed, so there is no lock to wait for.
OPTIONS = RunOptions(monitor_only=True, status_only=True, diff=False)


def inspect_resources(link: FramedLink, plan: Plan, host: str) -> list[dict[str, Any]]:
    """Return the events of a plan's resources, in its order; nothing is changed.

    CcmError. Monitored resources only run their health checks; the others are also read.
    """
    events: list[dict[str, Any]] = []

    def keep(event: Event) -> None:
        """Store the events of the resources."""
        if isinstance(event, ResourceEvent):
            events.append(event.event)

    greet(link, lambda phase: None)
    settings = RunSettings(new_run_id(), "", OPTIONS)
    notices = Notices(host, Bus([EventCallback(keep)]))
    talk = Conversation(link, plan, settings=settings, notices=notices)
    talk.carry_out(lambda phase, *_: None)
    if len(events) < talk.planned:
        raise ProtocolError("the host did not inspect everything", kind="protocol.sequence")
    return events
