"""The live view, drawn into a terminal that is a text."""

import contextlib
import io
import os
import pty
import re
import time

import pytest
from rich.console import Console, ConsoleDimensions

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.report.terminal.live_view import LiveView
from tests.orchestrator.fleet.fakes import make_event
from tests.orchestrator.report.screen import Screen
from tests.texts import expect_text


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def view_of(hosts: int, width: int, height: int) -> list[str]:
    live = LiveView(Terminal(), "push of site.yaml")
    now = time.time()
    names = tuple(f"web{number}" for number in range(hosts))
    live.handle(run_events.RunStarted("r", now - 12, names, False))
    for name in names[: hosts // 2]:
        live.handle(run_events.HostPhase(name, Phase.RUNNING, now - 5))
        live.handle(run_events.HostPlanned(name, ("file#/x",) * 100))
        live.handle(run_events.ResourceProgress(name, "package#nginx", "installing", now - 3))
    for name in names[: hosts // 10]:
        live.handle(run_events.HostFinished(HostResult(name, Tally(), "failed", seconds=4.0)))
    return drawn(live, width, height)


def drawn(live: LiveView, width: int, height: int) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=True, color_system=None)
    live._console = console
    console.print(live._view())
    return out.getvalue().splitlines()


def test_the_view_fits_any_terminal() -> None:
    """From 3 to 1000 hosts the view has fewer lines than the terminal and none too long."""
    for hosts in (3, 50, 1000):
        for width, height in ((80, 24), (160, 50), (40, 10)):
            lines = view_of(hosts, width, height)
            assert len(lines) < height
            assert max(map(len, lines)) <= width


def test_the_rest_of_the_bar_shows_on_a_light_terminal() -> None:
    """What is not done yet is drawn in a colour that no usual background has."""
    live = LiveView(Terminal(), "push of site.yaml")
    live.handle(run_events.RunStarted("r", time.time(), ("web1", "web2"), False))
    live.handle(run_events.HostFinished(HostResult("web1", Tally(), seconds=4.0)))
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system="standard")
    live._console = console
    console.print(live._view())
    done, *_, rest = re.findall("\x1b\\[([0-9;]*)m[━╸╺]+", out.getvalue())
    assert (done, rest) == ("32", "90")


def test_the_view_says_who_does_what_and_since_when() -> None:
    """States are counted, and a running host shows its resource, action and time."""
    text = "\n".join(view_of(50, 100, 40))
    assert "5 failed" in text
    assert "20 running" in text
    assert "25 waiting" in text
    assert "package#nginx  installing" in text
    assert "5/50 hosts" in text
    assert "slowest so far: web0 4.00 s" in text


def everything_read(main: int) -> bytes:
    """What was written to a terminal whose other end is closed; it comes in pieces."""
    pieces = []
    with contextlib.suppress(OSError):
        while piece := os.read(main, 65536):
            pieces.append(piece)
    return b"".join(pieces)


def test_the_view_goes_away_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After close no rest of the view is left: the summary tells each failure, once."""
    monkeypatch.setenv("TERM", "xterm")
    main, other = pty.openpty()
    with os.fdopen(other, "w") as stream:
        live = LiveView(stream, "push of site.yaml")
        live.handle(run_events.RunStarted("r", time.time(), ("web1",), False))
        live.start()
        live.handle(run_events.HostPhase("web1", Phase.CONNECTING, time.time()))
        live.tick()
        result = HostResult("web1", Tally(), "unreachable", message="connection refused")
        live.handle(run_events.HostFinished(result))
        live.close()
    written = everything_read(main).decode()
    os.close(main)
    assert "web1" in written
    assert written.rindex("\x1b[2K") > written.rindex("web1")
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")


def test_what_many_hosts_say_alike_is_said_once() -> None:
    """A fleet that fails for one reason is one line of the view, with the number of hosts."""
    live = LiveView(Terminal(), "push of site.yaml")
    for number in range(40):
        message = f"192.0.2.{number}: connection refused " + "at length " * 20
        live.handle(
            run_events.HostFinished(HostResult(f"w{number}", Tally(), "unreachable", "", message))
        )
    said = [line for line in drawn(live, 60, 30) if "refused" in line]
    assert [line[:29] for line in said] == ["40 hosts unreachable: 192.0.2"]


def test_the_failures_of_the_most_hosts_are_seen() -> None:
    """The largest come first, in the words of what a command printed; more are counted."""
    live = LiveView(Terminal(), "push of site.yaml")
    live.handle(run_events.RunStarted("r", time.time(), ("w0", "w1", "w2"), False))
    for number in range(3):
        for at in range(3 + number):
            error = ["exit code 1", f"could not connect to db{number}"]
            event = make_event("exec", "z" * (at + 1), error=error, status="failed")
            event["host"] = f"w{number}"
            live.handle(run_events.ResourceEvent(f"w{number}", event, ""))
        live.handle(run_events.HostFinished(HostResult(f"w{number}", Tally(), "failed")))
    lines = [line.rstrip() for line in drawn(live, 80, 30)]
    assert lines[2:7] == [
        "exec#z failed on 3 hosts: could not connect to db0",
        "exec#zz failed on 3 hosts: could not connect to db0",
        "exec#zzz failed on 3 hosts: could not connect to db0",
        "exec#zzzz failed on 2 hosts: could not connect to db1",
        "… 1 more failure",
    ]


def test_the_step_that_takes_longest_is_first() -> None:
    """A host that hangs stands above those that go on, whatever the inventory's order."""
    live = LiveView(Terminal(), "push of site.yaml")
    now = time.time()
    live.handle(run_events.RunStarted("r", now - 99, ("a", "b"), False))
    for host, at in (("a", now - 90), ("b", now - 80)):
        live.handle(run_events.HostPhase(host, Phase.RUNNING, at))
    live.handle(run_events.ResourceProgress("a", "package#x", "installing", now - 1))
    lines = [line.split()[0] for line in drawn(live, 80, 24) if line.startswith("  ")]
    assert lines == ["b", "a"]


