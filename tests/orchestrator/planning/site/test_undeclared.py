"""Lookups that data files and --hiera read and no manifest declares."""

from pathlib import Path
from typing import Any

import pytest

from remote_runtime.errors import InputError
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
    """A warning names the place and the nearest lookup. Declared lookups, and files that no
    manifest of the run uses, cause none."""
    reads = "a: '{{ Asked.java.stdout }}'\nb: ['{{ Asked.jva.stdout }}']\n"
    (found,) = warnings(tmp_path, role_web=reads, other=reads)
    assert found.startswith(f"{tmp_path}/data/role/web.yaml:2:6: the manifest declares no lookup")
    assert found.endswith("'jva' (did you mean java?)")


def test_external_data_that_reads_what_nobody_declares(tmp_path: Path) -> None:
    """A file of --hiera is for all manifests of the run."""
    over = tmp_path / "over.yaml"
    over.write_text(
        'hierarchy: {order: ["role:{{ Facts.role }}"]}\noverrides:\n  role:web: '
        "{a: '{{ Asked.jva.stdout }}', b: '{{ Asked.java.stdout }}'}"
    )
    made = planner(tmp_path, SITE, hiera=[str(over)])
    (found,) = [str(one) for one in made.data_warnings() if one.kind == "data.ask"]
    assert "over.yaml:3:18: the manifest declares no lookup 'jva'" in found


EVERYWHERE = """\
hierarchy: {order: [default, "role:{{ Facts.role }}"], merge: deep}
data: {a: x, b: x}
ccm:
  ask: {java: {command: x}}
  resources: [{exec: [{'true': {}}]}]
"""
READS = "a: '{{ Asked.jva.stdout }}'\nb: '{{ Asked.java.stdout }}'\n"


def test_data_of_every_host_that_reads_what_nobody_declares(tmp_path: Path) -> None:
    """It refuses the run, as it would refuse each host; a value that another one may replace does
    not."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "default.yaml").write_text(READS)
    over = tmp_path / "over.yaml"
    over.write_text("data: {c: '{{ Asked.jva.stdout }}'}")

    def told(text: str = EVERYWHERE, **options: Any) -> list[str]:
        """The mistakes."""
        try:
            planner(tmp_path, text, data_dir=str(tmp_path / "data"), **options)
        except InputError as error:
            return [str(one) for one in error.problems]
        return []

    (found,) = told()
    assert found.startswith(f"{tmp_path}/data/default.yaml:1:5: the manifest declares no lookup")
    assert found.endswith("'jva' (did you mean java?)")
    _, more = told(hiera=[str(over)])
    assert "over.yaml:1:12: the manifest declares no lookup 'jva'" in more
    assert told(data=["a=1"]) == []
    assert told(EVERYWHERE + 'overrides: {"role:web": {a: 1}}\n') == []
    assert told(EVERYWHERE + "overrides: {other: {a: 1}}\n") == told()
    last = EVERYWHERE.replace(
        '[default, "role:{{ Facts.role }}"]', '["role:{{ Facts.role }}", default]'
    )
    assert told(last) == told()
    assert told(last.replace(", merge: deep", "")) == []


def test_a_child_whose_data_reads_what_it_does_not_declare(tmp_path: Path) -> None:
    """Its own lookups count, not those of its parent; data of its apply replaces the value."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "default.yaml").write_text("b: '{{ Asked.java.stdout }}'\n")
    (tmp_path / "child.yaml").write_text("ccm: {resources: [{exec: [{'true': {}}]}]}\n")
    apply = "[{apply: [{child.yaml: {}}]}]"
    text = EVERYWHERE.replace("[{exec: [{'true': {}}]}]", apply)
    with pytest.raises(InputError, match="declares no lookup 'java'"):
        planner(tmp_path, text, data_dir=str(tmp_path / "data"))
    text = text.replace("child.yaml: {}", "child.yaml: {data: {b: 1}}")
    assert planner(tmp_path, text, data_dir=str(tmp_path / "data"))
