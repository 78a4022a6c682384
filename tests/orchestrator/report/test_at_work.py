"""Hosts at work, and the line that says so in a log."""

import io
import time

from orchestrator.fleet import events as happening
from orchestrator.fleet.phases import Phase
from orchestrator.report.at_work import AtWork
from orchestrator.report.lines import SILENCE, Lines


def test_a_silent_run_says_that_it_is_at_work() -> None:
    """Where nothing was written for a while a line names the host whose step takes longest."""
    out = io.StringIO()
    lines = Lines(out)
    now = time.time()
    lines.handle(happening.RunStarted("r", now - 70, ("a", "b", "c"), False))
    for host, at in (("a", now - 65), ("b", now - 60)):
        lines.handle(happening.HostPhase(host, Phase.RUNNING, at))
    lines.handle(happening.ResourceProgress("a", "package#x", "installing", now - 5))
    lines.tick(time.monotonic())
    assert out.getvalue() == ""
    lines.tick(time.monotonic() + SILENCE)
    assert out.getvalue().startswith("[0/3] 2 running, 1 waiting; longest b: running (1 min")


def test_a_host_may_wait_before_its_first_step() -> None:
    """For a worker: the view has it then, and knows that it waits until that is there."""
    work = AtWork()
    work.handle(happening.HostNotice("a", "info", "waiting for a worker", waits=True))
    row = work.rows["a"]
    assert (row.doing, row.waits, work.running) == ("waiting for a worker", True, 0)
    work.handle(happening.HostPhase("a", Phase.CONNECTING, time.time()))
    assert (row.doing, row.waits, work.running) == ("connecting", False, 1)
    work.handle(happening.HostNotice("b", "info", "not of one that waits"))
    assert list(work.rows) == ["a"]
