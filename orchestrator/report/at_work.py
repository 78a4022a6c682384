"""What the hosts of a run are doing right now, for those who show it (controller)."""

import time

from orchestrator.fleet import events as happening


class HostAtWork:
    """A host at work: what it is doing, since when, how far it is, whether it waits for another."""

    __slots__ = ("doing", "done", "planned", "since", "waits")

    def __init__(self, at: float) -> None:
        self.since = at
        self.doing = ""
        self.done = self.planned = 0
        self.waits = False

    def enter(self, doing: str, at: float) -> None:
        """Begin a step."""
        self.doing, self.since, self.waits = doing, at, False

    def wait(self, reason: str) -> None:
        """Go on with the step once somebody else lets go of something."""
        self.doing, self.waits = reason, True

    def plan(self, resources: int) -> None:
        """So many resources are to be done."""
        self.planned = resources

    def count(self, resources: int) -> None:
        """So many more resources are done."""
        self.done += resources
        self.waits = False


class AtWork:
    """The hosts that have begun and not ended, by name; ``handle`` takes a run's events."""

    def __init__(self) -> None:
        self.rows: dict[str, HostAtWork] = {}
        self.hosts = 0
        self._ended: set[str] = set()

    @property
    def ended(self) -> int:
        """How many hosts have ended."""
        return len(self._ended)

    @property
    def running(self) -> int:
        """How many hosts are at work and wait for nobody."""
        return sum(not row.waits for row in self.rows.values())

    @property
    def waiting(self) -> int:
        """How many wait for their turn, or for somebody else on their host."""
        return max(0, self.hosts - self.ended - self.running)

    def longest(self) -> list[tuple[str, HostAtWork]]:
        """The hosts whose step takes the longest first."""
        return sorted(self.rows.items(), key=lambda item: item[1].since)

    def handle(self, event: happening.Event) -> None:
        """Take note of an event."""
        if isinstance(event, happening.RunStarted):
            self.hosts = len(event.hosts)
        elif isinstance(event, happening.HostPhase):
            row = self.rows.setdefault(event.host, HostAtWork(event.at))
            row.enter(event.phase.words, event.at)
        elif isinstance(event, happening.HostFinished):
            self.rows.pop(event.result.host, None)
            self._ended.add(event.result.host)
        else:
            host = getattr(event, "host", "")
            waits = isinstance(event, happening.HostNotice) and event.waits
            if waits and host not in self._ended:  # maybe for its first step
                self.rows.setdefault(host, HostAtWork(time.time()))
            row_of = self.rows.get(host)
            if row_of is not None:
                _of_row(row_of, event)


def _of_row(row: HostAtWork, event: happening.Event) -> None:
    if isinstance(event, happening.ResourceProgress):
        row.enter(f"{event.resource}  {event.action}", event.at)
    elif isinstance(event, happening.ResourceEvent):
        row.count(1)
    elif isinstance(event, happening.ResourcesStable):
        row.count(event.turns.total)
    elif isinstance(event, happening.HostPlanned):
        row.plan(len(event.resources))
    elif isinstance(event, happening.HostNotice) and event.waits:
        row.wait(event.text)
