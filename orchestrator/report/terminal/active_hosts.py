"""The current activity of the hosts of a run, for displays (controller)."""

import time
from collections.abc import Sequence

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.unchanged_resources import UnchangedResources
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import is_apply

FINISHING = "finishing"  # all of its resources are done


class ActiveHost:
    """An active host: its activity, since when, its progress, and whether it waits for another
    process.
    """

    __slots__ = ("_applies", "_resource", "doing", "done", "planned", "since", "waits")

    def __init__(self, at: float) -> None:
        self.since = at
        self.doing = ""
        self.done = self.planned = 0
        self.waits = False
        self._applies: frozenset[int] = frozenset()
        self._resource = ""

    def enter(self, action: str, at: float, resource: str = "") -> None:
        """Start a step, with its ``resource`` if it has one."""
        self.doing, self.since, self.waits = (
            f"{resource}  {action}" if resource else action,
            at,
            False,
        )
        self._resource = resource

    def wait(self, reason: str) -> None:
        """Continue with the step after another process has released something."""
        self.doing, self.waits = reason, True

    def plan(self, resources: Sequence[str]) -> None:
        """The number of resources to run, without ``apply`` resources."""
        self._applies = frozenset(n for n, name in enumerate(resources) if is_apply(name))
        self.planned = len(resources) - len(self._applies)

    def count(self, resource: str) -> None:
        """Count one more completed resource."""
        self.done += not is_apply(resource)
        self._ended_resource()

    def count_unchanged(self, unchanged: UnchangedResources) -> None:
        """Count a batch of unchanged resources."""
        self.done += unchanged.total - len(self._applies.intersection(unchanged.indices))
        self._ended_resource()

    def _ended_resource(self) -> None:
        """Clear the activity of a resource that has ended; the next one may report
        nothing for a while.
        """
        self.waits = False
        if self.planned and self.done >= self.planned:
            self.enter(FINISHING, time.time())
        elif self._resource:
            self.enter(Phase.RUNNING.words, time.time())


class ActiveHosts:
    """The hosts that have started but not ended, by name; ``handle`` processes a run's events."""

    def __init__(self) -> None:
        self.rows: dict[str, ActiveHost] = {}
        self.hosts = 0
        self._ended: set[str] = set()

    @property
    def ended(self) -> int:
        """The number of hosts that have ended."""
        return len(self._ended)

    @property
    def running(self) -> int:
        """The number of hosts that are active and not waiting."""
        return sum(not row.waits for row in self.rows.values())

    @property
    def waiting(self) -> int:
        """The number of hosts that are waiting for a fork, or for another process on the host."""
        return max(0, self.hosts - self.ended - self.running)

    def longest(self) -> list[tuple[str, ActiveHost]]:
        """The hosts whose step takes the longest first."""
        return sorted(self.rows.items(), key=lambda item: item[1].since)

    def handle(self, event: run_events.Event) -> None:
        """Process an event."""
        if isinstance(event, run_events.RunStarted):
            self.hosts = len(event.hosts)
        elif isinstance(event, run_events.HostPhase):
            row = self.rows.setdefault(event.host, ActiveHost(event.at))
            row.enter(event.phase.words, event.at)
        elif isinstance(event, run_events.HostFinished):
            self.rows.pop(event.result.host, None)
            self._ended.add(event.result.host)
        else:
            host = getattr(event, "host", "")
            waits = isinstance(event, run_events.HostNotice) and event.waits
            if waits and host not in self._ended:  # maybe for its first step
                self.rows.setdefault(host, ActiveHost(time.time()))
            row_of = self.rows.get(host)
            if row_of is not None:
                _of_row(row_of, event)


def _of_row(row: ActiveHost, event: run_events.Event) -> None:
    if isinstance(event, run_events.ResourceProgress):
        row.enter(event.action, event.at, event.resource)
    elif isinstance(event, run_events.ResourceEvent):
        row.count(f"{event.event['type']}#{event.event['name']}")
    elif isinstance(event, run_events.ResourcesStable):
        row.count_unchanged(event.unchanged)
    elif isinstance(event, run_events.HostPlanned):
        row.plan(event.resources)
    elif isinstance(event, run_events.HostNotice) and event.waits:
        row.wait(event.text)
