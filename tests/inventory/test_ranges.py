"""Names of hosts that stand for many."""

from pathlib import Path

import pytest

from inventory import load
from inventory.ranges import BadRangeError, expanded
from remote_runtime.errors import InputError
from tests.texts import expect_text


@pytest.mark.parametrize(
    ("name", "hosts"),
    [
        ("web[1:3]", "web1 web2 web3"),
        ("web[08:10].org", "web08.org web09.org web10.org"),
        ("db-[a:c]", "db-a db-b db-c"),
        ("X[A:B]", "XA XB"),
        ("n[0:20:10]", "n0 n10 n20"),
        ("r[1:2]n[a:b]", "r1na r1nb r2na r2nb"),
        ("web[7:7]", "web7"),
        ("web[0:2]", "web0 web1 web2"),
        ("[1:2].example.org", "1.example.org 2.example.org"),
    ],
)
def test_a_range_has_both_of_its_ends(name: str, hosts: str) -> None:
    """A range stands for all from its first to its last, padded as written."""
    assert expanded(name) == hosts.split()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("web[3:1]", "ends before it starts"),
        ("web[c:a]", "ends before it starts"),
        ("web[01:100]", "different lengths"),
        ("web[1:3:0]", "has a step of 0"),
        ("web[1-3]", "has no colon between its ends"),
        ("web[1:c]", "does not go from number to number"),
        ("web[a:C]", "or from a to z, or from A to Z"),
        ("web[]", "has no colon between its ends"),
        ("web[1:3", "do not match"),
        ("web1]", "do not match"),
        ("web[[1:3]]", "do not match"),
        ("web[1:70000]", "expands to 70,000 hosts"),
        ("w[1:999]x[1:999]", "expands to 998,001 hosts"),
        ("w[1:9999999999]", "expands to 9,999,999,999 hosts"),
        ("w[1:" + "9" * 5000 + "]", "has a number with more than 10 digits"),
        ("w[\u0663:\u0665]", "does not go from number to number"),
    ],
)
def test_a_range_that_is_wrong_is_refused(name: str, why: str) -> None:
    """What stands for nothing, or for too much, says so at once and what to write."""
    with pytest.raises(BadRangeError, match=why) as caught:
        expanded(name)
    assert caught.value.hint


def test_ranges_stand_wherever_hosts_do(tmp_path: Path) -> None:
    """A range may stand in a map or a list, at the top or in a group, with properties for all."""
    path = tmp_path / "hosts.yaml"
    path.write_text(
        "hosts:\n  web[01:03]: {port: 2222, vars: {role: web}}\n  db1: {}\n"
        "groups:\n  front: {hosts: ['web[02:03]', 'edge[a:b]']}\n"
        "  back:\n    hosts:\n      web[01:02]: {user: me}\n"
    )
    inventory = load([str(path)])
    assert list(inventory.hosts) == ["web01", "web02", "web03", "db1", "edgea", "edgeb"]
    assert [inventory.hosts[f"web0{n}"].port for n in (1, 2, 3)] == [2222] * 3
    assert inventory.hosts["web02"].vars == {"role": "web"}
    assert inventory.hosts["web02"].groups == ("back", "front")
    assert [host.name for host in inventory.select("front:!web03")] == ["web02", "edgea", "edgeb"]
    assert inventory.hosts["web02"].user == "me"
    assert inventory.hosts["web03"].user is None


def test_a_bad_range_is_told_where_it_stands(tmp_path: Path) -> None:
    """A range that is wrong, or makes names that no host may have, refuses the inventory."""
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts:\n  web[3:1]: {}\n  -x[1:2]: {}\n  a l[1:2]: {}\n")
    with pytest.raises(InputError) as caught:
        load([str(path)])
    found = {
        problem.where.line: problem.message for problem in caught.value.problems if problem.where
    }
    expect_text(found[2])
    expect_text(found[3])
    assert "is invalid" in found[4]


def test_a_mistake_below_a_range_is_told_once(tmp_path: Path) -> None:
    """Not for each of the hosts that the name stands for."""
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts:\n  web[1:9]: {addres: 192.0.2.1, port: x}\n")
    with pytest.raises(InputError) as caught:
        load([str(path)])
    expect_text([problem.message for problem in caught.value.problems])
