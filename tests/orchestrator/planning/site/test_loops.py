"""``foreach``: one resource for each element of a list or entry of a map."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.resolved_manifest import resolved_manifest
from remote_runtime.errors import InputError
from tests.orchestrator.planning.planned import (
    entries,
    plan,
    planner,
    refused,
    refused_host,
)
from tests.orchestrator.templates.trees import fill, needs_gotpl
from tests.texts import expect_text

DATA = """data:
  users: [alice, bob]
  sites: {a: {port: 80, on: true}, b: {port: 81, on: false}}
  none: []
"""


def site(*resources: str) -> str:
    listed = "".join(f"        - {text}\n" for text in resources)
    return f"{DATA}ccm:\n  resources:\n    - exec:\n{listed}"


def names(made: HostPlan) -> list[str]:
    return [entry["name"] for entry in entries(made)]


def last(made: HostPlan) -> dict[str, Any]:
    return entries(made)[-1]


def test_a_list_makes_a_resource_of_each_element(tmp_path: Path) -> None:
    """Name and properties see item and index, in the order of the list."""
    entry = '"add {{ item }}": {foreach: Data.users, command: "id {{ item }} {{ index }}"}'
    made = plan(tmp_path, site(entry))
    assert names(made) == ["add alice", "add bob"]
    assert [e["properties"]["command"] for e in entries(made)] == ["id alice 0", "id bob 1"]
    assert [item.index for item in made.items] == [0, 1]
    shown = json.dumps(resolved_manifest(planner(tmp_path, site(entry)).site, made))
    assert "foreach" not in shown


def test_a_map_makes_a_resource_of_each_entry(tmp_path: Path) -> None:
    """Key and item are its own, and control may ask them."""
    entry = (
        '"{{ key }}": {foreach: "lookup(\'data.sites\')", command: "echo {{ item.port }}",'
        " control: {if: item.on}}"
    )
    made = plan(tmp_path, site(entry))
    assert [(item.name, item.managed) for item in made.items] == [("a", True), ("b", False)]
    assert made.items[0].properties["command"] == "echo 80"


def test_what_reads_the_target_is_rendered_at_its_turn(tmp_path: Path) -> None:
    """The element is still known then."""
    entry = '"{{ item }}": {foreach: Data.users, command: "echo {{ file(\'/x/\' + item) }}"}'
    made = plan(tmp_path, site(entry))
    assert made.render(1, lambda path: path.encode())["command"] == "echo /x/bob"


def test_a_template_sees_the_element(tmp_path: Path) -> None:
    """In a file beside the manifest, and nowhere but in a loop."""
    (tmp_path / "user.tpl").write_text("{{ item }} {{ index }}")
    command = "command: \"id {{ template('user.tpl') }}\""
    made = plan(tmp_path, site(f'"{{{{ item }}}}": {{foreach: Data.users, {command}}}'))
    assert [e["properties"]["command"] for e in entries(made)] == ["id alice 0", "id bob 1"]
    with pytest.raises(InputError) as refused:
        plan(tmp_path, site(f"alone: {{{command}}}"))
    expect_text(refused.value)


def test_its_alias_stands_for_all(tmp_path: Path) -> None:
    """Who names the alias names each of them; of an empty list none."""
    made = plan(
        tmp_path,
        site(
            '"{{ item }}": {foreach: Data.users, alias: all}',
            '"x{{ item }}": {foreach: Data.none, alias: nobody}',
            '"true": {require: ["exec#all", "exec#nobody"], subscribe: ["exec#all"]}',
        ),
    )
    assert (last(made)["require"], last(made)["subscribe"]) == (
        ["exec#alice", "exec#bob"],
        ["exec#alice", "exec#bob"],
    )
    only = plan(
        tmp_path,
        site('"x{{ item }}": {foreach: Data.none, alias: nil}', '"true": {require: ["exec#nil"]}'),
    )
    assert [entry.get("require") for entry in entries(only)] == [None]


def test_one_of_them_can_be_named(tmp_path: Path) -> None:
    """By its final name, which is checked once it is known."""
    loop = '"{{ item }}": {foreach: Data.users}'
    made = plan(tmp_path, site(loop, '"true": {require: ["exec#bob"]}'))
    assert last(made)["require"] == ["exec#bob"]
    for data in ("users", "none"):
        wrong = site(loop.replace("users", data), '"true": {require: ["exec#carol"]}')
        expect_text(str(refused_host(tmp_path, wrong)))


def test_names_must_come_out_different(tmp_path: Path) -> None:
    """Two elements with one name are refused, with the entry's position."""
    text = str(refused_host(tmp_path, site("same: {foreach: Data.users}")))
    expect_text(text)
    assert names(plan(tmp_path, site("same: {foreach: 'Data.users[:1]'}"))) == ["same"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("a: {foreach: '1 +'}", ["site.yaml:8:"]),
        ("a: {foreach: '{{ Data.users }}'}", ["site.yaml:8:", "without braces"]),
        ("a: {foreach: \"'x'\"}", ["site.yaml:8:", "must evaluate to a list or a map"]),
        ("a: {foreach: [x]}", ["site.yaml:8:", "must be text"]),
        ('"{{ item }}": {command: x}', ["site.yaml:8:", "only an entry with foreach has it"]),
        ('x: {command: "{{ managed() }}"}', ["site.yaml:8:", "only template files have it"]),
        ('x: {command: "{{ inventory_hostname }}"}', ["site.yaml:8:", "(write Host.name"]),
        ('"{{ itm }}": {foreach: Data.users}', ["site.yaml:8:", "did you mean item?"]),
        ('defaults: {foreach: Data.users}\n        - "a"', ["site.yaml:8:", "in defaults"]),
        ('"{{ item }}": {foreach: Data.users, alias: a, require: ["exec#a"]}', ["itself"]),
    ],
)
def test_mistakes_are_told_before_any_host(tmp_path: Path, entry: str, words: list[str]) -> None:
    """With their positions."""
    text = refused(tmp_path, site(entry))
    assert [word for word in words if word not in text] == [], text


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('"{{ item }}": {foreach: Data.gone}', ["site.yaml:8:", "foreach: "]),
        ('"{{ item }}": {foreach: "Data.sites.c ?? nil"}', ["Data.sites.c ?? nil is null"]),
        (
            '"{{ item }}": {foreach: "Data.users[0]"}',
            ["must evaluate to a list or a map", "'alice'"],
        ),
        ('"{{ key }}": {foreach: Data.users}', ["'key' is undefined", "(foreach, index 0)"]),
    ],
)
def test_mistakes_of_a_host_s_data_refuse_its_plan(
    tmp_path: Path, entry: str, words: list[str]
) -> None:
    """They tell the place and the element."""
    text = str(refused_host(tmp_path, site(entry)))
    assert [word for word in words if word not in text] == [], text


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("jinja", "{{ item }}{{ index }}"),
        ("jet", "[[ item ]][[ index ]]"),
        pytest.param("go", "{{ .item }}{{ .index }}", marks=needs_gotpl),
    ],
)
def test_a_directory_of_templates_sees_the_element(engine: str, text: str, tmp_path: Path) -> None:
    """The templates of a scaffold see it in each language."""
    fill(tmp_path, {"tpl/f": text})
    entry = f'"/x/{{{{ item }}}}": {{foreach: Data.users, source: tpl, engine: {engine}}}'
    made = plan(tmp_path, site(entry).replace("exec:", "scaffold:"))
    shas = [e["properties"]["source"]["files"][0]["$blob"] for e in entries(made)]
    wanted = [sha256(t.encode()).hexdigest() for t in ("alice0", "bob1")]
    assert shas == wanted


def test_mistakes_of_template_files_are_told_before_any_host(tmp_path: Path) -> None:
    """Syntax, names, filters and includes of a file that is named literally; a text's, too."""
    fill(tmp_path, {"a.j2": "\n{% if itm %}{{ 1 | uper }}", "b.j2": "{% if itm %}x{% endif %}"})
    command = "a: {command: \"id {{ template('a.j2') }}\"}"
    assert "a.j2:2:" in str(refused(tmp_path, site(command)))
    told = str(refused(tmp_path, site(command.replace("a.j2", "b.j2"))))
    expect_text(told)
    told = str(refused(tmp_path, site(command.replace("a.j2", "{% iff x %}"))))
    assert "site.yaml:" in told
    assert "template():1:4: unknown tag 'iff'" in told
    assert "nope.j2" in str(refused(tmp_path, site(command.replace("a.j2", "nope.j2"))))
