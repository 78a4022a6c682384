"""Commands before and after a host."""

import json
import threading
import time
from pathlib import Path

import pytest

from orchestrator.fleet import outcome
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.outcome import HostResult
from orchestrator.rollout.budget import is_failure
from orchestrator.rollout.hooks import HookedTask
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakePlanner,
    FarEnd,
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What the commands write to."""
    return tmp_path / "log"


def task(before: str, after: str, connector: FakeConnector) -> HookedTask:
    planner = FakePlanner(["/etc/a"])
    run = HostRun(FakeHost("web1"), connector, planner=planner, bus=Bus(), settings=SETTINGS)
    return HookedTask(run, before, after, {"host": {"name": "web1"}})


class Reached(FakeConnector):
    """Notes in the log that the host was reached."""

    def __init__(self, log: Path) -> None:
        def script(far: FarEnd) -> None:
            with open(log, "a", encoding="utf-8") as file:
                file.write("host\n")
            far.carry_out_plan()

        super().__init__(script)


def run(before: str, after: str, log: Path) -> HostResult:
    return task(before, after, Reached(log)).run()


def test_a_host_stands_between_its_commands(log: Path) -> None:
    """First the one, then the host, then the other, which reads what the host came to."""
    result = run(
        f"cat >> {log}.before; echo before >> {log}",
        f"cat >> {log}.after; echo after >> {log}",
        log,
    )
    assert result.outcome == outcome.OK
    assert log.read_text() == "before\nhost\nafter\n"
    assert json.loads(Path(f"{log}.before").read_text()) == {"host": {"name": "web1"}}
    assert json.loads(Path(f"{log}.after").read_text())["result"]["outcome"] == "ok"


def test_a_host_that_could_not_be_drained_is_not_touched(log: Path) -> None:
    """It counts as a failure, and what comes after it is run all the same."""
    result = run("echo no drain; exit 4", f"echo after >> {log}", log)
    assert (result.outcome, result.kind) == (outcome.FAILED, "rollout.before_host")
    assert result.message == "before-host exited with 4: no drain"
    assert is_failure(result)
    assert log.read_text() == "after\n"


def test_a_host_that_does_not_come_back_has_failed(log: Path) -> None:
    """What was done on it is told as ever, but nobody may take it for well."""
    result = run("true", "exit 1", log)
    assert (result.outcome, result.kind) == (outcome.FAILED, "rollout.after_host")
    assert result.tally.total == 1


def test_a_drained_host_keeps_its_place(log: Path) -> None:
    """However long it is mute, no other one is drained for it."""
    seen: list[bool] = []

    def script(far: FarEnd) -> None:
        seen.extend(one.is_unresponsive(time.monotonic() + 3600) for one in (hooked._task, hooked))
        far.carry_out_plan()

    hooked = task("true", "", FakeConnector(script))
    assert hooked.run().outcome == outcome.OK
    assert seen == [True, False]


@pytest.mark.parametrize("before", ["sleep 600", "true"])
def test_a_host_is_put_back_when_the_run_is_ended(log: Path, before: str) -> None:
    """Ctrl-C while it is drained, or at work: the second command runs."""

    def script(far: FarEnd) -> None:
        time.sleep(600)

    hooked = task(before, f"echo after >> {log}", FakeConnector(script))
    threading.Timer(0.5, hooked.cancel).start()
    threading.Timer(1.0, hooked.abandon).start()
    result = hooked.run()
    assert result.outcome == outcome.INTERRUPTED
    assert log.read_text() == "after\n"
