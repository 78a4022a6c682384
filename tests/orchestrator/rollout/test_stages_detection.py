"""A stages file is told from a manifest."""

from pathlib import Path

import pytest

from orchestrator.rollout.stages_detection import is_stages


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("stages:\n  - x\n", True),
        ('# a rollout\n"stages": []\n', True),
        ('{"stages": []}', True),
        ("ccm:\n  resources: []\n", False),
        ("data:\n  stages: 3\nccm:\n  stages: 4\n", False),
        ("data:\n  text: |\n    x\n  stages_of_grief: 5\n", False),
        ("# of spring\n---\n\n  stages:\n    - name: a\n", True),
        ("ccm:\n  stages: []\n", False),
        ("  ccm: {}\n  stages: []\n", False),
    ],
)
def test_it_is_told_from_a_manifest_by_its_key(tmp_path: Path, text: str, meant: bool) -> None:
    """Only at the top, where nothing else can stand."""
    path = tmp_path / "site.yaml"
    path.write_text(text)
    assert is_stages(str(path)) is meant


def test_what_is_not_there_holds_no_stages(tmp_path: Path) -> None:
    """Whoever reads it as a manifest tells so."""
    assert not is_stages(str(tmp_path / "missing.yaml"))
