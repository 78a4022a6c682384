"""The summary of a fleet: what happened most comes first, and all of it fits on a screen."""

import io
from typing import Any

import pytest

from orchestrator.fleet.host.phases import Phase
from orchestrator.report.terminal.summary import MAX_LINES
from tests.orchestrator.report.told import CREATED, DIFF, Told, changed
from tests.texts import expect_text

WIDTHS = (80, 100, 200)


def fleet(noop: bool, diff: str = DIFF) -> Told:
    """500 hosts, of which 480 are alike and 20 fail or differ in six ways."""
    hosts = [f"web{number}" for number in range(1, 501)]
    told = Told(*hosts, noop=noop)
    for number, host in enumerate(hosts, 1):
        if number > 494:
            told.end(host, "unreachable", message=f"{host} (192.0.2.{number % 250}:22) is silent")
            continue
        told.event(host, noop=noop, **changed("/etc/motd", diff))
        for at in range(8):
            told.event(host, noop=noop, **changed(f"/etc/app/{at}.conf", diff))
        if number > 488:
            reason = f"exited with status 3 after {number / 7} s"
            told.event(host, "step", "failed", type="exec", noop=noop, error=[reason])
        elif number > 480:
            told.event(host, noop=noop, **changed(f"/etc/other/{number % 4}", diff))
        if number > 491:
            told.event(host, "/late", "skipped", unmet_requirements=["exec#step"])
        told.end(host, "failed" if number > 488 else "ok")
    return told


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("noop", [True, False])
def test_a_fleet_fits_on_forty_lines(width: int, noop: bool) -> None:
    """500 hosts, 480 of them alike, are 40 lines with diffs or without, none too wide."""
    for diff in (DIFF, DIFF + "+more\n" * 300):
        lines = fleet(noop, diff).summary(width=width).splitlines()
        assert len(lines) <= MAX_LINES
        assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "web[1-488] (488 hosts)" in text
    assert "Hosts      500: 6 failed, 6 unreachable, 488" in text


def test_what_happened_most_comes_first() -> None:
    """Failures are told once with all of their hosts, then what hosts came to, then each change
    once."""
    lines = fleet(noop=True).summary(width=100).splitlines()
    assert lines[1:9] == [
        "exec#step failed on 6 hosts: web[489-494]",
        "    web489 │ exited with status 3 after 69.85714285714286 s",
        "    others: 70.[0,14285714285714,28571428571429,42857142857143,571428571… (6 texts; -v "
        "shows all)",
        "    → select these hosts with: -l 'web[489-494]'",
        "6 hosts unreachable: web[495-500]",
        "    web495 │ web495 (192.0.2.245:22) is silent",
        "    others: 192.0.2.[0,246-249]:22 (6 texts; -v shows all)",
        "    → select these hosts with: -l 'web[495-500]'",
    ]
    expect_text(lines[9])
    assert lines[11:14] == [
        "web[489-494] (6 hosts)  1 failed, 9 would change, 0-1 skipped",
        "web[495-500] (6 hosts)  unreachable",
        "web[1-488] (488 hosts)  9-10 would change",
    ]
    expect_text(lines[16])
    assert "    would    file#/etc/other/1  change content, on web[481,485] (2 hosts)" in lines


def test_a_failure_in_two_groups_is_told_once() -> None:
    """Also among few hosts it stands before them, where they differ in something else."""
    told = Told("a", "b", "c")
    for at, host in enumerate(("a", "b", "c")):
        told.event(host, **changed(f"/etc/{at}"))
        told.event(host, "step", "failed", type="exec", error=["exit code 1", f"no db{at}"])
        told.end(host, "failed")
    text = told.summary()
    assert text.splitlines()[1:6] == [
        "exec#step failed on 3 hosts: a, b, c",
        "    a │ exit code 1",
        "      │ no db0",
        "    others: db[1-2] (3 texts; -v shows all)",
        "    → select these hosts with: -l a,b,c",
    ]
    assert text.count("→ select these hosts with") == 1
    assert "changed  file#/etc/1" in text


