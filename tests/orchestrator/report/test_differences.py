"""What differs between two runs."""

from typing import Any

from orchestrator.report.differences import FIRST, SECOND, Difference, Differences, group_hosts
from tests.orchestrator.report.runs import Kept, mixed_run

ONE, TWO = "20260921T133640Z-aaaaaa", "20260922T133640Z-bbbbbb"
CHANGE = [{"what": "mode", "from": "0600", "to": "0644"}]


def compared(one: Kept, two: Kept, **outcomes: Any) -> Differences:
    return Differences(one.end(), two.end(**outcomes))


def test_a_run_does_not_differ_from_itself() -> None:
    """Nothing is told of hosts and resources that are the same."""
    kept = mixed_run()
    differences = Differences(kept, kept)
    assert [differences.of(host) for host in differences.hosts] == [[]] * 8


def test_a_push_that_did_as_previewed_does_not_differ() -> None:
    """A preview and its push are compared by what changes, not by whether it was done."""
    one, two = Kept("web1", run_id=ONE, noop=True), Kept("web1", run_id=TWO)
    message: dict[str, Any] = {"noop": True, "noop_message": "Would have updated attributes"}
    one.event("web1", "/etc/x", "changed", changes=CHANGE, prediction="certain", **message)
    two.event("web1", "/etc/x", "changed", changes=CHANGE)
    assert compared(one, two).of("web1") == []


def test_outcomes_changes_and_desired_values_that_differ_are_told() -> None:
    """Each thing is named with what it was in both runs."""
    one, two = Kept("web1", run_id=ONE), Kept("web1", run_id=TWO)
    one.event("web1", "/etc/a", "changed", changes=CHANGE)
    two.event("web1", "/etc/a", "failed", error=["no space left"])
    one.event("web1", "/etc/b", "changed", changes=CHANGE)
    two.event("web1", "/etc/b", "changed", changes=[{**CHANGE[0], "to": "0640"}])
    one.event("web1", "/etc/c", properties={"mode": "0644"})
    two.event("web1", "/etc/c", properties={"mode": "0600"})
    assert compared(one, two).of("web1") == [
        Difference("file#/etc/a", "outcome", "changed", "failed"),
        Difference("file#/etc/b", "mode", "0600 → 0644", "0600 → 0640"),
        Difference("file#/etc/c", "desired mode", "0644", "0600"),
    ]


def test_hosts_and_resources_of_one_run_only_are_told() -> None:
    """What came and what went."""
    one, two = Kept("web1", "web2", run_id=ONE), Kept("web2", "web3", run_id=TWO)
    one.event("web2", "/etc/old")
    two.event("web2", "/etc/new", "changed")
    found = compared(one, two)
    assert found.of("web1") == [Difference("", FIRST, "", "")]
    assert found.of("web3") == [Difference("", SECOND, "", "")]
    assert found.of("web2") == [
        Difference("file#/etc/old", FIRST, "stable", ""),
        Difference("file#/etc/new", SECOND, "", "changed"),
    ]


def test_a_host_that_is_gone_in_one_run_is_told() -> None:
    """A host that was reached once and not the other time differs."""
    gone = {"outcome": "unreachable", "message": "no answer"}
    one = Kept("web1", run_id=ONE)
    one.event("web1", "/etc/x")  # not told: it is not there because the host is not
    found = compared(one, Kept("web1", run_id=TWO), web1=gone)
    assert found.of("web1") == [Difference("", "outcome", "completed", "unreachable: no answer")]


def test_hosts_with_the_same_differences_stand_together() -> None:
    """Their own names in what differs do not keep hosts apart; the most hosts come first."""
    same = {host: [Difference("file#/x", "error", "", f"{host} is full")] for host in ("a1", "b2")}
    other = [Difference("file#/y", "outcome", "stable", "failed")]
    grouped = group_hosts({"c": other, **same, "d": []})
    assert [hosts for hosts, _ in grouped] == [["a1", "b2"], ["c"]]
    assert [differences[0].after for _, differences in grouped] == ["{host} is full", "failed"]


def test_hashes_of_contents_do_not_keep_hosts_apart() -> None:
    """A file that has each host's name in it differs in the same way everywhere."""
    found = {
        host: [Difference("file#/x", "content", "", f"sha256:{digit * 64}")]
        for host, digit in (("a1", "a"), ("a2", "b"))
    }
    assert [hosts for hosts, _ in group_hosts(found)] == [["a1", "a2"]]
