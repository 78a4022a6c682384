"""Look-ups that data files and --hiera read and no manifest declares."""

from pathlib import Path

from tests.orchestrator.planning.planned import planner

SITE = """\
hierarchy: {order: ["role:{{ Facts.role }}"]}
ccm:
  ask: {java: {command: x}}
  resources: [{exec: [{'true': {}}]}]
"""


def warnings(directory: Path, **files: str) -> list[str]:
    """What is told of these data files."""
    (directory / "data" / "role").mkdir(parents=True)
    for name, text in files.items():
        (directory / "data" / f"{name.replace('_', '/')}.yaml").write_text(text)
    made = planner(directory, SITE, data_dir=str(directory / "data"))
    return [str(one) for one in made.data_warnings() if one.kind == "data.ask"]


def test_a_data_file_that_reads_what_nobody_declares(tmp_path: Path) -> None:
    """It is told with its place and the nearest look-up. What a manifest declares is right, and a
    file that no manifest of the run can use is left to those that can."""
    reads = "a: '{{ Asked.java.stdout }}'\nb: ['{{ Asked.jva.stdout }}']\n"
    (found,) = warnings(tmp_path, role_web=reads, other=reads)
    assert found.startswith(f"{tmp_path}/data/role/web.yaml:2:6: the manifest declares no look-up")
    assert found.endswith("'jva' (did you mean java?)")


def test_external_data_that_reads_what_nobody_declares(tmp_path: Path) -> None:
    """A file of --hiera is for all manifests of the run."""
    over = tmp_path / "over.yaml"
    over.write_text("data: {a: '{{ Asked.jva.stdout }}', b: '{{ Asked.java.stdout }}'}")
    made = planner(tmp_path, SITE, hiera=[str(over)])
    (found,) = [str(one) for one in made.data_warnings() if one.kind == "data.ask"]
    assert "over.yaml:1:12: the manifest declares no look-up 'jva'" in found
