"""``ccm validate`` of a manifest that others of the project apply, and of the files around it."""

from pathlib import Path

import pytest

from orchestrator.cli import app
from tests.texts import expect_text

CHILD = """
ccm:
  resources:
    - file: [{/etc/x: {content: "{{ Data.port }}", require: ["exec#first"]}}]
"""
PARENT = """
ccm:
  defaults: {file: {owner: root, group: root, mode: "0644"}}
  resources:
    - exec: [{first: {command: "true"}}]
    - apply: [{%s: {data: {port: 80}}}]
"""
LITERAL = "roles/web.yaml"
TEMPLATE = "\"roles/{{ lookup('facts.role') }}.yaml\""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "roles").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "roles/web.yaml").write_text(CHILD)
    (tmp_path / "hosts.yaml").write_text("hosts: {a: {vars: {role: web}}}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", [LITERAL, TEMPLATE])
@pytest.mark.parametrize("words", [[], ["-i", "hosts.yaml"]])
def test_what_the_parent_gives_is_not_missing(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, words: list[str]
) -> None:
    """Defaults, data and earlier resources of the manifest that applies it count."""
    (project / "site.yaml").write_text(PARENT % path)
    assert app.main(["validate", *words, "roles/web.yaml"]) == 0
    told = capsys.readouterr()
    expect_text(told.out)
    assert told.err == ""


@pytest.mark.parametrize("path", [LITERAL, TEMPLATE])
def test_its_own_mistakes_are_mistakes(
    project: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    """What the parent cannot give is refused, and nothing else is."""
    (project / "site.yaml").write_text(PARENT % path)
    (project / "roles/web.yaml").write_text(CHILD.replace("content", "contnt"))
    assert app.main(["validate", "roles/web.yaml"]) == 2
    told = capsys.readouterr().err
    expect_text(told)
    assert "owner" not in told


def test_a_parents_own_mistakes_are_not_the_childs(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broken parent is for ``ccm validate`` of that; its child is judged by itself."""
    (project / "site.yaml").write_text(PARENT.replace("command", "comand") % LITERAL)
    assert app.main(["validate", "roles/web.yaml"]) == 0
    assert app.main(["validate", "site.yaml"]) == 2


@pytest.mark.parametrize("path", [LITERAL, TEMPLATE])
@pytest.mark.parametrize(
    ("below", "told"),
    [
        ("file: [{/etc/y: {contnt: a}}]", "did you mean content?"),
        ("exec: [{y: {command: \"{{ template('y.j2') }}\"}}]", "y.j2:1:"),
        ("apply: [{sub.yaml: {}}]", "sub.yaml applies itself"),
        ("apply: [{gone.yaml: {}}]", "cannot read roles/gone.yaml"),
    ],
)
def test_mistakes_in_what_it_applies_are_mistakes(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, below: str, told: str
) -> None:
    """A parent mends nothing in the manifests below its child, nor in their templates."""
    (project / "site.yaml").write_text(PARENT % path)
    (project / "roles/web.yaml").write_text(CHILD + "    - apply: [{sub.yaml: {}}]\n")
    (project / "roles/sub.yaml").write_text(f"ccm: {{resources: [{{{below}}}]}}")
    (project / "roles/y.j2").write_text("{% if %}")
    assert app.main(["validate", "roles/web.yaml"]) == 2
    assert told in capsys.readouterr().err


def test_manifests_that_apply_one_another_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is a parent of the other, and neither makes the other one right."""
    for one, other in ("ab", "ba"):
        (project / f"{one}.yaml").write_text(
            f"ccm: {{resources: [{{apply: [{{{other}.yaml: {{}}}}]}}]}}"
        )
    for one in "ab":
        assert app.main(["validate", f"{one}.yaml"]) == 2
        expect_text(capsys.readouterr().err)


def test_one_certain_parent_counts_before_those_that_may_be(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where one manifest spells out the path, one whose template fits it claims no error."""
    (project / "site.yaml").write_text(PARENT % LITERAL)
    bare = PARENT.replace('defaults: {file: {owner: root, group: root, mode: "0644"}}', "")
    (project / "other.yaml").write_text(bare % TEMPLATE)
    assert app.main(["validate", "roles/web.yaml"]) == 0


def test_without_a_parent_it_stands_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest that nothing applies is checked as what a push would get."""
    assert app.main(["validate", "roles/web.yaml"]) == 2
    assert "owner" in capsys.readouterr().err


def test_a_file_that_does_not_exist_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelled name is refused beside manifests that apply others."""
    (project / "site.yaml").write_text(PARENT % LITERAL)
    assert app.main(["validate", "stie.yaml"]) == 2
    assert "cannot read stie.yaml" in capsys.readouterr().err


def test_data_that_the_parent_hands_over_is_known(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No warning says that nothing sets what every parent hands over; one says it of a typo."""
    text = "ccm: {resources: [{exec: [{x: {command: 'echo {{ Data.%s }}'}}]}]}"
    (project / "site.yaml").write_text(PARENT % LITERAL)
    for name, warned in (("port", False), ("prot", True)):
        (project / "roles/web.yaml").write_text(text % name)
        assert app.main(["validate", "roles/web.yaml"]) == 0
        assert ("used here, but not defined" in capsys.readouterr().err) is warned


def test_notes_of_every_file_that_validate_reads(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What YAML 1.1 reads otherwise is noted once per place: ccm.yaml, stages and manifests."""
    (project / "ccm.yaml").write_text("rollouts: {night: {until: 22:30}}\n")
    (project / "site.yaml").write_text(
        "data: {country: NO}\nccm: {resources: [{exec: [{x: {command: 'true'}}]}]}\n"
    )
    stage = "{name: %s, hosts: a, manifest: site.yaml, data: {at: on}}"
    (project / "release.yaml").write_text(f"stages:\n- {stage % 'a'}\n- {stage % 'b'}\n")
    assert app.main(["validate", "release.yaml"]) == 0
    told = capsys.readouterr().err
    places = ["ccm.yaml:1:27: 22:30", "release.yaml:2:55: on", "release.yaml:3:55: on"]
    assert all(f"note: {place} is text here" in told for place in places), told
    assert told.count("22:30 is") == told.count("NO is") == 1


def test_a_manifest_with_mistakes_that_applies_itself(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not reported as nested too deeply."""
    (project / "own.yaml").write_text("ccm: {resources: [{apply: [{own.yaml: {foo: 1}}]}]}")
    assert app.main(["validate", "own.yaml"]) == 2
    told = capsys.readouterr().err
    assert "own.yaml applies itself" in told
    assert "nested deeper" not in told
