"""What a command said on many hosts, as people read it."""

import io
import json
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.report.command_output import LEFT_OUT, CommandOutput
from orchestrator.report.terminal.style import Style
from tests.orchestrator.fleet.fakes import make_event
from tests.texts import expect_text


class Fleet:
    """Hosts that answer one after the other."""

    def __init__(self, *hosts: str, **bound: int) -> None:
        self.answers = CommandOutput(**bound)
        again = ("ccm", "run", "-i", "hosts.yaml", "--", "x")
        begin = run_events.RunStarted("run-1", 100.0, hosts, False, command="run", again=again)
        self.answers.handle(begin)

    def said(self, output: str, *hosts: str, code: int = 0, **members: Any) -> None:
        """The hosts end with this exit code."""
        for host in hosts:
            status = "failed" if code else "changed"
            given = {"error": [f"exit code {code}"] if code else [], "exit_code": code, **members}
            event = make_event(name="x", type="exec", status=status, output=output, **given)
            line = json.dumps(event)
            self.answers.handle(run_events.ResourceEvent(host, event, line))
            self.ended(host, "failed" if code else "ok")

    def ended(self, host: str, outcome: str, **members: Any) -> None:
        result = HostResult(host, Tally(), outcome, **members)
        self.answers.handle(run_events.HostFinished(result))

    def text(self, **choice: Any) -> str:
        self.answers.handle(run_events.RunFinished(103.5, False))
        out = io.StringIO()
        self.answers.write(out, Style(), **choice)
        return out.getvalue()


def test_who_says_the_same_stands_together() -> None:
    """Failures first, then the most hosts first; exit codes are counted."""
    fleet = Fleet("web1", "web2", "web3", "web4", "db1")
    fleet.said("one\n", "web1", "db1")
    fleet.said("two\n\nlines\n", "web2", "web3", code=3)
    fleet.ended("web4", "unreachable", message="it is silent", phase=Phase.CONNECTING, hint="look")
    assert fleet.text(run_id="run-1").splitlines() == [
        "web[2-3] (2 hosts)  exit code 3",
        "    two",
        "",
        "    lines",
        "",
        "web4  unreachable",
        "    while connecting: it is silent",
        "    → look",
        "",
        "web1, db1 (2 hosts)  exit code 0",
        "    one",
        "",
        "Hosts      5: 2 with exit code 3, 1 unreachable, 2 with exit code 0",
        "Retry      ccm run -l 'web[2-4]' -i hosts.yaml -- x",
        "Time       3.50 s",
        "Run        run-1  (see ccm report)",
    ]


def test_other_answers_stand_apart() -> None:
    """Other outputs and other exit codes are other answers, whatever differs in them."""
    fleet = Fleet("a1", "a2", "a3")
    fleet.said("load 0.1\n", "a1")
    fleet.said("load 0.2\n", "a2")
    fleet.said("load 0.1\n", "a3", code=1)
    assert len(fleet.answers.groups(fold=False)) == 3


def test_fold_sets_names_and_numbers_aside() -> None:
    """What differs in the host's name, in numbers and in how they are set out is one answer."""
    fleet = Fleet("web1", "web2", "web3")
    fleet.said("web1  up 9 days, load 0.05\n", "web1")
    fleet.said("web2 up 10 days, load 12.5\n", "web2")
    fleet.said("web3 up 10 days, load high\n", "web3")
    text = fleet.text(fold=True)
    assert "web[1-2] (2 hosts)  exit code 0\n    web1  up 9 days, load 0.05\n" in text
    expect_text(text)
    assert "web3  exit code 0" in text


def test_quiet_shows_failures_only() -> None:
    """Without one it says nothing."""
    fleet = Fleet("a1")
    fleet.said("fine\n", "a1")
    assert fleet.text(quiet=True) == ""
    fleet = Fleet("a1", "a2")
    fleet.said("fine\n", "a1")
    fleet.said("bad\n", "a2", code=1)
    assert "fine" not in fleet.text(quiet=True)


def test_a_host_without_a_turn_is_told() -> None:
    """Hosts that were not come to are named and counted."""
    fleet = Fleet("a1", "a2")
    fleet.said("", "a1")
    fleet.ended("a2", "interrupted", message="interrupted", phase=Phase.WAITING)
    assert "a2  not started\n\n" in fleet.text()
    expect_text(fleet.text())


def test_what_printed_nothing_is_one_line() -> None:
    """There is no room for what was not said."""
    fleet = Fleet("a1")
    fleet.said("", "a1")
    assert fleet.text().splitlines()[:2] == ["a1  exit code 0", ""]


def test_a_command_that_did_not_start_says_why() -> None:
    """Without an exit code the reason stands in its place, and the host is counted as failed."""
    fleet = Fleet("a1")
    event = make_event(name="x", type="exec", status="failed", error=["there is no program"])
    fleet.answers.handle(run_events.ResourceEvent("a1", event, json.dumps(event)))
    fleet.ended("a1", "failed")
    expect_text(fleet.text())
    assert "1: 1 failed" in fleet.text()


def test_a_reason_is_one_line() -> None:
    """A host cannot write what looks like the answer of another host."""
    fleet = Fleet("a1")
    error = ["no\n\nb2  exit code 0\n    fine" + "x" * 5_000]
    event = make_event(name="x", type="exec", status="failed", error=error)
    fleet.answers.handle(run_events.ResourceEvent("a1", event, json.dumps(event)))
    fleet.ended("a1", "failed")
    first, *others = fleet.text().splitlines()
    assert first.startswith("a1  no b2 exit code 0 finexx")
    assert len(first) < 1_010
    assert not any("b2" in line for line in others)


def test_the_same_answer_is_held_once() -> None:
    """What all hosts say counts once against the bound, beyond which answers are left out."""
    hosts = [f"h{number}" for number in range(100)]
    fleet = Fleet(*hosts, maximum=1000)
    fleet.said("x" * 600 + "\n", *hosts[:98])
    fleet.said("y" * 600 + "\n", *hosts[98:])
    text = fleet.text()
    assert "x" * 600 in text
    assert "y" * 600 not in text
    assert LEFT_OUT.strip() in text