def test_a_host_that_waits_for_a_lock_is_waiting() -> None:
    """Who waits for another push is told so and is not counted as running."""
    live = LiveView(Terminal(), "push of site.yaml")
    live.handle(run_events.RunStarted("r", time.time(), ("a",), False))
    live.handle(run_events.HostPhase("a", Phase.RUNNING, time.time()))
    live.handle(run_events.HostNotice("a", "info", "waiting for the push of bob", waits=True))
    text = "\n".join(drawn(live, 80, 24))
    assert "0 running   1 waiting" in text
    expect_text(text)


def test_changed_hosts_are_counted_as_changed() -> None:
    """ok are the hosts on which nothing had to be done."""
    live = LiveView(Terminal(), "push of site.yaml")
    tally = Tally()
    tally.changed = 1
    live.handle(run_events.HostFinished(HostResult("a", tally)))
    live.handle(run_events.HostFinished(HostResult("b", Tally())))
    assert "1 changed   1 unchanged" in "\n".join(drawn(live, 80, 24))


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    return Screen(90)


def tick(live: LiveView, screen: Screen) -> None:
    """Draw at once, in the window as it is now."""
    live._console.size = ConsoleDimensions(screen.width, 30)
    live._drawn = 0.0
    live.tick()


def begun(screen: Screen) -> LiveView:
    """A view that stands below what the user typed and what a command said."""
    screen.write("$ ccm push\nan earlier line\n")
    live = LiveView(screen, "push of site.yaml")
    live.handle(run_events.RunStarted("r", time.time(), ("web1", "web2"), False))
    for host in ("web1", "web2"):
        live.handle(run_events.HostPhase(host, Phase.CONNECTING, time.time()))
    live.start()
    tick(live, screen)
    return live


def test_a_question_stands_below_what_was_there(screen: Screen) -> None:
    """The view goes away for a question, and comes back below it and its answer."""
    live = begun(screen)
    with live.aside():
        assert screen.seen() == ["$ ccm push", "an earlier line"]
        screen.write("sudo password: \n")
    tick(live, screen)
    rows = screen.seen()
    assert rows[:3] == ["$ ccm push", "an earlier line", "sudo password:"]
    assert rows[3].startswith("push of site.yaml")
    live.close()
    assert screen.seen() == ["$ ccm push", "an earlier line", "sudo password:"]


def test_a_smaller_window_leaves_nothing_of_the_view(screen: Screen) -> None:
    """Lines that a narrower window wraps are erased whole, while it runs and at its end."""
    live = begun(screen)
    for width in (50, 33):
        screen.narrow(width)
        tick(live, screen)
        rows = screen.seen()
        assert rows[:2] == ["$ ccm push", "an earlier line"]
        assert [row.startswith("push of") for row in rows[2:]].count(True) == 1
        assert rows[2].startswith("push of")
    screen.narrow(20)
    live._console.size = ConsoleDimensions(20, 30)
    live.close()
    assert screen.seen() == ["$ ccm push", "an earlier line"]
