"""Resources that a Jet template writes for each host."""

from pathlib import Path

import pytest

from orchestrator.planning.resolved_manifest import resolved_manifest
from tests.orchestrator.planning.planned import (
    FakeHost,
    entries,
    gathered,
    plan,
    planner,
    refused,
    refused_host,
)
from tests.texts import expect_text

SITE = "data: {packages: [zsh, tar], port: 80}\nccm: {resources_jet_file: resources.jet}\n"
PACKAGES = """{* resources.jet *}
[[ range Data.packages ]]
- package:
    - [[ . ]]:
        ensure: present
[[ end ]]
"""


def write(directory: Path, text: str, name: str = "resources.jet") -> None:
    (directory / name).write_text(text, encoding="utf-8")


def test_a_template_gives_the_resources(tmp_path: Path) -> None:
    """The documents' own example: one package for each entry of a list."""
    write(tmp_path, PACKAGES)
    made = plan(tmp_path, SITE)
    assert [entry["name"] for entry in entries(made)] == ["zsh", "tar"]


def test_each_host_has_its_own(tmp_path: Path) -> None:
    """Facts and names of the host decide which resources there are; equal texts are shared."""
    write(tmp_path, "- exec: [{'[[ Host.name ]]': {command: 'echo [[ lookup(`facts.n`, 0) ]]'}}]\n")
    run = planner(tmp_path, SITE)
    first = run.plan(FakeHost("a"), gathered({"n": 1}))
    second = run.plan(FakeHost("b"), gathered({"n": 2}))
    again = run.plan(FakeHost("a"), gathered({"n": 1}))
    assert [p.items[0].id for p in (first, second)] == ["exec#a", "exec#b"]
    assert second.items[0].properties["command"] == "echo 2"
    assert again.resources[0] is first.resources[0]


def test_render_shows_what_came_of_it(tmp_path: Path) -> None:
    """The resolved manifest lists the resources of the host."""
    write(tmp_path, PACKAGES)
    run = planner(tmp_path, SITE)
    shown = resolved_manifest(run.site, run.plan(FakeHost(), gathered()))
    assert shown["ccm"]["resources"][0] == {"package": [{"zsh": {"ensure": "present"}}]}


@pytest.mark.parametrize("text", ["", "[[ range Data.none ]]- x[[ end ]]\n", "[]\n", "# none\n"])
def test_a_template_may_give_no_resources(tmp_path: Path, text: str) -> None:
    """A loop over nothing leaves nothing, which is no mistake."""
    write(tmp_path, text)
    assert entries(plan(tmp_path, SITE.replace("{packages", "{none: [], packages"))) == []


def test_what_a_host_reports_is_never_a_template(tmp_path: Path) -> None:
    """Braces in a fact stay what they are."""
    write(tmp_path, "- exec: [{x: {command: [[ json(facts.evil) ]]}}]\n")
    assert plan(tmp_path, SITE).items[0].properties["command"] == "{{ 1 }}"


def test_a_host_cannot_ask_for_files_of_the_controller(tmp_path: Path) -> None:
    """A path out of the manifest's directory must be spelt out in the template."""
    directory = tmp_path / "site"
    directory.mkdir()
    write(tmp_path, "secret", "secret")
    text = "- file: [{/x: {source: %s, owner: root, group: root, mode: '0644'}}]\n"
    write(directory, text % "[[ facts.path ]]")
    error = refused_host(directory, SITE, gathered({"path": "../secret"}))
    expect_text(str(error))
    write(directory, text % "../secret")
    assert planner(directory, SITE).plan(FakeHost(), gathered()).items[0].properties["source"]


def test_a_host_cannot_bring_conditions_along(tmp_path: Path) -> None:
    """A condition that is spelt out is evaluated, one that came out of a value is refused."""
    text = "- exec: [{x: {control: {if: %s}}}]\n"
    write(tmp_path, text % "\"lookup('data.port') == 80\"")
    assert plan(tmp_path, SITE).items[0].managed
    write(tmp_path, text % '"[[ facts.evil ]]"')
    error = refused_host(tmp_path, SITE, gathered({"evil": "file('x') == ''"}))
    expect_text(str(error))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- file:\n    [[ uper(1) ]]", "resources.jet:2:8: there is no function 'uper'"),
        ("- exec:\n    - x: {command: '{{ Data.port }}'}", "is not rendered in a resources_"),
        ("[[ include 'x' ]]", "resources.jet:1:12: single quotes are not supported"),
    ],
)
def test_mistakes_of_the_template_show_before_any_host(
    tmp_path: Path, text: str, message: str
) -> None:
    """A template that is no Jet is refused when the manifest is loaded."""
    write(tmp_path, text)
    assert message in refused(tmp_path, SITE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[ data.x ]]", "data.x: no such path"),
        ("- fil: [{x: {}}]", "resources.jet (rendered):1:3: there is no resource type 'fil'"),
        ("a: b: [[ 1 ]]", "resources.jet (rendered):1:5: invalid YAML"),
        ("- exec: [{x: {}}, {x: {}}]", "exec#x is defined twice"),
        ("- exec: [{x: {require: [exec#y]}}]", "which is not in the manifest"),
        ('[[ file("/etc/x") ]]', "resources cannot read '/etc/x', a file on the target"),
        ("- exec: [{x: {command: 'a\n[[ facts.secret ]]', colour: 1}}]", "no property 'colour'"),
    ],
)
def test_mistakes_of_what_comes_out_are_that_host_s(
    tmp_path: Path, text: str, message: str
) -> None:
    """A rendered text is checked like a manifest, its positions are those of the text."""
    write(tmp_path, text)
    assert message in str(refused_host(tmp_path, SITE, gathered({"secret": "s"})))


def test_braces_can_be_written(tmp_path: Path) -> None:
    """A text with braces comes from an action."""
    write(tmp_path, "- exec: [{x: {command: 'docker ps [[ \"{{.Names}}\" ]]'}}]\n")
    assert plan(tmp_path, SITE).items[0].properties["command"] == "docker ps {{.Names}}"


def test_templates_that_jet_names_are_checked_before_any_host(tmp_path: Path) -> None:
    """A literal path in jet() is read and checked with the manifest."""
    write(tmp_path, "\n[[ uper(1) ]]", "bad.jet")
    site = "ccm: {resources: [{exec: [{x: {command: \"{{ jet('%s') }}\"}}]}]}\n"
    expect_text(refused(tmp_path, site % "bad.jet"))
    expect_text(refused(tmp_path, site % "no.jet"))
