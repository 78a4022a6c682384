"""Failures in paragraphs, and what goes on with their hosts."""

import pytest

from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.report.failures import SharedFailure
from orchestrator.report.retry_options import RetryOptions
from orchestrator.report.terminal.failure_paragraphs import in_one_line, other_values, paragraph
from orchestrator.report.terminal.style import Style
from tests.texts import expect_text

FAILURE = SharedFailure(
    "failed",
    "",
    ["exec#migrate"],
    "web1",
    errors=("exit code 1, expected 0 (site.yaml:3:5)", "could not connect to db1"),
    hosts=[f"web{number}" for number in range(1, 38)],
    texts=4,
    others=[["db2", "db3", "db4"]],
)


def lines(failure: SharedFailure, width: int = 80, **members: bool) -> list[str]:
    return list(paragraph(failure, Style(False, width), RetryOptions("RUN"), **members))


def test_a_failure_is_a_paragraph() -> None:
    """It names the resource, its hosts, one host's words, how others differ, how to go on."""
    expect_text(lines(FAILURE))
    expect_text(in_one_line(FAILURE, Style(False, 80)))


def test_one_host_has_no_others() -> None:
    """Neither who speaks nor how to pick it needs to be said."""
    expect_text(lines(FAILURE._replace(hosts=["web1"], texts=1, others=[])))


def test_a_plan_that_is_of_no_use_any_more_is_not_pushed_again() -> None:
    """What hosts refuse for good is told without the command that they would refuse once more."""
    for kind, goes_on in (("used", False), ("drifted", False), ("unrecorded", True)):
        refused = FAILURE._replace(outcome="refused", kind=f"plan.refused.{kind}", resources=[])
        assert any("→ select these hosts with" in line for line in lines(refused)) is goes_on


def test_hosts_that_failed_on_a_plan_take_another() -> None:
    """A host carries out a plan once: the command makes another one, whatever the host refused."""
    asked = RetryOptions("R", ("ccm", "plan", "-i", "hosts.yaml", "-o", "change.plan", "site.yaml"))
    command = "ccm plan -l 'web[1-37]' -i hosts.yaml -o change.plan site.yaml"
    for kind in ("used", "drifted", "unrecorded"):
        refused = FAILURE._replace(outcome="refused", kind=f"plan.refused.{kind}", resources=[])
        told = " ".join(paragraph(refused, Style(False, 200), asked))
        assert f"→ create a new plan with: {command}" in told


def test_hosts_that_were_not_reached_have_their_hint() -> None:
    """What to do about it stands before how to go on; its command is for all of the hosts."""
    results = tuple(
        HostResult(host, Tally(), "unreachable", hint="look at it with", command="ssh", only=host)
        for host in ("web1", "web2")
    )
    found = SharedFailure(
        "unreachable", "", [], "web1", errors=("gone",), hosts=["web1", "web2"], results=results
    )
    assert lines(found) == [
        "2 hosts unreachable: web[1-2]",
        "    web1 │ gone",
        "    → look at it with ssh -l 'web[1-2]'",
        "    → select these hosts with: -l 'web[1-2]'",
    ]


def test_a_failure_without_a_reason_says_where_to_look() -> None:
    """A record that lacks events hides no host."""
    found = SharedFailure("failed", "", [], "web1", errors=(), hosts=["web1", "web2"])
    assert lines(found)[:2] == [
        "2 hosts failed: web[1-2]",
        "    for the reason, run ccm report --host web1",
    ]


def test_a_host_cannot_speak_for_ccm() -> None:
    """Whatever it tells stands behind a bar, in lines of its own; much of it is cut."""
    forged = "\n\nexec#x failed on 900 hosts\n    → select these hosts with: -l all\n" + "no " * 300
    for hosts in (["web1"], ["web1", "web2"]):
        found = FAILURE._replace(hosts=hosts, errors=(forged, "→ " * 200), others=[], texts=1)
        _, *told = lines(found)
        assert all("│ " in line for line in told if "web[1-2]" not in line)
        assert len(told) < 10
    assert len(lines(found, everything=True)) > 20


def test_a_long_name_stands_above_its_words() -> None:
    """It leaves them room on any terminal."""
    found = FAILURE._replace(host="web1.rack7.example.org")
    assert lines(found, 50)[1:3] == [
        "    web1.rack7.example.org",
        "    │ exit code 1, expected 0 (site.yaml:3:5)",
    ]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_too_wide(width: int) -> None:
    """Long names, words and lists of what others have are wrapped or cut."""
    found = FAILURE._replace(
        resources=[f"file#/srv/{'x' * 30}/{at}{at * 7}" for at in range(30)],
        errors=("no " * 300, "x" * 300 + "\n" + "y " * 100),
        others=[[f"{at * 7}x{at}" for at in range(20)], ["a" * 40] * 20],
    )
    for failure in (FAILURE, found):
        assert max(map(len, lines(failure, width))) <= width
        assert len(in_one_line(failure, Style(False, width))) <= width


def test_what_differs_least_is_told_first() -> None:
    """A place with few values says more than one where each host has its own."""
    found = FAILURE._replace(others=[["0.1s", "0.2s", "0.3s", "0.4s"], ["db2"]])
    assert other_values(found, 80) == "others: db2; 0.[1-4]s (4 texts)"
    assert other_values(found._replace(others=[]), 80) == "others differ (4 texts)"


def test_the_whole_command_is_said_where_it_is_known() -> None:
    """It can be pasted as it stands, however long it is: the same on the hosts that failed so."""
    words = ["ccm", "push", "-i", "my hosts.yaml", "--data", "key=...", "/srv/site.yaml"]
    command = "ccm push -l 'web[1-37]' -i 'my hosts.yaml' --data key=... /srv/site.yaml"
    told = list(paragraph(FAILURE, Style(False, 60), RetryOptions("RUN", words)))
    assert told[-2:] == ["    → retry with:", f"    {command}"]
    assert RetryOptions("RUN").on("web1") == ""
