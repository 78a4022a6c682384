"""Patterns."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from inventory import Inventory
from orchestrator.report.host_names import fold
from remote_runtime.errors import InputError
from tests.texts import expect_text

from .conftest import Loader

FLEET = """\
hosts: [db1, "2001:db8::1"]
groups:
  web: {hosts: [web1, web2, web3], children: [edge]}
  edge: {hosts: [edge1]}
  prod: {hosts: [web1, web3, db1]}
  empty: {}
"""


@pytest.fixture
def fleet(loaded: Loader) -> Inventory:
    return loaded(FLEET)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (None, "db1 2001:db8::1 web1 web2 web3 edge1"),
        ("all", "db1 2001:db8::1 web1 web2 web3 edge1"),
        ("web", "web1 web2 web3 edge1"),
        ("web:&prod:!web3", "web1"),
        ("!web3:&prod:web", "web1"),
        ("web3,db1", "db1 web3"),
        (["web3", "db1"], "db1 web3"),
        ("web*", "web1 web2 web3 edge1"),
        ("web?:!edge", "web1 web2 web3"),
        ("w[ae]b1", "web1"),
        ("!web", "db1 2001:db8::1"),
        ("&prod:!db1", "web1 web3"),
        ("2001:db8::1", "2001:db8::1"),
        ("2001:db8::1,db1", "db1 2001:db8::1"),
        ("~(web|db)[12]", "db1 web1 web2"),
        ("prod:!empty", "db1 web1 web3"),
        (" web1 , db1 ", "db1 web1"),
    ],
)
def test_patterns_pick_in_the_inventorys_order(
    fleet: Inventory, pattern: str | list[str] | None, names: str
) -> None:
    """A pattern picks its hosts, always in the order of the inventory."""
    assert [host.name for host in fleet.select(pattern)] == names.split()


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("wbe1", "did you mean web1"),
        ("web:!prd", "did you mean prod"),
        ("web:&prd", "'&prd'"),
        ("nothing*", "'nothing*'"),
        ("empty", "has no hosts"),
        ("web1:!web1", "selects no host"),
        ("", "empty"),
        (",", "empty"),
        ("web:&", "incomplete"),
        ("~(", "invalid regular expression"),
    ],
)
def test_a_pattern_without_a_host_is_refused(fleet: Inventory, pattern: str, said: str) -> None:
    """A pattern that matches no host is an error that names it, a mistyped exclusion too."""
    with pytest.raises(InputError) as caught:
        fleet.select(pattern)
    assert caught.value.kind == "inventory.no_match"
    assert said in str(caught.value)


def test_every_bad_pattern_is_reported(fleet: Inventory) -> None:
    """All patterns that match nothing are in one report."""
    with pytest.raises(InputError) as caught:
        fleet.select("web9:nope:web1")
    assert len(caught.value.problems) == 2


def test_a_file_of_patterns(fleet: Inventory, tmp_path: Path) -> None:
    """``@FILE`` stands for what the patterns in its lines pick, also after ``!``."""
    path = tmp_path / "names"
    path.write_text("# the front\nweb1  # first\n\nprod:!db1\n")
    assert [host.name for host in fleet.select(f"@{path}")] == ["web1", "web3"]
    assert [host.name for host in fleet.select(f"web:!@{path}")] == ["web2", "edge1"]


def test_an_unknown_name_in_a_file_is_reported_with_its_line(
    fleet: Inventory, tmp_path: Path
) -> None:
    """A name that the inventory does not know is reported at its line of the file."""
    path = tmp_path / "names"
    path.write_text("web1\nweb9\n@other\n")
    with pytest.raises(InputError) as caught:
        fleet.select(f"@{path}")
    assert [p.where and p.where.line for p in caught.value.problems] == [2, 3]


def test_an_empty_or_missing_file_is_refused(fleet: Inventory, tmp_path: Path) -> None:
    """A file that names nobody never means everybody."""
    (tmp_path / "empty").write_text("# nobody\n")
    for name in ("empty", "missing"):
        with pytest.raises(InputError):
            fleet.select(f"@{tmp_path / name}")


class Runs:
    """Answers from a table by word and run."""

    last = "its last push of site.yaml"

    def __init__(self, **found: str) -> None:
        self._found = found

    def named(self, word: str, run_id: str, hosts: Collection[str]) -> list[str]:
        names = self._found[f"{word}_{run_id}" if run_id else word].split()
        return [name for name in names if name in hosts]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("failed:!db1", "web2"),
        ("remaining", "web3"),
        ("remaining,failed", "db1 web2 web3"),
        ("web:&run:2026:changed", "web1"),
        ("run:2026:changed:!db1", "web1"),
        ("web1 , run:2026:unreachable", "db1 web1"),
        ("web1:!run:2026:failed", "web1"),
    ],
)
def test_words_of_runs(fleet: Inventory, pattern: str, names: str) -> None:
    """``failed``, ``remaining`` and ``run:ID:WORD`` go with all other patterns."""
    runs = Runs(
        failed="web2 db1 gone", remaining="web3", changed_2026="web1 db1",
        unreachable_2026="db1", failed_2026="",
    )  # fmt: skip
    assert [host.name for host in fleet.select(pattern, runs)] == names.split()


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("failed", "no host of this inventory failed in its last push of site.yaml"),
        ("remaining", "no host of this inventory was left unstarted in its last push"),
        ("run:2026:changed", "no host of this inventory was changed in run 2026"),
        ("run", "'run' does not select hosts of a run"),
        ("run:2026", "write run:ID:failed|remaining|undone|unreachable|changed"),
        ("run:2026:fialed", "'run:2026:fialed' does not select hosts of a run"),
        ("run::failed", "'run::failed' does not select hosts of a run"),
    ],
)
def test_words_of_runs_without_a_host(fleet: Inventory, pattern: str, said: str) -> None:
    """No host, no run, or no such word: refused, and the right form is told."""
    with pytest.raises(InputError, match="runs") as caught:
        fleet.select(pattern, Runs(failed="", remaining="", changed_2026=""))
    assert said in str(caught.value)


def test_runs_are_only_asked_when_needed(fleet: Inventory) -> None:
    """Other patterns do not look at runs."""
    assert [host.name for host in fleet.select("web1", Runs())] == ["web1"]


def test_an_unknown_host_by_name(fleet: Inventory) -> None:
    """Asking for one host by name gives the nearest name where it is unknown."""
    with pytest.raises(InputError) as refused:
        fleet.explain("wbe1")
    expect_text(refused.value)


NAMES = [
    *(f"web{n}" for n in range(1, 20)),
    *(f"db{n:02d}.example.org" for n in range(8, 13)),
    "web01",
]
NUMBERED = f"hosts: [{', '.join(NAMES)}]\n"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("web[1-3]", "web1 web2 web3"),
        ("web[1,10-12]", "web1 web10 web11 web12"),
        ("web[18-40]", "web18 web19"),
        ("web[1-19]:!web[2-18]", "web1 web19"),
        ("db[08-10].example.org", "db08.example.org db09.example.org db10.example.org"),
        ("db[08,12].*,web[3,4]", "web3 web4 db08.example.org db12.example.org"),
        ("web[01-03]", "web01"),
        ("web[23]", "web2 web3"),
        ("~web[2,3]$", "web2 web3"),
    ],
)
def test_what_reports_print_is_a_pattern(loaded: Loader, pattern: str, names: str) -> None:
    """Ranges of numbers are ranges, zero-padded as they are written; other classes are a glob's."""
    assert " ".join(host.name for host in loaded(NUMBERED).select(pattern)) == names


