"""Hosts at work, and the line that says so in a log."""

import io
import time

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.report.terminal.active_hosts import ActiveHosts
from orchestrator.report.terminal.progress_lines import SILENCE, Lines
from tests.orchestrator.fleet.fakes import make_event


def test_a_silent_run_says_that_it_is_at_work() -> None:
    """Where nothing was written for a while a line names the host whose step takes longest."""
    out = io.StringIO()
    lines = Lines(out)
    now = time.time()
    lines.handle(run_events.RunStarted("r", now - 70, ("a", "b", "c"), False))
    for host, at in (("a", now - 65), ("b", now - 60)):
        lines.handle(run_events.HostPhase(host, Phase.RUNNING, at))
    lines.handle(run_events.ResourceProgress("a", "package#x", "installing", now - 5))
    lines.tick(time.monotonic())
    assert out.getvalue() == ""
    lines.tick(time.monotonic() + SILENCE)
    assert out.getvalue().startswith("[0/3] 2 running, 1 waiting; longest b: running (1 min")


def test_a_host_may_wait_before_its_first_step() -> None:
    """For a worker: the view has it then, and knows that it waits until that is there."""
    work = ActiveHosts()
    work.handle(run_events.HostNotice("a", "info", "waiting for a worker", waits=True))
    row = work.rows["a"]
    assert (row.doing, row.waits, work.running) == ("waiting for a worker", True, 0)
    work.handle(run_events.HostPhase("a", Phase.CONNECTING, time.time()))
    assert (row.doing, row.waits, work.running) == ("connecting", False, 1)
    work.handle(run_events.HostNotice("b", "info", "not of one that waits"))
    assert list(work.rows) == ["a"]


def test_what_was_said_of_a_resource_goes_with_it() -> None:
    """The words of a resource are shown until it is done; at the last one the host is finishing."""
    work = ActiveHosts()
    work.handle(run_events.HostPhase("a", Phase.RUNNING, time.time()))
    work.handle(
        run_events.HostPlanned("a", ("file#/one", "package#x", "file#/two", "apply#r.yaml"))
    )
    row = work.rows["a"]
    work.handle(run_events.ResourceProgress("a", "package#x", "installing", time.time()))
    assert row.doing == "package#x  installing"
    for kind, name, doing in (
        ("file", "/one", "running"),
        ("package", "x", "running"),
        ("file", "/two", "finishing"),
        ("apply", "r.yaml", "finishing"),
    ):
        event = make_event(name=name, type=kind)
        work.handle(run_events.ResourceEvent("a", event, ""))
        assert row.doing == doing, name
    assert (row.done, row.planned) == (3, 3)
