"""The summary of a preview: what is dangerous, and what a push would do."""

from orchestrator.report.terminal.summary import MAX_LINES
from tests.orchestrator.report.told import CREATED, Told
from tests.texts import expect_text

GONE = {"what": "ensure", "from": "present", "to": "absent"}


def test_a_preview_tells_what_is_dangerous_above_its_totals() -> None:
    """Removals have their list with hosts there; in a quiet preview and in a push there is none."""
    told = Told("web1", "web2", noop=True)
    for host in ("web1", "web2"):
        told.event(host, "/etc/old", "changed", noop=True, changes=[GONE], prediction="certain")
        told.end(host)
    text = told.summary()
    where = text.index(
        "\nDangerous: 2 removals\n    remove          file#/etc/old  on both hosts\n"
    )
    assert text.index("would    file#/etc/old") < where < text.index("\nHosts ")
    assert "Dangerous" not in told.summary(quiet=True)
    push = Told("web1")
    push.event("web1", "/etc/old", "changed", changes=[GONE])
    push.end("web1")
    assert "Dangerous" not in push.summary()


def test_the_list_of_dangers_keeps_a_summary_of_many_hosts_bounded() -> None:
    """Changes have the room that it leaves."""
    hosts = [f"web{number}" for number in range(1, 12)]
    told = Told(*hosts, noop=True)
    for host in hosts:
        for number in range(30):
            name = f"/etc/{number}/{'x' * (number % 7)}"
            told.event(host, name, "changed", noop=True, changes=[GONE], prediction="certain")
        told.end(host)
    told.event("web11", "/etc/own", "changed", noop=True, changes=[GONE], prediction="certain")
    lines = told.summary().splitlines()
    assert "Dangerous: 331 removals" in lines
    assert len(lines) <= MAX_LINES + 2


def test_a_preview_without_dangers_has_no_list() -> None:
    """What cannot be predicted stands with its resource."""
    told = Told("web1", noop=True)
    told.event("web1", "/x", "changed", noop=True, prediction="unknown", prediction_reason="why")
    told.end("web1")
    assert "Dangerous" not in told.summary()


def test_operations_are_shown_with_everything_only() -> None:
    """Hosts with the same operations stand together; others have theirs below their name."""
    for verbose in (False, True):
        told = Told("web1", "web2", "web3", noop=True, verbose=verbose)
        for host in ("web1", "web2", "web3"):
            home = "/home/other" if host == "web3" else "/home/bob"
            operations = [
                {"kind": "user", "name": "bob", "state": "present"},
                {"kind": "path", "name": home, "state": "directory"},
            ]
            change = {"what": "ensure", "from": "absent", "to": "present"}
            told.event(host, "bob", "changed", noop=True, changes=[change], operations=operations)
            told.end(host)
        text = told.summary(everything=verbose)
        same = (
            "on web[1-2] (2 hosts):\n        operations: create or change user bob, "
            "write directory /home/bob"
        )
        assert (same in text) is verbose, text
        assert (
            "operations: create or change user bob, write directory /home/other" in text
        ) is verbose
        assert ("operations" in text) is verbose


def test_operations_that_differ_in_the_name_of_the_host_stand_together() -> None:
    """They are shown for one host."""
    told = Told("web1", "web2", noop=True, verbose=True)
    for host in ("web1", "web2"):
        path = f"/srv/{host}"
        operations = [{"kind": "path", "name": path, "state": "file"}]
        told.event(host, path, "changed", noop=True, changes=[CREATED], operations=operations)
        told.end(host)
    text = told.summary(everything=True)
    assert text.count("operations: ") == 1
    expect_text(text)


def test_names_in_operations_are_harmless() -> None:
    """They stay in their line, whatever their path holds."""
    told = Told("web1", noop=True, verbose=True)
    operations = [{"kind": "path", "name": "/x\n    failed   file#/y", "state": "file"}]
    told.event("web1", "/x", "changed", noop=True, changes=[CREATED], operations=operations)
    told.end("web1")
    assert "operations: write file /x failed file#/y\n" in told.summary(everything=True)


def test_an_uncertain_resource_without_a_change() -> None:
    """The totals count it, and -v shows it with the reason."""
    for verbose in (False, True):
        told = Told("web1", noop=True, verbose=verbose)
        told.event("web1", "/sure", noop=True, prediction="certain")
        told.event("web1", "/x", noop=True, prediction="unknown", prediction_reason="why")
        told.end("web1")
        text = told.summary(everything=verbose)
        assert "2 unchanged; 1 unknown" in text
        assert ("unknown  file#/x  (why)" in text) is verbose
        assert "file#/sure" not in text
