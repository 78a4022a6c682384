"""Limits the reports of a worker about one host (controller): workers are not trusted."""

from orchestrator.fleet import events as run_events
from orchestrator.fleet.notices import MAX_LINES, MAX_NOTICES

MAX_PHASES = 1_000  # a host enters about ten, and a few more if it reboots
MAX_PLAN_PARTS = 2  # for a plan file: the plan, and files that were read later


class ReportLimits:
    """Limits of the reports about one host.

    A plan of ``planned`` resources has as many reports at most, as when a host reports them itself.
    """

    def __init__(self) -> None:
        self.planned = 0
        self._is_planned = False
        self._resources = 0
        self._phases = MAX_PHASES
        self._notices = MAX_NOTICES + MAX_LINES
        self._plan_parts = MAX_PLAN_PARTS

    def take(self, event: run_events.Event) -> None:
        """Count an event; ValueError beyond the limits."""
        if isinstance(event, run_events.HostPlanned):
            if self._is_planned:
                raise ValueError("a second plan of the same host")
            self._is_planned = True
            self.planned = self._resources = len(event.resources)
        elif isinstance(event, run_events.HostPhase):
            self._phases -= len(event.entered)
        elif isinstance(event, run_events.HostNotice):
            self._notices -= 1
        elif isinstance(event, run_events.HostPlanPart):
            self._plan_parts -= 1
        elif isinstance(event, run_events.ResourceEvent):
            self._resources -= 1
        elif isinstance(event, run_events.ResourcesStable):
            self._resources -= event.unchanged.total
        if self._resources < 0:
            raise ValueError(f"more resources than the {self.planned:,} of its plan")
        if min(self._phases, self._notices, self._plan_parts) < 0:
            raise ValueError("too many phases, notices or plan parts of the same host")
