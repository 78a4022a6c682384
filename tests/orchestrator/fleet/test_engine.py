"""Engines: the same task of a host, wherever it is worked on."""

from typing import Any

from orchestrator.fleet.engine import EngineContext, Job, ThreadEngine
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.registration.publisher import Publisher
from orchestrator.registration.store import open_store
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakePlanner,
    recorded_bus,
)


def test_threads_work_on_a_host_in_the_thread_that_runs_its_task() -> None:
    """A task of the threads gives the host's result, and has told of it on the bus of the run."""
    bus, recorder = recorded_bus()
    publisher = Publisher(lambda: open_store(None))
    engine = ThreadEngine(EngineContext(FakeConnector(), bus, publisher, PackageMetadataCache()))
    make = engine.maker(Job(FakePlanner(["/etc/a"]), SETTINGS))
    result = make(FakeHost("web1")).run()
    engine.close()
    assert (result.host, result.outcome, result.tally.stable) == ("web1", "ok", 1)
    told: list[Any] = list(recorder.events)
    assert {event.host for event in told} == {"web1"}
