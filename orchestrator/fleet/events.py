"""What a run tells its subscribers, in the order in which it happens (controller).

Times are seconds of ``time.time()``; every text in here is plain already.
"""

from dataclasses import dataclass
from typing import Any

from orchestrator.fleet.outcome import HostResult


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run begins: which hosts, in the inventory's order."""

    run_id: str
    at: float
    hosts: tuple[str, ...]
    noop: bool
    manifest: str = ""
    command: str = "push"


@dataclass(frozen=True, slots=True)
class HostPhase:
    """A host enters a phase, as in "connecting"."""

    host: str
    phase: str
    at: float


@dataclass(frozen=True, slots=True)
class HostPlanned:
    """A host's plan is made: how many resources it has."""

    host: str
    resources: int


@dataclass(frozen=True, slots=True)
class ResourceProgress:
    """What a host is doing right now to one resource, as in "installing nginx"."""

    host: str
    resource: str
    action: str
    at: float


@dataclass(frozen=True, slots=True)
class ResourceEvent:
    """A resource is done: its checked transaction event and the JSON text of that on one line."""

    host: str
    event: dict[str, Any]
    line: str


@dataclass(frozen=True, slots=True)
class HostNotice:
    """A line for people from, or about, one host; ``level`` is info, warning or error."""

    host: str
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class HostFinished:
    """A host's run is over."""

    result: HostResult


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event: when the run ended and whether the user ended it."""

    at: float
    interrupted: bool


Event = (
    RunStarted
    | HostPhase
    | HostPlanned
    | ResourceProgress
    | ResourceEvent
    | HostNotice
    | HostFinished
    | RunFinished
)
