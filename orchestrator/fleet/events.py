"""The events of a run for its subscribers, in the order in which they happen (controller).

Times are seconds of ``time.time()``; every string is safe to display.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.run_origin import Origin

if TYPE_CHECKING:
    from orchestrator.fleet.checks.unchanged_resources import UnchangedResources


class RunStarted(NamedTuple):
    """The run starts: its hosts, in the inventory's order.

    ``identity`` is the name of the manifest in every checkout, "" for a resource without one.
    ``again`` are the words of the command that repeats the run, without ``-l``; empty if unknown.
    ``origin`` has the user who started it.
    """

    run_id: str
    at: float
    hosts: tuple[str, ...]
    noop: bool
    manifest: str = ""
    command: str = "push"
    identity: str = ""
    again: tuple[str, ...] = ()
    origin: Origin = Origin()


class HostPhase(NamedTuple):
    """A host enters a phase of its run.

    ``before`` has the phases that it has entered and left since the last such event.
    """

    host: str
    phase: Phase
    at: float
    before: tuple[tuple[Phase, float], ...] = ()

    @property
    def entered(self) -> tuple[tuple[Phase, float], ...]:
        """All of these phases, each with its time, in order."""
        return (*self.before, (self.phase, self.at))


class HostPlanned(NamedTuple):
    """The plan of a host is ready: the ``type#name`` of every resource, with secrets masked.

    ``subscribed`` has the subscriptions of each resource that subscribes, and ``required`` the
    requirements of each resource that has any. ``applied`` has the resources of each ``apply``.
    """

    host: str
    resources: tuple[str, ...]
    subscribed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    required: tuple[tuple[str, tuple[str, ...]], ...] = ()
    applied: tuple[tuple[str, tuple[str, ...]], ...] = ()


class ResourceProgress(NamedTuple):
    """The current activity of a host on one resource, such as "installing nginx"."""

    host: str
    resource: str
    action: str
    at: float


class ResourceEvent(NamedTuple):
    """A resource is done: its checked transaction event, and the event's JSON text on one line."""

    host: str
    event: dict[str, Any]
    line: str


class ResourcesStable(NamedTuple):
    """Converged resources are done, and nothing else needs to be reported about them.

    ``unchanged.events()`` creates their transaction events on demand.
    """

    host: str
    unchanged: "UnchangedResources"


class HostNotice(NamedTuple):
    """A message from or about one host; ``level`` is info, warning or error.

    ``waits``: the message names what the host waits for; the host then continues with its step.
    """

    host: str
    level: str
    text: str
    waits: bool = False


class HostPlanPart(NamedTuple):
    """The part of a host in a plan file; sent when it is planned and at its end.

    It may contain secrets: only the writer of the plan file may store it.
    """

    host: str
    record: Mapping[str, Any]


class HostFinished(NamedTuple):
    """The run of a host has ended; sent again if a gate finds a problem afterwards."""

    result: HostResult


class RolloutPlanned(NamedTuple):
    """The hosts of each wave, and how many hosts may fail, None for any number.

    ``wishes`` has the options of the rollout as given, ``again`` is the command that continues with
    hosts that were not started. A preview ignores them. With stages, ``stages`` names the stage of
    each wave, and ``limits`` the number of hosts that may fail in each stage.
    """

    waves: tuple[tuple[str, ...], ...]
    max_fail: int | None
    wishes: dict[str, Any]
    again: str = ""
    stages: tuple[str, ...] = ()
    limits: Mapping[str, int | None] = {}


class WaveStarted(NamedTuple):
    """The hosts of a wave, counted from 1, may begin."""

    wave: int
    at: float


class GateAsked(NamedTuple):
    """All hosts of a wave have ended, and a gate is running that must answer by ``until``."""

    wave: int
    gate: str
    at: float
    until: float


class GateAnswered(NamedTuple):
    """Whether the rollout continues; ``text`` is the reason if not, ``hosts`` the failed hosts of
    the gate.
    """

    wave: int
    gate: str
    passed: bool
    text: str
    hosts: tuple[str, ...]
    at: float


class RolloutHeld(NamedTuple):
    """No further host starts: ``why`` is the kind of reason, ``text`` the details.

    ``hosts`` were not started.
    """

    why: str
    text: str
    hosts: tuple[str, ...]
    at: float


class RunFinished(NamedTuple):
    """The last event: when the run ended and whether the user ended it."""

    at: float
    interrupted: bool


ROLLOUT = (RolloutPlanned, WaveStarted, GateAsked, GateAnswered, RolloutHeld)
RolloutStep = RolloutPlanned | WaveStarted | GateAsked | GateAnswered | RolloutHeld

Event = (
    RunStarted
    | HostPhase
    | HostPlanned
    | ResourceProgress
    | ResourceEvent
    | ResourcesStable
    | HostNotice
    | HostPlanPart
    | HostFinished
    | RolloutStep
    | RunFinished
)


def rollout_record(step: RolloutStep) -> dict[str, Any]:
    """The form used in the run directory and in ``--json``."""
    return {"step": type(step).__name__, **step._asdict()}


def transaction_events(event: Event) -> Iterator[tuple[dict[str, Any], str]]:
    """The transaction events in an event of a run, each with its JSON text."""
    if isinstance(event, ResourceEvent):
        yield event.event, event.line
    elif isinstance(event, ResourcesStable):
        yield from event.unchanged.events()
