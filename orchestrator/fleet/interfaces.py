"""The interfaces of the fleet to other packages (controller). The tests have fakes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.fleet.host.phases import Phase

if TYPE_CHECKING:
    from orchestrator.fleet.checks.unchanged_resources import PlannedFields
    from orchestrator.fleet.host.host_facts import HostFacts

OnPhase = Callable[[Phase], None]


class Target(Protocol):
    """The members of a host that the fleet uses."""

    @property
    def name(self) -> str: ...

    @property
    def vars(self) -> Mapping[str, Any]: ...


class Link(Protocol):
    """The open channel to one host's runtime."""

    nonce: str
    runtime: str
    host_key: str
    login_keys: tuple[str, ...]

    def send(self, data: bytes) -> None: ...

    def receive(self, timeout: float) -> bytes: ...

    def stderr_tail(self) -> str: ...

    def close(self) -> None: ...


class Connector(Protocol):
    """Opens links; blocks, with its own time limits. ``UnreachableError`` if a link cannot be
    opened.

    ``until`` is the time (``time.monotonic()``) at which the host times out, None for never.
    """

    def open(self, host: Any, on_phase: OnPhase, until: float | None = None) -> Link: ...

    def patience(self, host: Any) -> float:
        """The number of seconds within which a host must send its facts; after that, others do not
        wait for it.
        """


class Blob(Protocol):
    """Bytes that a plan names by hash; ``chunks`` yields exactly ``size`` bytes."""

    @property
    def size(self) -> int: ...

    def chunks(self) -> Iterable[bytes]: ...


class FileReceiver(Protocol):
    """Receives the files that a host sends."""

    def take(self, message: Mapping[str, Any], pieces: Iterator[bytes]) -> None: ...


class Plan(Protocol):
    """One host's plan. See docs/design/package-interfaces.md."""

    @property
    def fail_on_error(self) -> bool: ...

    @property
    def warnings(self) -> Iterable[str]: ...

    @property
    def secrets(self) -> Iterable[str]: ...

    @property
    def incoming(self) -> FileReceiver | None:
        """The receiver of the files that the target sends; None if it sends none."""

    def identities(self) -> Iterator[str]:
        """The ``type#name`` of every resource in pre-order, the order of the indexes."""

    def subscriptions(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each subscriber, with the ``type#name`` of its subscriptions."""

    def requirements(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each resource that requires others, with the ``type#name`` of these."""

    def members(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each ``apply`` with the ``type#name`` of the resources that it applies."""

    def registrations(self, identity: str) -> Sequence[Mapping[str, Any]]:
        """Return the entries to announce once the resource with that ``type#name`` is stable."""

    def place(self, identity: str) -> str:
        """The position of that ``type#name`` in a manifest: ``FILE:LINE:COLUMN``."""

    def implied(self, index: int) -> PlannedFields | None:
        """The implied members of the events of ``count`` converged resources, starting at an index,
        masked; None if the plan does not contain all of them.
        """

    def references(self) -> int:
        """The number of references to blobs, which is the maximum number of requests."""

    @property
    def total(self) -> int:
        """The number of resources that the target reports; in a preview, those of earlier plans
        have higher indexes.
        """

    @property
    def rounds(self) -> int:
        """The number of passes of the target over the resources."""

    @property
    def previews(self) -> bool:
        """Whether some of it is only previewed in a push, too."""

    @property
    def observes(self) -> bool:
        """Whether each event must contain the observed state."""

    def misprediction(self, event: Mapping[str, Any]) -> str | None:
        """The plan file's prediction for a resource with a different result; "" if it was right,
        None without a plan file.
        """

    def kept(self) -> Mapping[str, Any] | None:
        """The new part of the host's record for a plan file that is being written, as JSON values;
        None if there is none.
        """

    def longest(self) -> float:
        """The maximum number of seconds that one of its resources may run, according to its own
        timeouts.
        """

    def payload(self, envelope: Mapping[str, Any]) -> bytes: ...

    def blob(self, sha: str) -> Blob: ...

    def render(self, index: int, read: Callable[[str], bytes]) -> dict[str, Any]: ...


class Publisher(Protocol):
    """Announces the services of stable resources; ``add`` never blocks."""

    def add(self, host: str, registrations: Sequence[Mapping[str, Any]]) -> None: ...


class Planner(Protocol):
    """Creates the plans of a run; thread-safe."""

    def plan(self, host: Any, gathered: HostFacts) -> Plan: ...
