"""Nearest wins, groups, and where values come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from inventory import load
from remote_runtime.errors import InputError
from tests.texts import expect_text

from .conftest import Loader

FLEET = """\
defaults: {user: deploy, become: true, vars: {env: prod, role: none}}
hosts:
  db1: {address: 192.0.2.10, port: 2222, vars: {role: db}}
groups:
  web:
    hosts: [web1, web2]
    vars: {role: web, nested: {a: 1}}
    children: [edge]
    connect_timeout: 1m30s
  edge:
    hosts:
      edge1: {user: root}
    vars: {nested: {b: 2}}
    become: false
  late:
    hosts: [web2, db1]
    vars: {role: late}
    port: 23
"""


def test_names_that_look_like_values(loaded: Loader) -> None:
    """A host may have a name that YAML takes for a number or a boolean; it is text."""
    text = "\ufeffhosts:\r\n  3750: {}\r\n  1e3: {}\r\n  yes: {}\r\n"
    assert list(loaded(text).hosts) == ["3750", "1e3", "yes"]
    groups = "groups: {7: {hosts: [3750, 1e3]}, b: {children: [7]}}"
    found = loaded(f"hosts: [3750, 1e3, yes, true, 1.10, 022]\n{groups}")
    assert list(found.hosts) == ["3750", "1e3", "yes", "true", "1.10", "022"]
    assert found.hosts["1e3"].groups == ("7", "b")


def test_the_nearest_value_wins(loaded: Loader) -> None:
    """A host beats its groups, a child group beats its parent, the defaults are last."""
    hosts = loaded(FLEET).hosts
    assert (hosts["db1"].address, hosts["db1"].port, hosts["db1"].user) == (
        "192.0.2.10",
        2222,
        "deploy",
    )
    assert hosts["edge1"].user == "root"
    assert hosts["edge1"].become is False
    assert hosts["edge1"].connect_timeout == 90.0
    assert hosts["edge1"].groups == ("edge", "web")
    assert hosts["web1"].become is True
    assert hosts["web1"].address == "web1"
    assert hosts["web1"].port is None


def test_vars_are_replaced_whole(loaded: Loader) -> None:
    """A nearer variable replaces one of the same name, maps are not merged."""
    hosts = loaded(FLEET).hosts
    assert hosts["edge1"].vars == {"env": "prod", "role": "web", "nested": {"b": 2}}
    assert hosts["db1"].vars == {"env": "prod", "role": "db"}


def test_the_group_named_later_wins(loaded: Loader) -> None:
    """Between unrelated groups of a host, the one named later in the inventory is nearer."""
    host = loaded(FLEET).hosts["web2"]
    assert host.groups == ("late", "web")
    assert host.vars["role"] == "late"


def test_a_diamond_of_groups_keeps_children_before_parents(loaded: Loader) -> None:
    """A child is nearer than each of its parents, even when a parent is named last."""
    inventory = loaded(
        """\
        groups:
          low: {hosts: [a]}
          left: {children: [low]}
          right: {children: [low]}
          top: {children: [left, right]}
          solo: {hosts: [a]}
        """
    )
    assert inventory.hosts["a"].groups == ("solo", "low", "right", "left", "top")


def test_hosts_keep_the_order_of_the_inventory(loaded: Loader) -> None:
    """Hosts come in the order in which they are named, those of groups included."""
    assert list(loaded(FLEET).hosts) == ["db1", "web1", "web2", "edge1"]


def test_the_group_all_of_ansibles_list_is_farther_than_every_group(loaded: Loader) -> None:
    """What ``all`` sets bears on every host, after its groups and before the defaults."""
    inventory = loaded(
        """\
        {"_meta": {"hostvars": {}},
         "g": {"hosts": ["a"], "vars": {"ansible_user": "g"}},
         "all": {"children": ["g", "ungrouped"], "vars": {"ansible_user": "everyone", "x": 1}},
         "ungrouped": {"hosts": ["b"]}}
        """
    )
    assert [host.user for host in inventory.hosts.values()] == ["g", "everyone"]
    assert inventory.hosts["a"].vars["x"] == 1
    assert inventory.hosts["a"].groups == ("g",)


def test_explain_says_where_each_value_stands(loaded: Loader) -> None:
    """Each value of a host comes with the place that won and its line."""
    found = {e.property: e for e in loaded(FLEET).explain("edge1")}
    assert found["user"].origin == "host edge1"
    assert found["become"].origin == "group edge"
    assert found["connect_timeout"].origin == "group web"
    assert found["vars.env"].origin == "defaults"
    assert found["address"].origin == "the host's name"
    position = found["vars.role"].position
    assert position is not None
    assert (position.line, position.column) == (7, 18)
    expect_text(str(found["vars.role"]))


def test_explained_values_are_the_hosts_values(loaded: Loader) -> None:
    """What is explained and what the host carries are the same values."""
    inventory = loaded(FLEET)
    for name, host in inventory.hosts.items():
        values = inventory.explain(name)
        assert values, name
        for explained in values:
            key = explained.property
            carried = host.vars[key[5:]] if key.startswith("vars.") else getattr(host, key)
            assert carried == explained.value


def test_the_graph_shows_groups_and_hosts(loaded: Loader) -> None:
    """Groups stand below their parents, hosts below their groups, the rest below all."""
    expect_text(loaded(FLEET).graph())


def test_the_graph_of_many_diamonds_stays_small(loaded: Loader) -> None:
    """A group with several parents is shown in full once, so that the tree cannot explode."""
    lines = ["groups:"]
    for level in range(40):
        lines.append(f"  a{level}: {{children: [a{level + 1}, b{level + 1}]}}")
        lines.append(f"  b{level}: {{children: [a{level + 1}, b{level + 1}]}}")
    lines += ["  a40: {hosts: [h]}", "  b40: {hosts: [h]}"]
    assert len(loaded("\n".join(lines)).graph().splitlines()) < 400


def test_paths_start_in_the_inventorys_directory(
    loaded: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative paths are relative to the file that names them, and ``~`` is the home directory."""
    monkeypatch.setenv("HOME", "/home/x")
    hosts = loaded("hosts: {a: {key_file: keys/id, known_hosts: ~/.ssh/known}}").hosts
    assert hosts["a"].key_file == str(tmp_path / "keys" / "id")
    assert hosts["a"].known_hosts == "/home/x/.ssh/known"


