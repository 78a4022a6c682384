"""Hosts that failed for one reason stand together, and no reason hides another."""

from typing import Any

import pytest

from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.report.failures import (
    MAX_FAILURES,
    MAX_MANIFESTS,
    MAX_PER_HOST,
    MAX_REASON_LENGTH,
    Failures,
    SharedFailure,
)
from orchestrator.report.run_collector import MAX_SHORT, Entries, entry_of
from tests.orchestrator.fleet.fakes import make_event
from tests.texts import expect_text


class Run:
    """A run of which failures are told."""

    def __init__(self, *hosts: str) -> None:
        self.found = Failures(hosts)

    def failed(self, host: str, *error: str, name: str = "migrate", **members: Any) -> None:
        members = {"status": "failed", "type": "exec", "error": list(error), **members}
        self.found.add(host, entry_of(make_event(name=name, **members)))

    def end(self, host: str, outcome: str = "failed", **members: Any) -> None:
        self.found.end(HostResult(host, Tally(), outcome, **members))

    def told(self) -> list[SharedFailure]:
        return self.found.all()


def together(*texts: str) -> list[list[str]]:
    """The hosts h0, h1... by what they printed before they failed."""
    run = Run()
    for number, text in enumerate(texts):
        run.failed(f"h{number}", "exit code 1, expected 0", text, exit_code=1)
    return [one.hosts for one in run.told()]


@pytest.mark.parametrize(
    "texts",
    [
        ("could not connect to db1", "could not connect to db2:"[:-1]),
        ("h0: gone", "h1: gone"),
        ("no space left on /srv/a/1", "no space left on /srv/b"),
        ("2026-03-14T09:15:02Z lost", "2026-03-15T10:00:00Z lost"),
        ("pid 7 ended", "pid 12345 ended"),
        ("took 0.3 s", "took 17.25 s"),
        ("GET https://a.example/x?y=1 failed", "GET https://b.example/ failed"),
        ("key SHA256:" + "aB+/" * 10 + "xyz1", "key SHA256:" + "Cd+/" * 10 + "xyz2"),
        ("[11:02:03] stop", "[11:02:04] stop"),
        ("first\nretry 1\nretry 2\ndown", "retry 3\nretry 4\ndown"),
    ],
)
def test_what_varies_parts_nobody(texts: tuple[str, str]) -> None:
    """Names, numbers, paths and times are set aside; so is all but the last lines."""
    assert together(*texts) == [["h0", "h1"]]


@pytest.mark.parametrize(
    "texts",
    [
        ("permission denied", "no space left on device"),
        ("could not connect to db1", "could not connect to db1 any more"),
        ("x\0y", "x12y"),
        ("a # b", "a ## b"),
        ("", "gone"),
    ],
)
def test_other_words_are_other_reasons(texts: tuple[str, str]) -> None:
    """Two reasons that differ in a word are two, whatever stands for what varies."""
    assert together(*texts) == [["h0"], ["h1"]]


def test_a_status_is_a_reason() -> None:
    """Exit codes, signals and answers of HTTP part hosts, by the event's member and by words."""
    run = Run()
    run.failed("a", "desired state not achieved", exit_code=1)
    run.failed("b", "desired state not achieved", exit_code=127)
    run.failed("c", "killed by signal 9, expected exit code 0")
    run.failed("d", "killed by signal 11, expected exit code 0")
    run.failed("e", "the server answered 404")
    run.failed("f", "the server answered 503")
    assert [one.hosts for one in run.told()] == [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]


def test_one_host_speaks_and_how_others_differ_is_told() -> None:
    """The first host's words stand as they are, beside what others have in their places."""
    run = Run()
    for host, database in (("a", "db1"), ("b", "db2"), ("c", "db2"), ("d", "db3")):
        run.failed(host, "exit code 1", f"{host} to {database}: lost", exit_code=1)
    (one,) = run.told()
    assert (one.host, one.errors) == ("a", ("exit code 1", "a to db1: lost"))
    assert (one.hosts, one.texts, one.others) == (["a", "b", "c", "d"], 3, [["db2", "db3"]])
    expect_text(one.reason)


def test_names_of_the_run_are_names() -> None:
    """A host that cannot be reached from others is not another reason for each of them."""
    run = Run("alpha", "beta", "gamma")
    run.failed("alpha", "cannot reach beta")
    run.failed("beta", "cannot reach gamma")
    (one,) = run.told()
    assert one.others == [["gamma"]]


def test_resources_that_failed_alike_are_one() -> None:
    """A full disk fails many resources: on the same hosts for one reason they stand together."""
    run = Run()
    for host in ("a", "b"):
        for name in ("/x/1", "/y/2", "/z"):
            run.failed(host, f"{name}: No space left on device", name=name, type="file")
    run.failed("c", "/x/1: No space left on device", name="/x/1", type="file")
    first, second = run.told()
    assert (first.resources, first.hosts) == (["file#/x/1"], ["a", "b", "c"])
    assert (second.resources, second.hosts) == (["file#/y/2", "file#/z"], ["a", "b"])


def test_a_resource_keeps_its_name() -> None:
    """Only where the names differ does a placeholder stand for the names of hosts."""
    run = Run("web1", "web2")
    run.failed("web1", "gone", name="/srv/web1")
    assert [one.resources for one in run.told()] == [["exec#/srv/web1"]]
    run.failed("web1", "lost", name="/srv/web1")
    run.failed("web2", "lost", name="/srv/web1")
    run.failed("web2", "gone", name="/srv/web2")
    names = [one.resources for one in run.told()]
    assert names == [["exec#/srv/{host}"], ["exec#/srv/web1"], ["exec#/srv/web1"]]


