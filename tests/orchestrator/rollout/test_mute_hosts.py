"""Hosts that do not say a word: the brake takes them for hosts at work."""

import threading
import time

import pytest

from orchestrator.fleet import sliding_window
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.shared_limits import parse_per
from orchestrator.rollout.wave_sizes import parse_amount, parse_waves
from tests.orchestrator.fleet.fakes import FakeConnector, FakeHost, FarEnd
from tests.orchestrator.rollout.test_scheduler import roll_out

ENOUGH = 20  # looks of the window, at any of which another host would begin
HOSTS = [FakeHost(f"h{number}", {"rack": number // 2}) for number in range(6)]


@pytest.fixture(autouse=True)
def _looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliding_window, "KEEP_ALIVE_INTERVAL", 0.0)
    monkeypatch.setattr(sliding_window, "TICK", 0.01)


@pytest.mark.parametrize(
    ("options", "begun"),
    [
        (RolloutOptions(waves=parse_waves("1,100%")), ["h0"]),
        (RolloutOptions(per=(parse_per("rack=1"),)), ["h0", "h2", "h4"]),
        (RolloutOptions(), ["h0", "h1", "h2", "h3"]),
        (RolloutOptions(max_fail=parse_amount("1")), ["h0", "h1", "h2"]),
        (RolloutOptions(max_fail=parse_amount("0")), ["h0", "h1"]),
    ],
)
def test_a_mute_host_is_at_work(options: RolloutOptions, begun: list[str]) -> None:
    """It keeps the next wave and hosts that share something with it from beginning, and all hosts
    where no more may fail."""
    go, found, ticks = threading.Event(), list[str](), list[int]()

    def script(far: FarEnd) -> None:
        go.wait(600)
        far.carry_out_plan()

    connector = FakeConnector(script, patience=0.0)

    def look() -> None:
        until = time.monotonic() + 300
        while len(connector.links) < len(begun) and time.monotonic() < until:
            time.sleep(0.01)
        looked = len(ticks)
        while len(ticks) < looked + ENOUGH and time.monotonic() < until:
            time.sleep(0.01)
        found.extend(sorted(connector.links))
        go.set()

    looking = threading.Thread(target=look)
    looking.start()
    rolled = roll_out(HOSTS, connector, options, forks=2, tick=lambda: ticks.append(1))
    looking.join()
    assert found == begun
    assert rolled.outcomes() == dict.fromkeys((host.name for host in HOSTS), "ok")
