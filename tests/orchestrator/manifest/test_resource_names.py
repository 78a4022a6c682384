"""Manifests that resources apply: read once, checked together with their parents."""

import os
from pathlib import Path

import pytest

from orchestrator.manifest import load_site
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site
from remote_runtime.errors import InputError
from tests.orchestrator.manifest.site import load, refused, write
from tests.texts import expect_text

PARENT = """
ccm:
  resources:
    - exec:
        - first: {command: "true"}
    - apply:
        - web/site.yaml: {}
    - exec:
        - after: {command: "true", require: [%s]}
"""
CHILD = """
ccm:
  resources:
    - exec:
        - inside: {command: "true", alias: within, require: [%s]}
"""


def child(directory: Path, text: str, name: str = "web/site.yaml") -> Path:
    (directory / name).parent.mkdir(parents=True, exist_ok=True)
    return write(directory, text, name)


def applied(site: Site, depth: int = 0) -> tuple[Site | None, list[str]]:
    """The manifest of the one apply resource, and why there is none."""
    (declared,) = (d for d in site.resources if d.type.applies)
    assert isinstance(declared.name, str)
    above = tuple(Path(f"/above/{number}.yaml") for number in range(depth))
    found = site.children.of(site, declared, declared.name, above)
    return found.site, list(map(str, found.problems))


@pytest.mark.parametrize(
    "reference", ["exec#inside", "exec#within", "apply#web/site.yaml", "exec#first"]
)
def test_names_of_a_child_may_be_required(tmp_path: Path, reference: str) -> None:
    """require of a later resource reaches into the child, and the child's to what ran before."""
    child(tmp_path, CHILD % "exec#first")
    assert len(load(tmp_path, PARENT % reference).resources) == 3


def test_a_misspelt_name_of_a_child_is_refused(tmp_path: Path) -> None:
    """A name that neither manifest has is refused, with the nearest, wherever it stands."""
    child(tmp_path, CHILD % "exec#frist")
    found = {problem.hint: problem.where for problem in refused(tmp_path, PARENT % "exec#insde")}
    files = {hint: where.file for hint, where in found.items() if where}
    assert files == {
        "did you mean exec#inside?": f"{tmp_path}/site.yaml",
        "did you mean exec#first?": f"{tmp_path}/web/site.yaml",
    }


def test_what_comes_later_is_refused(tmp_path: Path) -> None:
    """A child cannot require what its parent runs after it."""
    child(tmp_path, CHILD % "exec#after")
    (problem,) = refused(tmp_path, PARENT % "exec#first")
    assert "refers to exec#after, which comes later" in problem.message
    assert problem.where is not None
    assert problem.where.file.endswith("web/site.yaml")


def test_a_child_cannot_require_what_applies_it(tmp_path: Path) -> None:
    """The resource that applies a manifest is not done before the manifest is."""
    child(tmp_path, CHILD % '"apply#web/site.yaml"')
    (problem,) = refused(tmp_path, PARENT % "exec#first")
    expect_text(problem.message)


def test_what_applies_a_manifest_cannot_require_what_is_in_it(tmp_path: Path) -> None:
    """It stands behind its child's resources, and its requirements are asked before them."""
    child(tmp_path, CHILD % "exec#first")
    apply = "- web/site.yaml: {require: [exec#inside]}"
    text = (PARENT % "exec#first").replace("- web/site.yaml: {}", apply)
    (problem,) = refused(tmp_path, text)
    expect_text(problem.message)


def test_a_broken_child_hides_its_names(tmp_path: Path) -> None:
    """References that a child which cannot be read may have are not called misspelt."""
    for text in ("ccm: {resourcse: []}", "- not\n: yaml", CHILD % "" + "        - b: {a: 1}"):
        child(tmp_path, text)
        site, problems = applied(load(tmp_path, PARENT % "exec#anything"))
        assert site is None
        assert problems
        assert all("web/site.yaml" in text for text in problems)