def test_the_largest_comes_first_and_a_host_stands_in_all_of_its_own() -> None:
    """Failures are by their hosts; a host with several of them is in each."""
    run = Run()
    run.failed("a", "odd", name="one")
    for host in ("a", "b", "c"):
        run.failed(host, "common", name="two")
    assert [one.hosts for one in run.told()] == [["a", "b", "c"], ["a"]]
    assert [one.hosts for one in run.found.largest(1)] == [["a", "b", "c"]]


def test_what_applies_a_manifest_is_told_by_its_resources() -> None:
    """An apply that failed through its resources is none of its own, in any depth."""
    run = Run()
    run.failed("a", "no", name="/x", type="file", manifest="roles/b.yaml")
    run.failed("a", "1 failed", name="roles/b.yaml", type="apply", manifest="")
    run.failed("b", "there is no such file", name="roles/c.yaml", type="apply", manifest="")
    assert [one.resources for one in run.told()] == [["file#/x"], ["apply#roles/c.yaml"]]


def test_hosts_stand_together_by_cause() -> None:
    """Kind and words part hosts that were not reached; their addresses do not."""
    run = Run()
    for number in range(1, 5):
        kind = "transport.refused" if number < 4 else "transport.key"
        message = f"h{number} (192.0.2.{number}:22) is not there"
        run.end(f"h{number}", "unreachable", kind=kind, message=message, phase=Phase.CONNECTING)
    first, second = run.told()
    assert (first.outcome, first.kind, first.resources) == ("unreachable", "transport.refused", [])
    assert first.errors == ("while connecting: h1 (192.0.2.1:22) is not there",)
    assert (first.hosts, second.hosts) == (["h1", "h2", "h3"], ["h4"])


def test_no_host_is_hidden() -> None:
    """Each that failed, was refused, lost or cut stands in a failure, also without a reason."""
    run = Run()
    run.failed("a", "no")
    run.end("a")
    run.end("b")  # its record lacks the event
    run.end("c", "refused", kind="plan.refused.drift", message="it has drifted")
    run.end("d", "interrupted", phase=Phase.RUNNING)
    run.end("e", "interrupted", phase=Phase.WAITING)  # not started
    run.end("f", "ok")
    run.failed("g")
    run.end("g")
    found = {host: one for one in run.told() for host in one.hosts}
    assert sorted(found) == ["a", "b", "c", "d", "g"]
    assert found["b"].errors == ()
    assert found["b"].reason == found["g"].reason == "no reason given"


def test_what_was_skipped_behind_a_failure_is_counted() -> None:
    """It is no failure of its own."""
    run = Run()
    run.failed("a", "no")
    run.failed("a", status="skipped", name="late", unmet_requirements=["exec#migrate"])
    run.failed("a", status="skipped", name="unmanaged")
    assert (len(run.told()), run.found.skipped) == (1, 1)


def test_a_text_cannot_stand_for_another() -> None:
    """What begins with the words of a failure of others, or with what stands for a host, joins
    none."""
    run = Run()
    run.failed("a", "lost db1")
    run.failed("evil", "lost db1\nlost db2")
    run.failed("worse", "lost {host}")
    run.failed("b", "lost b")
    assert [one.hosts for one in run.told()] == [["a"], ["evil"], ["worse"], ["b"]]


def test_a_host_that_fails_in_every_way_hides_no_other() -> None:
    """Beyond what one host may begin its failures are counted as one; others keep theirs."""
    run = Run()
    for number in range(3 * MAX_FAILURES):
        run.failed("evil", "x" * number, name=f"n{number}")
    for host in ("a", "b"):
        run.failed(host, "could not connect to db1")
    found = run.told()
    assert found[0].hosts == ["a", "b"]
    assert len(found) == MAX_PER_HOST + 2
    assert found[-1].errors == ()


def test_a_host_that_names_a_manifest_for_each_resource() -> None:
    """No more of them are held than a site has, and of their texts no more than of all others."""
    run, entries = Run(), Entries(maximum=1000)
    for number in range(2 * MAX_MANIFESTS):
        run.failed("evil", "no", manifest=f"{number}/site.yaml")
    assert len(run.found._manifests["evil"]) == MAX_MANIFESTS
    kept = [entries.keep(entry_of(make_event(manifest=f"{n}" * 900))) for n in range(3)]
    assert [len(entry.manifest) for entry in kept] == [900, MAX_SHORT, MAX_SHORT]


def test_many_hosts_that_fail_in_every_way_hide_no_other() -> None:
    """Where there are very many failures each host may begin one more, so that each is in one."""
    run = Run()
    for number in range(MAX_FAILURES // MAX_PER_HOST + 5):
        for at in range(MAX_PER_HOST):
            run.failed(f"evil{number}", "y" * (number + 1), name="z" * (at + 1))
    for host in ("a", "b"):
        run.failed(host, "could not connect to db1")
        run.failed(host, "could not write", name="second")
    found = run.told()
    assert found[0].hosts == ["a", "b"]
    assert ["b"] in [one.hosts for one in found]
    assert found[-1].hosts == [
        f"evil{number}" for number in range(MAX_FAILURES // MAX_PER_HOST, 25)
    ] + ["a"]
    assert len(found) <= MAX_FAILURES + 10


@pytest.mark.parametrize(
    "text",
    ["1" * 65_536, "/" * 65_536, "a:" * 32_768, " 1" * 32_768, "SHA256:" * 9_000, "\n1" * 30_000],
)
def test_hostile_texts_cost_little(text: str) -> None:
    """64 kB of anything are looked at in part, in time that grows with their length only:
    a pattern that does not would take minutes."""
    run = Run()
    for number in range(200):
        run.failed(f"h{number}", text, text)
    (one,) = run.told()
    assert sum(map(len, one.errors)) < 3 * MAX_REASON_LENGTH
