"""``ccm.defaults``: what the resources of a manifest and of its children begin with."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from orchestrator.manifest.editor_schema import manifest_schema
from orchestrator.manifest.loader import load_site
from tests.orchestrator.planning.planned import plan, refused

ROOT = "owner: root, group: root, mode: '0644'"


def modes(directory: Path, text: str) -> dict[str, Any]:
    """The mode and owner of each file in the plan, those of children too."""
    return {
        item.name: (item.properties["owner"], item.properties["mode"])
        for item in plan(directory, text).items
        if item.type == "file"
    }


def test_the_nearest_wins_per_property(tmp_path: Path) -> None:
    """Entry before list before manifest before parent; both forms of an item have them."""
    child = tmp_path / "child.yaml"
    child.write_text(
        "ccm:\n  defaults: {file: {mode: '0640'}}\n  resources: [{file: [{/below: {}}]}]\n"
    )
    (tmp_path / "plain.yaml").write_text("ccm: {resources: [{file: {name: /plain}}]}\n")
    text = f"""ccm:
  defaults: {{file: {{{ROOT}}}}}
  resources:
    - file: {{name: /single}}
    - file:
        - defaults: {{owner: www}}
        - /listed:
        - /own: {{owner: me, mode: '0600'}}
    - apply: [{{child.yaml: {{}}}}, {{plain.yaml: {{}}}}]
"""
    assert modes(tmp_path, text) == {
        "/single": ("root", "0644"),
        "/listed": ("www", "0644"),
        "/own": ("me", "0600"),
        "/below": ("root", "0640"),
        "/plain": ("root", "0644"),
    }


def test_a_child_that_two_manifests_apply_has_the_defaults_of_each(tmp_path: Path) -> None:
    """What one hands on says nothing to the other."""
    shared = "ccm: {resources: [{file: [{'/{{ Data.name }}': {}}]}]}"
    (tmp_path / "shared.yaml").write_text(shared)
    for name, mode, applied in (("a", "0600", ""), ("b", "0640", "./")):
        (tmp_path / f"{name}.yaml").write_text(
            f"ccm:\n  defaults: {{file: {{mode: '{mode}'}}}}\n"
            f"  resources: [{{apply: [{{{applied}shared.yaml: {{data: {{name: {name}}}}}}}]}}]\n"
        )
    text = (
        "ccm: {defaults: {file: {owner: root, group: root}}, resources: ["
        "{apply: [{a.yaml: {}}, {b.yaml: {}}]}]}"
    )
    assert modes(tmp_path, text) == {"/a": ("root", "0600"), "/b": ("root", "0640")}


def test_generated_resources_have_them_too(tmp_path: Path) -> None:
    """Templates in them are the user's own, and rendered."""
    (tmp_path / "r.jet").write_text("- file: [{/a: {content: '[[ `{{ plain }}` ]]'}}]\n")
    text = f"""data: {{who: www}}
ccm:
  defaults: {{file: {{{ROOT.replace("root", "'{{ Data.who }}'", 1)}}}}}
  resources_jet_file: r.jet
"""
    (item,) = plan(tmp_path, text).items
    assert item.properties["owner"] == "www"
    assert item.properties["content"]["size"] == len("{{ plain }}")


@pytest.mark.parametrize(
    ("defaults", "words"),
    [
        ("{fil: {mode: '0644'}}", ["site.yaml:2:14:", "did you mean file?"]),
        ("{file: {mod: '0644'}}", ["site.yaml:2:21:", "did you mean mode?"]),
        ("{file: [x]}", ["must be a map"]),
        ("[x]", ["must be a map of types"]),
        ("{file: {foreach: Data.x}}", ["foreach is not allowed in defaults"]),
    ],
)
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, defaults: str, words: list[str]
) -> None:
    """Types and properties are checked whether anything uses them or not."""
    text = f"ccm:\n  defaults: {defaults}\n  resources: [{{exec: [{{'true': {{}}}}]}}]\n"
    said = refused(tmp_path, text)
    assert [word for word in words if word not in said] == [], said


def test_the_editors_schema_knows_them(tmp_path: Path) -> None:
    """Loops and defaults are valid to an editor as well, and a misspelt property is not."""
    text = """data: {users: [a]}
ccm:
  defaults: {file: {owner: root, group: root, mode: '0644'}}
  resources:
    - file: [{'/srv/{{ item }}': {foreach: Data.users, alias: all}}]
"""
    (tmp_path / "site.yaml").write_text(text)
    assert load_site(tmp_path / "site.yaml").defaults.keys() == {"file"}
    schema = jsonschema.Draft202012Validator(manifest_schema())
    assert schema.is_valid(yaml.safe_load(text.replace("{foreach", "{mode: '0644', foreach")))
    assert not schema.is_valid(yaml.safe_load(text.replace("{owner", "{owned")))
