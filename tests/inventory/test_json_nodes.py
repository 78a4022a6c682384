"""JSON that is read without places comes to the same as with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inventory import Inventory, load
from inventory.declaration_reader import read_declaration
from inventory.json_nodes import read_json
from inventory.problem_collector import Checker
from inventory.yaml_document import parse_document, to_plain
from remote_runtime.errors import InputError

FLEET = {
    "defaults": {"user": "root", "vars": {"env": "prod", "tags": ["a", {"b": None}]}},
    "hosts": {
        "web1": {"address": "192.0.2.1", "port": 22, "vars": {"rack": 1.5, "on": True}},
        "web2": {"become": "app", "connect_timeout": 2.5},
        "db1": {},
    },
    "groups": {
        "web": {"hosts": ["web1", "web2"], "vars": {"role": "w", "rack": 0}},
        "db": {"hosts": {"web2": {"vars": {"x": {"y": [1]}}}}, "children": []},
        "site": {"children": ["web", "db"], "port": 2222},
    },
}
LISTED = {
    "_meta": {
        "hostvars": {
            "a": {"ansible_host": "192.0.2.1", "ansible_port": "2222", "ansible_become": "yes"},
            "b": {"ansible_ssh_common_args": "-v", "x": [1, 2]},
        }
    },
    "web": {"hosts": ["a", "b"], "vars": {"ansible_user": "deploy", "tier": 1}},
    "all": {"children": ["web", "none"]},
}
BAD: list[dict[str, Any]] = [
    {"hosts": {"db-ü": {}, "\u0007": {"user": "ü ü", "port": 1.25}}},
    {"hosts": {"a": {"prot": 22, "port": 70000}, "-b": {}, "c": []}, "default": 1},
    {"hosts": {"a": {"port": "22", "user": 7, "become": "yes", "connection": "docker"}}},
    {"hosts": {"a": {"connect_timeout": 0.0, "address": ["x"], "password": "x"}}},
    {"hosts": ["a", 7, {"b": 1}, "a b"], "groups": {"g": {"hosts": "a"}}},
    {"hosts": {"a": {"port": 22}}, "groups": {"g": {"hosts": {"a": {"port": 23}}}}},
    {"hosts": {"a": {"vars": {"k": 1}}}, "groups": {"g": {"hosts": {"a": {"vars": {"k": 2}}}}}},
    {"hosts": {"a": {"vars": {"ssh_pass": "x"}}}, "groups": {"a b": {}, "g": {"vars": 1}}},
    {"groups": {"g": {"children": ["h", "edeg", 1]}, "h": {"children": ["g"]}, "edge": {}}},
    {"all": {}, "hosts": {}},
    {"groups": {"all": {"vars": {"env": "test"}}, "g": {"children": ["all"]}}},
    {"_meta": {"hostvars": {"a": {"ansible_port": "123456", "ansible_password": "x"}}}},
    {"_meta": {"hostvars": {"a": {"ansible_become": "perhaps", "ansible_become_method": "su"}}}},
    {"_meta": {"hostvars": {"-a": {}, "b": 1}}, "g h": {"hosts": []}, "i": {"hosts": [1, "-x"]}},
    {"_meta": {"hostvars": {}}, "g": {"hosts": {"a": 1}, "vars": [], "children": [2, "n n"]}},
    {"web": {"hosts": {"a": {}}}},
]


def read(directory: Path, text: str) -> tuple[Inventory | None, list[str]]:
    """The inventory of a text, or the problems with it, one text each."""
    path = directory / "hosts"
    path.write_text(text, encoding="utf-8")
    try:
        found = load(path)
    except InputError as error:
        return None, [str(problem) for problem in error.problems]
    return found, [str(problem) for problem in found.warnings]


def both(directory: Path, text: str) -> list[tuple[Inventory | None, list[str]]]:
    """The text as it is, and with a comment behind it, which is YAML and no JSON."""
    return [read(directory, text), read(directory, text + "\n# YAML")]


@pytest.mark.parametrize("data", BAD)
@pytest.mark.parametrize("indent", [None, 2])
def test_problems_and_their_places_are_those_of_yaml(
    tmp_path: Path, data: dict[str, Any], indent: int | None
) -> None:
    """Every mistake is told in the same words at the same place, however the text is read."""
    text = json.dumps(data, indent=indent)
    assert read_json(text, "f") is not None
    (_, quick), (_, slow) = both(tmp_path, text)
    assert slow
    assert quick == slow


@pytest.mark.parametrize("indent", [None, 2])
def test_values_and_their_places_are_those_of_yaml(tmp_path: Path, indent: int | None) -> None:
    """Hosts, groups, variables and what explains them are the same, however the text is read."""
    for data in (FLEET, LISTED):
        (quick, warned), (slow, warnings) = both(tmp_path, json.dumps(data, indent=indent))
        assert quick is not None
        assert slow is not None
        assert warned == warnings
        assert list(quick.hosts) == list(slow.hosts)
        assert quick.graph() == slow.graph()
        for name, host in slow.hosts.items():
            assert quick.explain(name) == slow.explain(name)
            assert quick.hosts[name].position == host.position
            assert quick.hosts[name].vars == host.vars
        assert [g.position for g in quick.groups.values()] == [
            g.position for g in slow.groups.values()
        ]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": 1e999}',
        '{"a": NaN}',
        '{"a": "\\ud83d\\ude00"}',
        '{"a": "x\u2028 y"}',
        '{"a": "\x07"}',
        '{"a": "\x7f"}',
        '{"a": ' + "9" * 1001 + "}",
        '{"a": ' + "[" * 100 + "]" * 100 + "}",
        '{"a": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"a": 1,}',
        "{a: 1}",
        "[1]",
        "",
    ],
)
def test_what_yaml_reads_otherwise_is_left_to_it(text: str) -> None:
    """Where JSON and YAML may differ, or something is refused, the reader of YAML decides."""
    assert read_json(text, "f") is None


def test_what_is_read_means_the_same() -> None:
    """Texts, numbers, true, false, null and empty containers are those of the reader of YAML."""
    text = '\ufeff {"a": [1, -2, 1.5, true, false, null, "1", "<<", "\\/ \\u00e9 \\u0007", {}, []]}'
    root = read_json(text, "f")
    assert root is not None
    assert to_plain(root) == to_plain(parse_document(text, "f"))
    deep = '{"a": ' + "[" * 99 + "]" * 99 + "}"
    assert read_json(deep, "f") is not None
    parse_document(deep, "f")


def test_a_good_inventory_is_read_once(tmp_path: Path) -> None:
    """As long as nobody asks for a place, the text is not read for places."""
    root = read_json(json.dumps(FLEET), "f")
    assert root is not None
    declaration = read_declaration(root, str(tmp_path), Checker())
    assert "root" not in vars(root.source)
    assert declaration.hosts["web1"].node.position.column > 1
    assert "root" in vars(root.source)


def test_a_place_in_what_only_json_takes(tmp_path: Path) -> None:
    """A key that is too long for YAML costs the places in that text, not the inventory."""
    text = json.dumps({"hosts": {"a": {"vars": {"k" * 2000: 1}}}})
    found, _ = read(tmp_path, text)
    assert found is not None
    assert str(found.hosts["a"].position).endswith("hosts:1:1")
