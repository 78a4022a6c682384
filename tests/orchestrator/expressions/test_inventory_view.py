"""``Groups`` and ``Hosts`` in every language."""

import json
from pathlib import Path
from typing import Any

import pytest

import inventory
from orchestrator.expressions import EvaluationError, FactsUnavailableError
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.language.jet import Delimiters, library_of, render
from orchestrator.language.manifest_directory import Directory
from orchestrator.language.other_hosts import PackedFacts
from orchestrator.templates.template_tree import Tree, TreeSettings
from tests.orchestrator.expressions.fakes import evaluate, scope
from tests.texts import expect_text

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
    for source, likely in (("Groups.wbe", "web"), ("Hosts.bd1.address", "db1")):
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
    with pytest.raises(TypeError) as refused:
        view.hosts["web1"]["address"] = "x"
    expect_text(refused.value)
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
def test_every_engine_of_a_directory_sees_them(
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
    found = library_of(Directory(tmp_path), Delimiters()).parse("[[ len(Hosts) ]]", "x")
    assert render(found, scope(tmp_path, inventory=view).names) == "3"


def test_the_record_gives_the_same_view(view: InventoryView) -> None:
    """A view that went through JSON shows the same, in the same order."""
    record: dict[str, Any] = json.loads(json.dumps(view.record()))
    again = InventoryView.of_record(record)
    assert again.hosts == view.hosts
    assert list(again.groups.items()) == list(view.groups.items())
    assert evaluate("'web1' in Groups.web", inventory=again) is True


KNOWN = {"network": {"default_ipv4": "10.0.0.1"}, "evil": "{{ 1 + 1 }}"}


@pytest.fixture
def with_facts(view: InventoryView) -> InventoryView:
    view.facts.known["db1"] = PackedFacts.of("2026-01-02T03:04:05Z", KNOWN)
    view.facts.reasons["web1"] = "it cannot be reached"
    return view


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("Hosts.db1.facts.network.default_ipv4", "10.0.0.1"),
        ("Hosts['db1']['facts']['network']['default_ipv4']", "10.0.0.1"),
        ("Hosts[Groups.all[0]].facts.evil", "{{ 1 + 1 }}"),
        ("Hosts.db1.gathered", "2026-01-02T03:04:05Z"),
        ("Hosts.db1.facts is defined", True),
        ("Hosts.web1.facts is defined", False),
        ("Hosts.web1.facts.network.default_ipv4 | default('none')", "none"),
        ("Hosts.web2.facts['a'].b[0] | default('none')", "none"),
        ("Hosts['web1']['facts'].a | default('none')", "none"),
        ("Hosts.web1.gathered | default('never')", "never"),
        ("Hosts.values() | map(attribute='facts.evil', default='-') | join", "{{ 1 + 1 }}--"),
        ("jet('[[ isset(Hosts.web1.facts.x) ]] [[ isset(Hosts.db1.facts) ]]')", "false true"),
        ("'facts' in Hosts.db1 and 'facts' not in Hosts.web1", True),
        ("Hosts.db1 | length", 4),
    ],
)
def test_facts_of_other_hosts(with_facts: InventoryView, source: str, value: object) -> None:
    """Facts that are known are read as they are; for those that are not a default may stand."""
    assert evaluate(source, inventory=with_facts) == value


@pytest.mark.parametrize(
    "source",
    [
        "Hosts.web1.facts.network.default_ipv4", "Hosts['web1']['facts']", "Hosts.web1.facts",
        "Hosts.web1.facts.list | join", "Hosts.web1.facts.x ~ ''", "Hosts.web1.gathered",
        "Hosts.web1.facts.x == 1", "Hosts.web1.facts ? 1 : 2", "Hosts[Host.name].facts.x | upper",
        "jet('[[ Hosts.web1.facts.x ]]')",
    ],
)  # fmt: skip
def test_facts_that_are_not_known_refuse_who_reads_them(
    with_facts: InventoryView, source: str
) -> None:
    """Reading what is not known refuses the host, with the name and the reason, also in data."""
    for lenient in (False, True):
        with pytest.raises(FactsUnavailableError) as refused:
            evaluate(source, lenient=lenient, inventory=with_facts)
        expect_text(refused.value)


@pytest.mark.parametrize(
    "source",
    [
        "Hosts.db1.facts.partition", "Hosts.db1.facts.partition.usage | default([])",
        "Hosts.db1.facts['partition'] | d(1)", "Hosts.db1.facts.partition is defined",
        "'partition' in Hosts.db1.facts", "Hosts.db1.facts | length ~ Hosts.db1.facts",
        "Hosts.values() | map(attribute='facts.partition', default='-') | join",
        "jet('[[ isset(Hosts.db1.facts.partition) ]]')",
    ],
)  # fmt: skip
def test_a_family_that_another_host_could_not_gather(view: InventoryView, source: str) -> None:
    """A default does not hide it, as with one's own facts; the other families are as ever."""
    late = {"partition": "timed out"}
    view.facts.known["db1"] = PackedFacts.of("2026-01-02T03:04:05Z", KNOWN, late)
    for one in (view, InventoryView.of_record(json.loads(json.dumps(view.record())))):
        with pytest.raises(FactsUnavailableError) as refused:
            evaluate(source, inventory=one)
        expect_text(refused.value)
        assert evaluate("Hosts.db1.facts.network.default_ipv4", inventory=one) == "10.0.0.1"


@pytest.mark.parametrize("engine", ["jinja", "jet", "go"])
def test_engines_of_directories_read_facts_of_others(
    with_facts: InventoryView, tmp_path: Path, engine: str
) -> None:
    """Every engine reads known facts, and fails with the reason for those that are not known."""
    signs = {"jinja": "{{ %s }}", "jet": "[[ %s ]]", "go": "{{ .%s }}"}[engine]
    for name in ("db1", "web1"):
        (tmp_path / name).mkdir()
        text = signs.replace("%s", f"Hosts.{name}.facts.network.default_ipv4")
        (tmp_path / name / "x").write_text(text)
        tree = Tree(tmp_path / name, "t/", TreeSettings(engine))
        if name == "db1":
            (file,) = tree.render(scope(tmp_path, inventory=with_facts).names)
            assert file.content == "10.0.0.1"
        else:
            with pytest.raises(EvaluationError) as refused:
                tree.render(scope(tmp_path, inventory=with_facts).names)
            expect_text(refused.value)


def test_what_another_host_says_is_never_a_template(
    with_facts: InventoryView, tmp_path: Path
) -> None:
    """A text from another host is neither rendered nor a template that is computed."""
    assert evaluate("Hosts.db1.facts.evil", inventory=with_facts) == "{{ 1 + 1 }}"
    for call in ("template(Hosts.db1.facts.evil)", "jet('[[' ~ Hosts.db1.facts.evil ~ ']]')"):
        with pytest.raises(EvaluationError, match="never computed text"):
            evaluate(call, tmp_path, inventory=with_facts)


def test_the_record_takes_facts_along(with_facts: InventoryView) -> None:
    """What a worker gets has the facts, and the reasons for those that are not known."""
    again = InventoryView.of_record(json.loads(json.dumps(with_facts.record())))
    assert evaluate("Hosts.db1.facts.evil", inventory=again) == "{{ 1 + 1 }}"
    with pytest.raises(FactsUnavailableError) as refused:
        evaluate("Hosts.web1.facts.x", inventory=again)
    expect_text(refused.value)