def test_problems_of_parent_and_child_are_one_report(tmp_path: Path) -> None:
    """Duplicates and references are reported with every other problem of both manifests."""
    child(tmp_path, CHILD % "exec#nope" + "        - wrong: {comand: x}\n")
    problems = refused(tmp_path, PARENT % "exec#first" + "        - after: {command: x}\n")
    places = [(Path(p.where.file).name, p.where.line) for p in problems if p.where]
    assert places == [("site.yaml", 10), ("site.yaml", 5), ("site.yaml", 6)]
    assert [problem.kind for problem in problems] == [
        "input.duplicate",
        "input.reference",
        "input.unknown",
    ]


def test_references_of_a_broken_child_are_checked(tmp_path: Path) -> None:
    """A child with another problem does not hide its own reference to nothing."""
    child(tmp_path, CHILD % "exec#nope" + "        - wrong: {comand: x}\n")
    assert len(refused(tmp_path, PARENT % "exec#first")) == 2


def test_a_missing_child_is_told_where_it_is_named(tmp_path: Path) -> None:
    """A child that is not there has the position of the resource that applies it."""
    site, problems = applied(load(tmp_path, PARENT % ""))
    assert site is None
    assert problems == [
        f"{tmp_path}/site.yaml:7:11: cannot read {tmp_path}/web/site.yaml: "
        "No such file or directory (check the path)"
    ]


def test_a_child_is_read_once(tmp_path: Path) -> None:
    """However often and by whichever spelling it is applied, a manifest is read once."""
    child(tmp_path, CHILD % "")
    site = load(tmp_path, PARENT % "")
    declared: DeclaredResource = site.resources[1]
    once = site.children.of(site, declared, "web/site.yaml").site
    assert once is not None
    assert site.children.of(site, declared, "./web/../web/site.yaml").site is once


def test_nested_too_deep(tmp_path: Path) -> None:
    """Ten levels down is the end."""
    child(tmp_path, CHILD % "")
    site = load(tmp_path, PARENT % "")
    assert applied(site, 9)[0] is not None
    broken, (problem,) = applied(site, 10)
    assert broken is None
    expect_text(problem)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../x.yaml", "must be inside its parent's directory"),
        ("a/../../x.yaml", "must be inside its parent's directory"),
        ("/etc/x.yaml", "relative to its parent's directory"),
        ("https://example.org/x.yaml", "must have a digest"),
    ],
)
def test_names_that_lead_out(tmp_path: Path, name: str, words: str) -> None:
    """A child is named by a path below its parent's directory; anything else is refused."""
    text = f"ccm:\n  resources:\n    - apply:\n        - {name}: {{}}\n"
    (problem,) = refused(tmp_path, text)
    assert words in problem.message
    assert problem.where is not None
    assert problem.where[1:] == (4, 11)


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    """A link in the directory to a manifest outside of it is not followed."""
    outside = child(tmp_path, CHILD % "", "elsewhere/x.yaml")
    directory = tmp_path / "site"
    (directory / "web").mkdir(parents=True)
    os.symlink(outside, directory / "web" / "site.yaml")
    site, (problem,) = applied(load(directory, PARENT % ""))
    assert site is None
    expect_text(problem)


def test_names_of_two_manifests(tmp_path: Path) -> None:
    """Two manifests may have the same resource and the same alias, but no alias that is the name
    of another resource."""
    child(tmp_path, CHILD % "")
    text = PARENT % ""
    load(tmp_path, text.replace("- first: {", "- inside: {"))
    load(tmp_path, text.replace("- first: {", "- first: {alias: within, "))
    (problem,) = refused(tmp_path, text.replace("- first: {", "- within: {"))
    expect_text(problem.message)


def test_a_run_without_end(tmp_path: Path) -> None:
    """Manifests that multiply are refused before they fill the memory."""
    for level in range(8):
        child = f"{level + 1}.yaml"
        names = "".join(f"        - {'./' * number}{child}: {{}}\n" for number in range(8))
        write(tmp_path, f"ccm:\n  resources:\n    - apply:\n{names}", f"{level}.yaml")
    write(tmp_path, "ccm: {resources: [{exec: ['true']}]}", "8.yaml")
    with pytest.raises(InputError) as refused:
        load_site(tmp_path / "0.yaml")
    expect_text(refused.value)
