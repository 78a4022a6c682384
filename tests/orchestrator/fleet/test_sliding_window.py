"""The sliding window over many hosts, and how it is interrupted."""

import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.fact_run import gather_facts
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.interfaces import OnPhase
from orchestrator.fleet.open_file_limit import raise_limit
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.sliding_window import Window
from remote_runtime.errors import UnreachableError, UsageError
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakeLink,
    FakePlanner,
    FarEnd,
)

HOSTS = [FakeHost(f"web{number}") for number in range(1, 31)]


def roll_out(
    connector: FakeConnector, forks: int = 8, grace: float = 8.0
) -> tuple[Window[HostResult], dict[str, HostResult], Callable[[], None]]:
    results: dict[str, HostResult] = {}
    bus = Bus()
    runs = (
        HostRun(h, connector, planner=FakePlanner(["/etc/a"]), bus=bus, settings=SETTINGS)
        for h in HOSTS
    )

    window = Window(runs, forks, finished=results.__setitem__, grace=grace)
    return window, results, window.run


def test_a_defect_of_one_host_is_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What ccm did wrong on one host leaves the results of all others as they are."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    class Defective(FakeConnector):
        def open(self, host: FakeHost, on_phase: OnPhase, until: float | None = None) -> FakeLink:
            if host.name == "web7":
                raise AttributeError("No attribute or config key found for 'gateway'")
            return super().open(host, on_phase, until)

    _, results, run = roll_out(Defective())
    run()
    assert results.pop("web7").outcome == "defect"
    assert {result.outcome for result in results.values()} == {"ok"}
    assert len(results) == len(HOSTS) - 1


def test_the_window_is_never_wider_than_forks_and_always_full() -> None:
    """So many hosts run at a time as were allowed, and as one ends the next begins."""
    lock, running, widest = threading.Lock(), [0], [0]

    def script(far: FarEnd) -> None:
        with lock:
            running[0] += 1
            widest[0] = max(widest[0], running[0])
        time.sleep(0.02)
        far.carry_out_plan()
        with lock:
            running[0] -= 1

    _, results, run = roll_out(FakeConnector(script), forks=5)
    run()
    assert {r.outcome for r in results.values()} == {"ok"}
    assert len(results) == len(HOSTS)
    assert widest[0] in (5, 6)  # a script may be a moment behind its link


def test_hostile_hosts_leave_the_others_alone() -> None:
    """Hosts that flood, hang up or talk nonsense end alone; every other host is ok."""
    scripts = {
        "web3": lambda far: far.raw(b"y\n" * 1_000_000),
        "web7": lambda far: None,
        "web9": lambda far: far.greet(nonce="x"),
    }
    _, results, run = roll_out(FakeConnector(scripts=scripts))
    run()
    bad = {name for name, result in results.items() if result.outcome != "ok"}
    assert bad == set(scripts)
    assert len(results) == len(HOSTS)


def test_an_interrupt_cancels_running_hosts_and_starts_no_more() -> None:
    """Running hosts get a cancel and say how far they were; waiting ones are never contacted."""
    cancelled = []

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        far.await_message("cancel")
        cancelled.append(1)
        far.say("done", events=0, cancelled=True)

    connector = FakeConnector(script)
    # Who waited for the grace here would run into the timeout of the test.
    window, results, run = roll_out(connector, forks=4, grace=3600)
    timer = threading.Timer(0.5, window.interrupt)
    timer.start()
    run()
    assert len(cancelled) == len(connector.links) == 4
    assert len(results) == len(HOSTS)
    assert {r.outcome for r in results.values()} == {"interrupted"}
    assert (results["web1"].kind, results["web1"].phase) == ("run.interrupted", Phase.RUNNING)
    assert results["web30"].phase == Phase.WAITING


def test_an_interrupt_leaves_hosts_that_do_not_answer() -> None:
    """A host that ignores the cancel is left behind after the grace, its link closed."""

    def deaf(far: FarEnd) -> None:
        far.greet()
        while True:
            far.say("ping")
            time.sleep(0.05)

    connector = FakeConnector(deaf)
    window, results, run = roll_out(connector, forks=4, grace=0.5)
    threading.Timer(0.3, window.interrupt).start()
    run()  # by themselves the hosts never end
    assert {r.outcome for r in results.values()} == {"interrupted"}
    assert all(link.closed.is_set() for link in connector.links.values())


def test_facts_are_gathered_and_errors_stand_beside_them() -> None:
    """gather_facts gives facts or the error of each host, and says bye."""
    said = []

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("bye")
        said.append(1)

    connector = FakeConnector(script, {"web2": lambda far: None})
    answers = gather_facts(HOSTS[:3], connector, forks=2)
    first, second = answers["web1"], answers["web2"]
    assert isinstance(first, HostFacts)
    assert first.facts == {"host": {"info": {"os": "linux"}}}
    assert isinstance(second, UnreachableError)
    deadline = time.monotonic() + 5
    while len(said) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(said) == 2


def test_forks_beyond_the_descriptors_are_refused() -> None:
    """More hosts at a time than the system allows is an error that says how many fit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.raises(UsageError, match=str(hard)) as caught:
        raise_limit(hard)
    assert "--forks" in caught.value.hint


def test_the_soft_limit_is_raised_as_far_as_needed() -> None:
    """A low soft limit is no reason to refuse while the hard one leaves room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    try:
        raise_limit(50)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 50 * 5
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
