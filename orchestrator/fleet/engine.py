"""Runs the hosts of a push: in this process, in others, or on workers (controller).

An engine does not decide which host starts, or when: the window and the scheduler do.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.fleet.run_settings import RunSettings

if TYPE_CHECKING:
    from orchestrator.fleet.interfaces import Connector, Planner, Publisher, Target

Maker = Callable[["Target"], HostTask[HostResult]]


class Job(NamedTuple):
    """A job for some hosts of a run: all of them, or those of a stage."""

    planner: "Planner"
    settings: RunSettings


class EngineContext(NamedTuple):
    """The data that all hosts of a run share, regardless of the engine; it is not sent
    to workers.
    """

    connector: "Connector"
    bus: Bus
    publisher: "Publisher"
    package_metadata: PackageMetadataCache


class Engine(Protocol):
    """Creates the tasks of hosts, which the window runs and whose results go to the bus.

    A task returns its host's result and obeys ``cancel`` and ``abandon``, wherever it runs.
    """

    def maker(self, job: Job) -> Maker:
        """The factory of the task of a host, for a job."""

    def close(self) -> None:
        """Release the resources of the engine after its last task, within a limited time."""


class ThreadEngine:
    """Runs each host in a thread of the window, in this process."""

    def __init__(self, shared: EngineContext) -> None:
        self._shared = shared

    def maker(self, job: Job) -> Maker:
        """The factory of the task of a host, for a job."""
        shared = self._shared

        def make(host: "Target") -> HostRun:
            """The run of one host."""
            return HostRun(
                host,
                shared.connector,
                planner=job.planner,
                bus=shared.bus,
                settings=job.settings,
                publisher=shared.publisher,
                package_metadata=shared.package_metadata,
            )

        return make

    def close(self) -> None:
        """Do nothing: this engine has no resources."""