def test_hosts_without_a_turn_are_no_failures() -> None:
    """They stand behind the failures, by why the run did not come to them."""
    hosts = [f"web{number}" for number in range(1, 21)]
    told = Told(*hosts)
    told.event("web1", "step", "failed", type="exec", error=["exit code 1"])
    told.end("web1", "failed")
    told.end("web2")
    for host in hosts[2:]:
        told.end(
            host, "held", kind="rollout.held", message="the budget is spent", phase=Phase.WAITING
        )
    lines = told.summary().splitlines()
    assert lines[1:3] == ["exec#step failed on web1", "    │ exit code 1"]
    expect_text(lines[3])


def test_hosts_of_one_group_are_picked_by_it() -> None:
    """Hosts that failed alike are followed by how to go on with them; one host needs none."""
    told = Told("a", "b", "c")
    for host in ("a", "b"):
        told.event(host, "step", "failed", type="exec", error=["exit code 1"])
        told.end(host, "failed")
    told.end("c", "unreachable", message="c is silent")
    lines = told.summary().splitlines()
    expect_text(lines[1])
    assert "a, b (2 hosts)  1 failed" in lines
    assert [line for line in lines if "→ select" in line] == [
        "    → select these hosts with: -l a,b"
    ]


def test_few_hosts_are_told_one_by_one() -> None:
    """Up to ten hosts are shown whole, with no pivot before them."""
    told = Told("a", "b", "c")
    for at, host in enumerate(("a", "b", "c")):
        told.event(host, **changed(f"/etc/{at}"))
        told.end(host)
    assert "changed on 1 host" not in told.summary()


def test_everything_is_everything() -> None:
    """With -v nothing is left out, however many lines that makes."""
    lines = fleet(noop=True).summary(everything=True).splitlines()
    assert len(lines) > MAX_LINES
    assert not any("… " in line for line in lines)


def of_child(manifest: str, **members: Any) -> dict[str, Any]:
    return {"manifest": manifest, **members}


def test_an_applied_manifest_is_a_heading() -> None:
    """Its resources stand below its name, and what applies it is not told beside them."""
    told = Told("h1")
    told.event("h1", **changed("/etc/first"))
    told.event("h1", **of_child("roles/x/site.yaml"), **changed("/etc/x"))
    told.event("h1", "/etc/y", "failed", error=["no"], manifest="roles/x/site.yaml")
    told.event("h1", "roles/x/site.yaml", "failed", type="apply", error=["1 of 2 resources failed"])
    told.end("h1", "failed")
    lines = [line.rstrip() for line in told.summary().splitlines()]
    assert lines[2:8] == [
        "    in roles/x/site.yaml: 1 of 2 resources failed",
        "    failed   file#/etc/y",
        "        no",
        "    changed  file#/etc/x  content",
        "    in the manifest itself",
        "    changed  file#/etc/first  content",
    ]


def test_an_apply_that_failed_by_itself_is_told() -> None:
    """A child manifest that could not be read has no resources to tell it."""
    told = Told("h1")
    told.event("h1", "roles/x.yaml", "failed", type="apply", error=["there is no such file"])
    told.end("h1", "failed")
    assert "failed   apply#roles/x.yaml" in told.summary()


def test_a_longer_name_and_own_values_part_no_hosts() -> None:
    """www.NAME, an address and a hash of its own are no other change."""
    told = Told("web1", "web2", noop=True)
    for number in (1, 2):
        diff = DIFF.replace(
            "new", f"server www.web{number}.org 192.0.2.{number} {number}{'a' * 15}"
        )
        told.event(f"web{number}", noop=True, **changed("/etc/x", diff))
        told.end(f"web{number}")
    text = told.summary()
    expect_text(text)
    assert "server www.web2" not in text


def test_what_is_created_is_told_so() -> None:
    """A preview speaks of the records of changes, not of what the event's message says."""
    told = Told("h1", noop=True)
    words = "Would have created the file"
    told.event("h1", "/a", "changed", noop=True, changes=[CREATED], noop_message=words)
    change = {"what": "content", "from": "a" * 64, "to": "b" * 64}
    told.event("h1", "/b", "changed", noop=True, changes=[change], noop_message=words)
    told.end("h1")
    out = io.StringIO(told.summary(diffs=False))
    lines = [line.strip() for line in out]
    expect_text(lines)
