"""``Groups`` and ``Hosts`` in every language."""

import json
from pathlib import Path
from typing import Any

import pytest

import inventory
from orchestrator.expressions import EvaluationError
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.language.files import Folder
from orchestrator.language.jet import Delimiters, library_of, render
from orchestrator.templates.tree import Tree, TreeSettings
from tests.orchestrator.expressions.fakes import evaluate, scope

HOSTS = """
hosts:
  db1: {address: 192.0.2.10, vars: {rack: {row: 7}, evil: "{{ 1 + 1 }}"}}
groups:
  web: {hosts: [web2, web1], vars: {role: web}}
  site: {children: [web], hosts: [db1]}
  empty: {}
"""


@pytest.fixture
def view(tmp_path: Path) -> InventoryView:
    path = tmp_path / "hosts.yaml"
    path.write_text(HOSTS)
    return InventoryView.of(inventory.load([str(path)]))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("Groups.web", ["web2", "web1"]),
        ("Groups['all']", ["db1", "web2", "web1"]),
        ("Groups.site", ["db1", "web2", "web1"]),
        ("Groups.empty", []),
        ("'web1' in Groups.web", True),
        ("['web1'] in Groups.web", False),
        ("Hosts.db1.address", "192.0.2.10"),
        ("Hosts['web1'].address", "web1"),
        ("Hosts.web1.groups", ["web", "site"]),
        ("Hosts.web1.vars.role", "web"),
        ("Hosts.db1.vars.rack.row", 7),
        ("Hosts.db1.vars.evil", "{{ 1 + 1 }}"),
        ("Hosts.nobody is defined", False),
        ("Hosts | length", 3),
        ("len(Groups.web) > 1 ? Hosts[Groups.web[0]].name : ''", "web2"),
        ("Groups.web | map('upper') | join(',')", "WEB2,WEB1"),
    ],
)
def test_expressions_see_all_groups_and_hosts(
    view: InventoryView, source: str, value: object
) -> None:
    """An expression reads what the inventory says of groups and hosts, and of nobody else."""
    assert evaluate(source, inventory=view) == value


def test_unknown_names_are_told_with_the_nearest(view: InventoryView) -> None:
    """A misspelt group or host is an error that names the nearest one."""
    for source, likely in (("Groups.wbe", "'web'"), ("Hosts.bd1.address", "'db1'")):
        with pytest.raises(EvaluationError, match=f"did you mean {likely}"):
            evaluate(source, inventory=view)


def test_a_whole_host_is_a_map(view: InventoryView) -> None:
    """A host as a whole comes out as a plain map."""
    found = evaluate("Hosts.web1", inventory=view)
    assert found == {
        "name": "web1", "address": "web1", "groups": ["web", "site"], "vars": {"role": "web"},
    }  # fmt: skip
    assert found.__class__ is dict


def test_no_template_can_change_them(view: InventoryView) -> None:
    """What one host's template does to the maps cannot reach another host."""
    for change in ("Hosts.web1.update({'address': 'x'})", "Groups.web.append('x')"):
        with pytest.raises(EvaluationError):
            evaluate(change, inventory=view)
    with pytest.raises(TypeError, match="cannot be changed"):
        view.hosts["web1"]["address"] = "x"
    assert view.hosts["web1"]["address"] == "web1"


def test_without_an_inventory_there_are_none() -> None:
    """Where no inventory is known there are no groups and no hosts."""
    assert evaluate("Groups | length + Hosts | length") == 0


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("jinja", "{% for n in Groups.web %}{{ Hosts[n].address }} {{ n }}\n{% endfor %}"),
        ("jet", "[[ range i, n := Groups.web ]][[ Hosts[n].address ]] [[ n ]]\n[[ end ]]"),
        ("go", "{{ range .Groups.web }}{{ (index $.Hosts .).address }} {{ . }}\n{{ end }}"),
    ],
)
def test_every_engine_of_a_folder_sees_them(
    view: InventoryView, tmp_path: Path, engine: str, text: str
) -> None:
    """A template of a scaffold loops over a group and reads each host, in every engine."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t/hosts").write_text(text)
    tree = Tree(tmp_path / "t", "t/", TreeSettings(engine))
    (file,) = tree.render(scope(tmp_path, inventory=view).names)
    assert file.content == "web2 web2\nweb1 web1\n"


def test_go_cannot_change_them_either(view: InventoryView, tmp_path: Path) -> None:
    """Sprig's set, which changes a map, is refused for what hosts share."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t/x").write_text('{{ set .Hosts.web1 "address" "x" }}')
    tree = Tree(tmp_path / "t", "t/", TreeSettings("go"))
    with pytest.raises(EvaluationError):
        tree.render(scope(tmp_path, inventory=view).names)
    assert view.hosts["web1"]["address"] == "web1"


def test_jet_function_sees_them(view: InventoryView, tmp_path: Path) -> None:
    """``jet()`` of a file beside the manifest sees them."""
    (tmp_path / "hosts.jet").write_text("[[ range i, n := Groups.web ]][[ n ]] [[ end ]]")
    assert evaluate("jet('hosts.jet')", tmp_path, inventory=view) == "web2 web1 "
    found = library_of(Folder(tmp_path), Delimiters()).parse("[[ len(Hosts) ]]", "x")
    assert render(found, scope(tmp_path, inventory=view).names) == "3"


def test_the_record_gives_the_same_view(view: InventoryView) -> None:
    """A view that went through JSON shows the same, in the same order."""
    record: dict[str, Any] = json.loads(json.dumps(view.record()))
    again = InventoryView.of_record(record)
    assert again.hosts == view.hosts
    assert list(again.groups.items()) == list(view.groups.items())
    assert evaluate("'web1' in Groups.web", inventory=again) is True
