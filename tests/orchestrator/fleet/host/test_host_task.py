"""What every task of a host does, whatever it is."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.host.fact_run import FactRun
from orchestrator.fleet.host.framed_link import EXPIRY_GRACE, FramedLink
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.host_task import InterruptedRunError
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.interfaces import Link
from orchestrator.fleet.outcome import HostResult
from orchestrator.support.crash_report import DefectError
from remote_runtime.errors import UnreachableError
from remote_runtime.options import RunOptions
from remote_runtime.protocol.wire import encode
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakePlanner,
    FarEnd,
    recorded_bus,
)


class Opening:
    """Does something while a link is being opened."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile
        self.inner = FakeConnector(FarEnd.greet)

    def open(self, host: Any, on_phase: Any, until: Any = None) -> Link:
        link = self.inner.open(host, on_phase, until)
        self._meanwhile()
        return link

    def patience(self, host: Any) -> float:
        return 600.0


def test_what_is_cancelled_while_its_link_is_opened_is_not_begun() -> None:
    """A link that comes too late is closed, and nothing is asked over it."""
    connector = Opening(lambda: task.cancel())
    task = FactRun(FakeHost("web1"), connector)
    assert isinstance(task.run(), InterruptedRunError)
    assert connector.inner.links["web1"].closed.is_set()


def test_a_defect_is_told_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug is that host's answer, with the path of a report and without a value that it quotes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def fail() -> None:
        raise KeyError(f"hunter{2}")

    error = FactRun(FakeHost("web1"), Opening(fail)).run()
    assert isinstance(error, DefectError)
    assert error.kind == "defect"
    assert "hunter2" not in f"{error} {Path(error.report).read_text()}"
    assert "facts of web1" in Path(error.report).read_text()


class Looks:
    """What is seen of a task while its host has not told its facts, and once it has."""

    def __init__(self) -> None:
        self.seen: list[bool] = []
        self.task: Any = None

    def look(self) -> None:
        now = time.monotonic()
        self.seen += [self.task.is_unresponsive(now), self.task.is_unresponsive(now + 600)]

    def script(self, far: FarEnd) -> None:
        self.look()
        far.greet_as({})
        self.look()
        far.say("facts", facts={"host": {"info": {"os": "linux"}}})
        while self.task.is_unresponsive(time.monotonic() + 600):
            time.sleep(0.01)
        far.hear()


def seen_of(make: Callable[[Any], Any]) -> list[bool]:
    looks = Looks()
    looks.task = make(FakeConnector(looks.script, patience=300.0))
    looks.look()
    looks.task.run()
    looks.look()
    return looks.seen


def test_a_host_is_mute_past_its_patience_until_its_facts() -> None:
    """Before it begins it is not, hello makes no difference, and facts end it for good."""
    expected = [False, False, False, True, False, True, False, False]
    host, planner = FakeHost("web1"), FakePlanner([])
    assert seen_of(lambda connector: FactRun(host, connector)) == expected
    assert (
        seen_of(
            lambda connector: HostRun(
                host, connector, planner=planner, bus=recorded_bus()[0], settings=SETTINGS
            )
        )
        == expected
    )


class Hanging:
    """Opens no link until the host's time is up."""

    def __init__(self, until_its_end: bool = True) -> None:
        self._hangs = until_its_end

    def open(self, host: Any, on_phase: Any, until: Any = None) -> Link:
        on_phase(Phase.AUTHENTICATING)
        if self._hangs:
            time.sleep(max(0.0, until - time.monotonic()))
        raise UnreachableError("it did not answer the login", "transport.silent")

    def patience(self, host: Any) -> float:
        return 600.0


def refusal(connector: Any, seconds: float) -> HostResult:
    settings = SETTINGS._replace(options=RunOptions(timeout=seconds))
    bus, _ = recorded_bus()
    return HostRun(
        FakeHost("web1"), connector, planner=FakePlanner([]), bus=bus, settings=settings
    ).run()


def test_a_time_that_is_up_at_the_login_is_told_as_such() -> None:
    """With the phase and the seconds; what fails before that is what it is."""
    result = refusal(Hanging(), 0.3)
    assert (result.outcome, result.kind, result.phase) == (
        "unreachable",
        "host.timeout",
        Phase.AUTHENTICATING,
    )
    assert result.message == "timed out after 0.3 s while authenticating"
    assert "--timeout" in result.hint
    for seconds in (0.0, 3600.0):
        assert refusal(Hanging(until_its_end=False), seconds).kind == "transport.silent"


class Shut:
    """A link that takes no bytes until it is closed."""

    nonce = runtime = host_key = ""
    login_keys: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.closed = threading.Event()
        self.began = threading.Event()

    def send(self, data: bytes) -> None:
        self.began.set()
        self.closed.wait()
        raise UnreachableError("closed")

    def receive(self, timeout: float) -> bytes:
        raise TimeoutError

    def stderr_tail(self) -> str:
        return ""

    def close(self) -> None:
        self.closed.set()


def test_a_link_that_takes_no_bytes_is_closed_when_the_time_is_up() -> None:
    """However long it would be waited for otherwise."""
    shut = Shut()
    link = FramedLink(shut, until=time.monotonic())
    told: list[UnreachableError] = []

    def send() -> None:
        with pytest.raises(UnreachableError) as caught:
            link.send({"t": "bye"})
        told.append(caught.value)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    assert shut.began.wait(60)
    link.tend(time.monotonic())
    assert not shut.closed.is_set()
    link.tend(time.monotonic() + EXPIRY_GRACE + 1)
    sender.join(60)
    assert [error.kind for error in told] == ["host.timeout"]


class Late(Shut):
    """A link of a process that is stopped while it waits; what the host said is read after."""

    def __init__(self) -> None:
        super().__init__()
        self.stops = 1

    def receive(self, timeout: float) -> bytes:
        if self.stops:
            self.stops -= 1
            time.sleep(4)
            raise TimeoutError
        return encode({"t": "notice"})


def test_a_controller_that_was_stopped_itself_reads_what_the_host_said() -> None:
    """The time in which ccm did not run, because of SIGSTOP or a laptop asleep, is no silence."""
    assert FramedLink(Late()).message(wait=3)["t"] == "notice"
