"""Which manifests apply another one."""

from pathlib import Path

import pytest

from orchestrator.manifest.parent_manifests import parents_of
from tests.orchestrator.manifest.site import write

APPLY = "ccm: {resources: [{apply: [{%s: {}}]}]}"
CHILD = "ccm: {resources: [{exec: [{x: {command: 'true'}}]}]}"


@pytest.fixture
def role(tmp_path: Path) -> Path:
    (tmp_path / "roles").mkdir()
    return write(tmp_path, CHILD, "roles/web.yaml")


@pytest.mark.parametrize(
    ("name", "certain"),
    [
        ("roles/web.yaml", True),
        ("./roles/../roles/web.yaml", True),
        ("\"roles/{{ lookup('facts.role') }}.yaml\"", False),
        ("\"{{ lookup('facts.role') }}/web.yaml\"", False),
    ],
)
def test_a_manifest_that_names_the_child_is_a_parent(
    tmp_path: Path, role: Path, name: str, certain: bool
) -> None:
    """A literal path is certain, a template that the path fits is not."""
    write(tmp_path, APPLY % name)
    (found,) = parents_of(role, [tmp_path / "roles", tmp_path])
    assert (found.path.name, found.certain) == ("site.yaml", certain)


@pytest.mark.parametrize(
    "text",
    [
        APPLY % "roles/db.yaml",
        APPLY % "\"roles/{{ lookup('facts.role') }}.yml\"",
        APPLY % '"{{ Data.manifest }}"',
        "apply: [broken",
        "hosts: {apply: {}}",
    ],
)
def test_what_does_not_name_it_is_none(tmp_path: Path, role: Path, text: str) -> None:
    """Other children, templates without any fixed part and files that are no manifest."""
    write(tmp_path, text)
    assert parents_of(role, [tmp_path / "roles", tmp_path]) == []


def test_a_parent_below_the_one_that_is_pushed(tmp_path: Path, role: Path) -> None:
    """The manifest that is pushed is the parent's path, the nearer one gives the defaults."""
    write(tmp_path, APPLY % "roles/all.yaml")
    write(tmp_path, APPLY % "web.yaml", "roles/all.yaml")
    found = {
        (one.path.name, one.site.path.name)
        for one in parents_of(role, [tmp_path / "roles", tmp_path])
    }
    assert found == {("site.yaml", "all.yaml"), ("all.yaml", "all.yaml")}
