"""What surely chooses nothing is refused before any host is asked."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import plan, planner, refused
from tests.texts import expect_text

SITE = """
data: {names: [one, two]}
ccm:
  resources:
    - exec:
        - nginx-reload: {command: "true", alias: reload, tags: [web]}
        - "of {{ Facts.host.info.hostname }}": {command: "true", tags: [slow, web]}
        - "each {{ item }}": {command: "true", foreach: "Data.names", alias: each}
    - apply:
        - child.yaml: {tags: [base]}
"""
CHILD = """
ccm:
  resources:
    - exec:
        - inner: {command: "true", tags: [deep]}
"""


def directory(path: Path) -> Path:
    (path / "child.yaml").write_text(CHILD)
    return path


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"only": ["exec#ngnix-reload"]}, "did you mean exec#nginx-reload?"),
        ({"only": ["exec#relaod"]}, "did you mean exec#reload?"),
        ({"only": ["file#*"]}, "--only 'file#*' matches no resource of the manifest"),
        ({"skip": ["exec#nothing*"]}, "--skip 'exec#nothing*' matches no resource of the manifest"),
        ({"only": ["exce"]}, "did you mean exec?"),
        ({"only": [""]}, "--only '' names no resource"),
        ({"only": ["exec#"]}, "--only 'exec#' names no resource"),
        ({"tags": ["web,dep"]}, "no resource has the tag 'dep' (did you mean deep?)"),
        ({"tags": ["-zzz"]}, "tags: base, deep, slow, web"),
        ({"tags": ["web,"]}, "--tags has an empty tag"),
        ({"tags": ["web,-web"]}, "both selects and excludes 'web'"),
        ({"only": ["exec#inner"], "skip": ["apply#child.yaml"]}, "together the options select no"),
        ({"only": ["exec#reload"], "tags": ["deep"]}, "together the options select no resource"),
        ({"skip": ["exec", "apply#*"]}, "together the options select no resource"),
        ({"tags": ["deep,-base"]}, "together the options select no resource"),
    ],
)
def test_what_chooses_nothing(tmp_path: Path, options: dict[str, list[str]], told: str) -> None:
    """It is told with what was probably meant."""
    assert told in refused(directory(tmp_path), SITE, **options)


def test_all_at_once(tmp_path: Path) -> None:
    """Everything that is wrong with a selection is told together."""
    told = refused(directory(tmp_path), SITE, only=["exec#x"], skip=["exec#y"], tags=["z"])
    assert all(f"'{word}'" in told for word in ("exec#x", "exec#y", "z"))


@pytest.mark.parametrize(
    "pattern", ["exec#of web1", "exec#of *", "exec#each two", "exec#each", "*#inner", "exec"]
)
def test_what_only_a_host_tells(tmp_path: Path, pattern: str) -> None:
    """A name that a template gives may be meant; aliases and types are known."""
    made = plan(directory(tmp_path), SITE, only=[pattern])
    assert any(not item.left_out for item in made.items)


def test_a_template_that_begins_otherwise(tmp_path: Path) -> None:
    """A template whose beginning is another one's cannot come to be meant."""
    expect_text(refused(directory(tmp_path), SITE, only=["exec#on web1"]))


def test_a_child_that_is_not_known(tmp_path: Path) -> None:
    """Where a child manifest cannot be read, what stands in it may be meant."""
    site = SITE.replace("child.yaml: {", "missing.yaml: {control: {if: Facts.x}, ")
    made = planner(tmp_path, site, only=["exec#inner"], tags=["unheard-of"])
    assert "missing.yaml" in made.survey.conditional[0].message


def test_no_tags_at_all(tmp_path: Path) -> None:
    """A manifest without tags says how to give some."""
    told = refused(tmp_path, "ccm: {resources: [{exec: [{x: {}}]}]}", tags=["web"])
    expect_text(told)


@pytest.mark.parametrize("tags", ["[a b]", "['-a']", "['a,b']", "[1]", "a", "['']"])
def test_what_is_no_tag(tmp_path: Path, tags: str) -> None:
    """A tag is a word that --tags could name."""
    told = refused(tmp_path, f"ccm: {{resources: [{{exec: [{{x: {{tags: {tags}}}}}]}}]}}")
    assert "site.yaml:1:" in told
    assert "tags" in told
