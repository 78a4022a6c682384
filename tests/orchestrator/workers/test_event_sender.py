"""When a worker tells what."""

import contextlib
import socket
import threading

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.workers import event_sender
from orchestrator.workers.channel import Channel
from orchestrator.workers.event_sender import EventSender

LONG = 600.0  # seconds that no test waits for


def outbox(gathering: float) -> tuple[EventSender, Channel]:
    """An outbox that is at work, and where its messages come."""
    ours, theirs = socket.socketpair()
    box = EventSender(Channel(theirs), gathering)
    box.start()
    return box, Channel(ours)


def phase(host: str) -> run_events.HostPhase:
    return run_events.HostPhase(host, Phase.CONNECTING, 1.0)


def test_the_end_of_a_host_takes_along_what_waits() -> None:
    """What happens is gathered; when a host has ended, all of it goes as one message."""
    box, channel = outbox(LONG)
    for host in ("web1", "web2"):
        box.handle(phase(host))
    assert channel.receive(0.05) is None
    box.handle(run_events.HostFinished(HostResult("web1", Tally())))
    told = channel.receive(60)
    assert told is not None
    assert [line.split("\t")[0] for line in told.split("\n")] == ["pweb1", "pweb2", "fweb1"]
    box.close()


def test_what_happens_does_not_wait_for_an_end() -> None:
    """Whoever looks at the run is told after a moment."""
    box, channel = outbox(0.01)
    box.handle(phase("web1"))
    assert channel.receive(60) == 'pweb1\t[["connecting",1.0]]'
    box.close()


def test_phases_that_follow_one_another_are_one_line() -> None:
    """Those of a host with nothing else of it between them, in what leaves together."""
    box, channel = outbox(LONG)
    box.handle(phase("web1"))
    box.handle(phase("web2"))
    box.handle(run_events.HostPhase("web1", Phase.RUNNING, 2.0))
    box.handle(run_events.HostNotice("web1", "info", "hello"))
    box.handle(run_events.HostPhase("web1", Phase.PLANNING, 3.0))
    box.handle(run_events.HostFinished(HostResult("web2", Tally())))
    told = (channel.receive(60) or "").split("\n")
    assert told[0] == 'pweb1\t[["connecting",1.0],["running",2.0]]'
    assert [line.partition("\t")[0] for line in told[1:]] == ["pweb2", "tweb1", "pweb1", "fweb2"]
    box.handle(run_events.HostPhase("web1", Phase.RUNNING, 4.0))
    box.close()
    assert channel.receive(60) == 'pweb1\t[["running",4.0]]'


def test_a_closed_one_has_sent_all() -> None:
    """What waits is sent before it is closed."""
    box, channel = outbox(LONG)
    box.handle(phase("web1"))
    box.close()
    assert channel.receive(60) == 'pweb1\t[["connecting",1.0]]'


def test_hosts_wait_for_a_controller_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is held than so much: whoever tells more waits, and nothing is lost."""
    monkeypatch.setattr(event_sender, "MAX_WAITING", 1_000_000)
    box, channel = outbox(LONG)
    text, count = "x" * 400_000, 12

    def tell() -> None:
        for _ in range(count):
            box.handle(run_events.HostNotice("web1", "info", text))
        box.close()
        box._channel.close()

    thread = threading.Thread(target=tell)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()
    found: list[str] = []
    with contextlib.suppress(EOFError):
        while told := channel.receive(60):
            found += told.split("\n")
    thread.join()
    assert len(found) == count


def test_registrations_are_told() -> None:
    """What a resource announces is for the controller to publish."""
    box, channel = outbox(0.0)
    box.add("web1", [{"service": "web", "port": 80}])
    assert channel.receive(60) == 'rweb1\t[{"service":"web","port":80}]'
    box.close()


def test_what_no_host_tells_is_a_defect() -> None:
    """An event that is not of a host is not dropped in silence."""
    box, _ = outbox(0.0)
    with pytest.raises(TypeError):
        box.handle(run_events.RunFinished(1.0, False))
    box.close()
