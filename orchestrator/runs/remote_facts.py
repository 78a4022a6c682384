"""Gathers the facts of hosts through the workers of a Dask scheduler (controller)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.engine import EngineContext, Job
from orchestrator.fleet.event_bus import Bus, Subscriber
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.fleet.run_origin import local_user
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.fleet.sliding_window import run_all
from orchestrator.fleet.store.run_directory import new_run_id
from orchestrator.planning.commands.fact_request import FactRequest
from orchestrator.registration.publisher import CLOSE_TIMEOUT, Publisher
from orchestrator.runs.engine_choice import EngineSpec, start_engine
from orchestrator.runs.push_job import PushJob
from orchestrator.runs.remote_work import RemoteWork
from orchestrator.support.state_directory import state_directory
from remote_runtime.errors import CcmError
from remote_runtime.options import RunOptions

if TYPE_CHECKING:
    from inventory import Host
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.fleet.sliding_window import Window
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.wiring import TargetSelection
    from orchestrator.transport import Connector

_UNHEARD = "its worker reported no facts"


class _Facts(Subscriber):
    """Receives the facts of hosts from workers."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._names = {host.name for host in hosts}
        self.known: dict[str, HostFacts] = {}

    def handle(self, event: run_events.Event) -> None:
        """Store the record of a host; anything but a record of facts is ignored."""
        if not isinstance(event, run_events.HostPlanPart) or event.host not in self._names:
            return
        record: Any = event.record
        facts = record.get("facts") if isinstance(record, Mapping) else None
        if isinstance(facts, dict):
            self.known[event.host] = HostFacts(facts, answers={})

    def answer(self, name: str, result: HostResult) -> HostFacts | CcmError:
        """The result of a host."""
        if not result.kind and name in self.known:
            return self.known[name]
        return CcmError(result.message or _UNHEARD, result.kind or "facts.unheard")


def gather_by_workers(
    chosen: TargetSelection,
    connector: Connector,
    *,
    request: RunRequest,
    warn: Callable[[str], None],
    watch: Callable[[Window[Any]], None],
) -> dict[str, HostFacts | CcmError]:
    """Return a map from the name of each ``chosen`` host to Gathered, or to the CcmError that
    prevented it.

    Workers of the hosts' sites log in and change nothing; this machine gathers the facts of local
    hosts. ``watch`` receives the window before it starts. UsageError if there is no worker.
    """
    request = request._replace(run=RunOptions(noop=True, timeout=request.run.timeout))
    planner = FactRequest()
    push = PushJob("facts", "facts", None, planner, stored=False)
    settings = RunSettings(new_run_id(), f"{local_user()}@{os.uname().nodename}", request.run)
    job = Job(planner, settings)
    forks = request.connection.forks
    remote = RemoteWork(push, request, chosen, warn)
    spec = EngineSpec(
        chosen.hosts, connector, forks=forks, jobs=[job], planners=[planner], remote=remote
    )
    assert request.engine is not None
    facts = _Facts(chosen.hosts)
    with start_engine(request.engine, spec) as engage:
        bus = Bus([facts])
        publisher = Publisher(_no_store)
        package_metadata = PackageMetadataCache(state_directory() / "packages")
        engine = engage(EngineContext(connector, bus, publisher, package_metadata))
        try:
            results = run_all(map(engine.maker(job), chosen.hosts), forks, watch)
        finally:
            engine.close()
            publisher.close(CLOSE_TIMEOUT)
            bus.close()
    return {name: facts.answer(name, result) for name, result in results.items()}


def _no_store() -> Any:
    raise CcmError("gathering facts publishes no registrations", "defect")