def test_every_group_of_a_report_can_be_selected(loaded: Loader) -> None:
    """What a report writes for any hosts picks those hosts and no others."""
    inventory = loaded(NUMBERED)
    names = [host.name for host in inventory.select("all")]
    for chosen in (names, names[::2], names[3:7], names[18:], names[5:20:3]):
        found = inventory.select(",".join(fold(chosen)))
        assert {host.name for host in found} == set(chosen)


def test_a_number_has_no_bound(loaded: Loader) -> None:
    """A range that ends beyond every host is taken as it stands."""
    assert len(loaded(NUMBERED).select(f"web[5-{'9' * 5000}]")) == 15


def test_a_part_of_an_inventory_has_no_other_names(fleet: Inventory) -> None:
    """Groups without one of its hosts are gone, and hints suggest only its names."""
    part = fleet.among({"web1", "edge1"})
    assert list(part.hosts) == ["web1", "edge1"]
    assert {name: group.hosts for name, group in part.groups.items()} == {
        "web": ("web1",),
        "edge": ("edge1",),
        "prod": ("web1",),
    }
    assert [host.name for host in part.select("all:!prod")] == ["edge1"]
    with pytest.raises(InputError) as raised:
        part.select("web2")
    assert "web3" not in str(raised.value.problems)
