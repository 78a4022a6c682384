"""What a run tells its subscribers, in the order in which it happens (controller).

Times are seconds of ``time.time()``; every text in here is plain already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet.checks.origin import Origin
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult

if TYPE_CHECKING:
    from orchestrator.fleet.checks.unchanged_resources import UnchangedResources


class RunStarted(NamedTuple):
    """The run begins: which hosts, in the inventory's order.

    ``identity`` is what the manifest is called wherever it lies, "" for a resource of its own.
    ``again`` are the words of the command that does the same again, but for ``-l``; none where
    nobody can say them. ``origin`` says who started it and of what.
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

    ``before`` are those that it has entered since the last such event, and left again.
    """

    host: str
    phase: Phase
    at: float
    before: tuple[tuple[Phase, float], ...] = ()

    @property
    def entered(self) -> tuple[tuple[Phase, float], ...]:
        """All of these phases, each with its moment, in order."""
        return (*self.before, (self.phase, self.at))


class HostPlanned(NamedTuple):
    """A host's plan is made: the ``type#name`` of every resource that it has, secrets masked.

    ``subscribed`` has those that subscribe, with what each subscribes to.
    """

    host: str
    resources: tuple[str, ...]
    subscribed: tuple[tuple[str, tuple[str, ...]], ...] = ()


class ResourceProgress(NamedTuple):
    """What a host is doing right now to one resource, as in "installing nginx"."""

    host: str
    resource: str
    action: str
    at: float


class ResourceEvent(NamedTuple):
    """A resource is done: its checked transaction event and the JSON text of that on one line."""

    host: str
    event: dict[str, Any]
    line: str


class ResourcesStable(NamedTuple):
    """Resources are done that are as desired, and of which there is no more to tell.

    Who needs their transaction events makes them with ``turns.events()``.
    """

    host: str
    turns: UnchangedResources


class HostNotice(NamedTuple):
    """A line for people from, or about, one host; ``level`` is info, warning or error.

    ``waits``: it tells for whom the host waits, and goes on with its step afterwards.
    """

    host: str
    level: str
    text: str
    waits: bool = False


class HostKept(NamedTuple):
    """What a plan that is made has to keep of a host; told when it is planned and at its end.

    It may hold secrets: nobody shows or keeps it but who makes that plan.
    """

    host: str
    record: Mapping[str, Any]


class HostFinished(NamedTuple):
    """A host's run is over; told again where a gate finds something wrong afterwards."""

    result: HostResult


class RolloutPlanned(NamedTuple):
    """Who is in which wave, and how many hosts may fail, None for any number.

    ``wishes`` has the options of the rollout as they were given, ``again`` is the command that goes
    on with the hosts that have no turn. In a preview nothing comes of it. Where there are stages,
    ``stages`` names that of each wave, and ``limits`` says how many hosts may fail in each stage.
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
    """All hosts of a wave have ended, and a gate is asked that answers by ``until``."""

    wave: int
    gate: str
    at: float
    until: float


class GateAnswered(NamedTuple):
    """Whether the rollout may go on; ``text`` says why not, ``hosts`` whom the gate found wrong."""

    wave: int
    gate: str
    passed: bool
    text: str
    hosts: tuple[str, ...]
    at: float


class RolloutHeld(NamedTuple):
    """No host begins from now on: ``why`` is the kind of the reason, ``text`` its detail.

    ``hosts`` are those that had no turn.
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
    | HostKept
    | HostFinished
    | RolloutStep
    | RunFinished
)


def rollout_record(step: RolloutStep) -> dict[str, Any]:
    """The form that stands in the run's folder and in ``--json``."""
    return {"step": type(step).__name__, **step._asdict()}


def transaction_events(event: Event) -> Iterator[tuple[dict[str, Any], str]]:
    """The transaction events that an event of a run stands for, each with its JSON text."""
    if isinstance(event, ResourceEvent):
        yield event.event, event.line
    elif isinstance(event, ResourcesStable):
        yield from event.turns.events()
