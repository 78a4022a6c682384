"""Each change of a run once, with its hosts."""

import pytest

from orchestrator.report.grouping import applied_by
from orchestrator.report.run_collector import Entry
from orchestrator.report.terminal.summary import MAX_LINES
from tests.orchestrator.report.told import DIFF, Told, changed
from tests.texts import expect_text

ROLES = {"web1": "web", "web2": "web", "app1": "app", "db1": "db", "db2": "db", "mon1": "mon"}
COMMON = 34


def site(hosts: dict[str, str], common: int = COMMON) -> Told:
    """Hosts of several roles that have a base role in common."""
    told = Told(*hosts, noop=True)
    for host, role in hosts.items():
        for at in range(common):
            path = f"/etc/base/{at}"
            told.event(host, noop=True, manifest="base.yaml", **changed(path, DIFF))
        own = changed(f"/etc/{role}.conf", DIFF)
        told.event(host, noop=True, manifest=f"{role}.yaml", **own)
        told.end(host)
    return told


def test_a_change_is_shown_once_with_its_hosts() -> None:
    """Hosts of different roles show the changes of their common role once, not once per role."""
    text = site(ROLES).summary()
    for at in range(COMMON):
        assert text.count(f"would    file#/etc/base/{at}  change, on all 6 hosts\n") == 1
    assert "would    file#/etc/web.conf  change, on web[1-2] (2 hosts)\n" in text
    assert "would    file#/etc/mon.conf  change, on mon1\n" in text
    assert text.count("    in base.yaml\n") == 1


@pytest.mark.parametrize("width", [80, 200])
def test_a_cut_hides_nothing_of_few_hosts(width: int) -> None:
    """Where there are more changes than lines, what few hosts have is shown, and what most hosts
    have in common is cut."""
    fleet = {f"web{number}": "web" for number in range(1, 21)} | {"db1": "db"}
    lines = site(fleet).summary(width=width).splitlines()
    assert len(lines) <= MAX_LINES
    text = "\n".join(lines)
    assert "file#/etc/db.conf  change content, on db1" in text
    assert "more changes, on all 21 hosts: -v shows all" in text
    everything = site(fleet).summary(width=width, everything=True)
    assert f"file#/etc/base/{COMMON - 1}" in everything
    assert "shows all" not in everything


def test_a_host_stands_in_each_of_its_failures() -> None:
    """Failures come first, each with all of its hosts; a host with two failures is in both."""
    told = Told("a", "b", "c")
    for host in ("a", "b"):
        told.event(host, "/one", "failed", error=["no space left"])
    for host in ("b", "c"):
        told.event(host, "/two", "failed", error=["permission denied"])
    for host in ("a", "b", "c"):
        told.event(host, **changed("/etc/motd"))
        told.end(host, "failed")
    lines = told.summary().splitlines()
    expect_text(lines[1])
    expect_text(lines)


def test_of_many_variants_the_rarest_are_shown() -> None:
    """Of a change that differs between hosts the largest variant is shown and those of the fewest
    hosts; the hosts of the others are named."""
    told = Told(*(f"h{number}" for number in range(1, 11)), noop=True)
    for number in range(1, 11):
        more = {1: "+x\n", 2: "+y\n", 3: "+z\n", 4: "+z\n"}.get(number, "")
        told.event(f"h{number}", noop=True, **changed("/etc/motd", DIFF + more))
        told.end(f"h{number}")
    text = told.summary()
    assert "on h[5-10] (6 hosts):" in text
    assert "+x" in text
    assert "+y" in text
    expect_text(text)


@pytest.mark.parametrize("width", [80, 200])
def test_no_remark_is_wider_than_the_terminal(width: int) -> None:
    """What stands for other hosts and the slowest hosts are wrapped, however long the names."""
    names = [f"a-host-with-a-name-{n}.example.net" for n in range(1, 13)]
    told = Told(*names, noop=True)
    for n, name in enumerate(names):
        diff = DIFF.replace("new", f"listen {n} for {name}")
        told.event(name, noop=True, **changed("/etc/app.conf", diff))
        told.end(name)
    lines = told.summary(width=width).splitlines()
    assert any("and different on" in line for line in lines), lines
    assert any("slowest: a-host" in line for line in lines), lines
    assert [line for line in lines if len(line) > width] == []


@pytest.mark.parametrize(
    ("resource", "within", "applied"),
    [
        ("apply#blog", "", "blog"),
        ("apply#roles/web.yaml", "", "roles/web.yaml"),
        ("apply#more.yaml", "roles/web.yaml", "roles/more.yaml"),
        ("service#blog", "", ""),
    ],
)
def test_what_an_apply_stands_for(resource: str, within: str, applied: str) -> None:
    """Its path or its own name; a resource of another type with such a name stands for itself."""
    entry = Entry(
        resource=resource, status="failed", message="", uncertainty="", errors=("no",), unmet=(),
        health=(), changes=(), manifest=within,
    )  # fmt: skip
    assert applied_by(entry) == applied
