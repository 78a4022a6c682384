"""What a run tells its subscribers, in the order in which it happens (controller).

Times are seconds of ``time.time()``; every text in here is plain already.
"""

from typing import Any, NamedTuple

from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.phases import Phase


class RunStarted(NamedTuple):
    """The run begins: which hosts, in the inventory's order.

    ``identity`` is what the manifest is called wherever it lies, "" for a resource of its own.
    """

    run_id: str
    at: float
    hosts: tuple[str, ...]
    noop: bool
    manifest: str = ""
    command: str = "push"
    identity: str = ""


class HostPhase(NamedTuple):
    """A host enters a phase of its run."""

    host: str
    phase: Phase
    at: float


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


class HostNotice(NamedTuple):
    """A line for people from, or about, one host; ``level`` is info, warning or error.

    ``waits``: it tells for whom the host waits, and goes on with its step afterwards.
    """

    host: str
    level: str
    text: str
    waits: bool = False


class HostFinished(NamedTuple):
    """A host's run is over."""

    result: HostResult


class RunFinished(NamedTuple):
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