def test_later_sources_win(loaded: Loader) -> None:
    """With several sources the later one's values win and the members of groups are joined."""
    inventory = loaded(
        "hosts: {a: {port: 1, user: x}}\ngroups: {g: {hosts: [a], vars: {k: 1}}}",
        "hosts: {a: {port: 2}, b: }\ngroups: {g: {hosts: [b], vars: {k: 2}}}",
    )
    assert (inventory.hosts["a"].port, inventory.hosts["a"].user) == (2, "x")
    assert inventory.groups["g"].hosts == ("a", "b")
    assert inventory.hosts["b"].vars == {"k": 2}


def test_a_list_of_names_is_an_inventory() -> None:
    """``-i web1,web2,`` names hosts without a file."""
    assert list(load("web1,10.0.0.2,").hosts) == ["web1", "10.0.0.2"]
    with pytest.raises(InputError) as refused:
        load("web1,-oProxyCommand=x,")
    expect_text(refused.value)


def test_a_large_inventory_shares_the_work_of_groups(loaded: Loader) -> None:
    """Ten thousand hosts in two hundred groups get their values and keep their order."""
    lines = ["hosts:", *(f"  h{n}: {{vars: {{n: {n}}}}}" for n in range(10_000)), "groups:"]
    for group in range(200):
        members = ", ".join(f"h{n}" for n in range(group * 50, group * 50 + 50))
        lines.append(f"  g{group}: {{hosts: [{members}], vars: {{g: {group}}}}}")
    inventory = loaded("\n".join(lines))
    picked = inventory.select("g*:!g0")
    assert [host.name for host in picked] == [f"h{n}" for n in range(50, 10_000)]
    assert picked[-1].vars == {"g": 199, "n": 9999}
